package kafka

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestReaderNeverReadsBeyondItsBytes(t *testing.T) {
	all := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8}
	for n := range len(all) {
		for name, read := range map[string]func(*reader){
			"int16":         func(r *reader) { r.int16() },
			"int32":         func(r *reader) { r.int32() },
			"string":        func(r *reader) { r.string(false) },
			"compactString": func(r *reader) { r.string(true) },
			"bytes":         func(r *reader) { r.nullableBytes(false) },
			"compactBytes":  func(r *reader) { r.nullableBytes(true) },
			"tags":          func(r *reader) { r.skipTags() },
			"count":         func(r *reader) { r.count(true, 1) },
		} {
			r := reader{b: all[:n:n]}
			for range 4 {
				read(&r)
			}
			if r.bad && (r.b != nil || r.int32() != 0) {
				t.Errorf("%s of %d bytes: a bad reader still reads", name, n)
			}
		}
	}
}

func TestCountIsBoundedByTheBytesLeft(t *testing.T) {
	for _, tc := range []struct {
		name    string
		count   int32
		left    int
		least   int
		compact bool
		want    int
		bad     bool
	}{
		{name: "fits", count: 10, left: 60, least: 6, want: 10},
		{name: "one too many", count: 11, left: 60, least: 6, bad: true},
		{name: "null", count: -1, left: 0, least: 6, want: -1},
		{name: "very negative", count: -1 << 31, left: 0, least: 6, want: -1},
		{name: "a million and one", count: maxElements + 1, left: 8 << 20, least: 1, bad: true},
		{name: "a million", count: maxElements, left: 8 << 20, least: 1, want: maxElements},
		{name: "compact fits", compact: true, count: 10, left: 60, least: 6, want: 10},
		{name: "compact one too many", compact: true, count: 11, left: 60, least: 6, bad: true},
		{name: "compact null", compact: true, count: -1, left: 0, least: 6, want: -1},
	} {
		b := appendCount(nil, int(tc.count), tc.compact)
		r := reader{b: append(b, make([]byte, tc.left)...)}
		got := r.count(tc.compact, tc.least)
		if r.bad != tc.bad || !tc.bad && got != tc.want {
			t.Errorf("%s: count %d, bad %v; want %d, %v", tc.name, got, r.bad, tc.want, tc.bad)
		}
	}
}

func TestUvarintTakesFiveBytesAndThirtyTwoBits(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want uint32
		bad  bool
	}{
		{in: "\x00"},
		{in: "\x7f", want: 127},
		{in: "\x80\x01", want: 128},
		{in: "\xff\xff\xff\xff\x0f", want: 1<<32 - 1},
		{in: "\xff\xff\xff\xff\x1f", bad: true},
		{in: "\x80\x80\x80\x80\x80\x00", bad: true},
		{in: "\x80", bad: true},
		{in: "", bad: true},
	} {
		r := reader{b: []byte(tc.in)}
		if got := r.uvarint(); got != tc.want || r.bad != tc.bad {
			t.Errorf("%x: %d, bad %v; want %d, %v", tc.in, got, r.bad, tc.want, tc.bad)
		}
	}
}

func TestTagsAreCappedBeforeTheyAreRead(t *testing.T) {
	b := appendUvarint(nil, maxTags+1)
	r := reader{b: append(b, make([]byte, 4*maxTags)...)}
	if r.skipTags(); !r.bad {
		t.Error("more than 10,000 tags were taken")
	}
}

func TestSniff(t *testing.T) {
	for in, want := range map[string]string{
		"\x16\x03\x01\x02\x00\x01":       "client hello",
		"\x15\x03\x03\x00\x02\x02\x46":   "alert",
		"GET / HTTP/1.1\r\n":             "HTTP on",
		"PRI * HTTP/2.0\r\n":             "HTTP/2",
		"SSH-2.0-OpenSSH_9":              "SSH",
		"PROXY TCP4 10.0.0.1":            "PROXY",
		"\xff\xff\xff\xff":               "not Kafka's",
		"\x0d\x0a\x0d\x0a\x00\x0d\x0aQU": "PROXY",
	} {
		if got := sniff([]byte(in)); !strings.Contains(got, want) {
			t.Errorf("%q is said to be %q, not %q", in, got, want)
		}
	}
	// What makes the recognition safe: as the size of a frame, each of these is beyond any limit.
	for _, p := range protocols {
		if size := int32(binary.BigEndian.Uint32([]byte(p.prefix + "\x00\x00")[:4])); size >= 0 && size <= int32(DefaultConfig().RequestMaxSize) {
			t.Errorf("%q could be the size of a frame: %d", p.prefix, size)
		}
	}
}

func TestBufferClasses(t *testing.T) {
	var p buffers
	for class := range bufferClasses {
		size := sizeOf(class)
		if classOf(size) != class || classOf(size+1) != class+1 {
			t.Errorf("%d bytes are of class %d, one more of %d", size, classOf(size), classOf(size+1))
		}
	}
	for _, n := range []int{0, 1, 4096, 4608, 4609, 16<<10 + 100, 64 << 10, 1<<20 + 100, 18 << 20, 18<<20 + 1} {
		b := p.get(n)
		if len(b.b) != 0 || cap(b.b) < n || cap(b.b) > max(2*n, smallestBuffer) {
			t.Errorf("get(%d): length %d, capacity %d", n, len(b.b), cap(b.b))
		}
		b.b = append(b.b[:cap(b.b)], 1) // grown to no class's size
		p.put(b)
		if again := p.get(n); cap(again.b) < n {
			t.Errorf("get(%d) after put: capacity %d", n, cap(again.b))
		}
	}
}
