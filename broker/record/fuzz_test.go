package record

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alloc is how much memory do asked for. Other goroutines of the test binary are idle.
func alloc(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzValidate feeds raw bytes and, with the checksum made right, what a hostile producer would send. Whatever is accepted must be
// readable, by us and by kmsg, and the two walks over it must agree.
func FuzzValidate(f *testing.F) {
	for _, codec := range allCodecs {
		f.Add(oracle(f, codec, plainHead(), someRecords()[:3]), true)
	}
	f.Add([]byte(raw(None, 1, []byte{12, 0, 0, 0, 1, 1, 0})), true)
	f.Add([]byte(raw(Snappy, 1, xerial(snap([]byte{12, 0, 0, 0, 1, 1, 0})))), true)
	f.Add([]byte{}, false)
	d := NewDecompressor(Limits{MaxBytes: 4 << 20})
	f.Fuzz(func(t *testing.T, in []byte, seal bool) {
		if seal && len(in) >= HeaderLen {
			in = reseal(bytes.Clone(in))
		}
		if n, _, err := Peek(in); err == nil && n > len(in) {
			t.Fatalf("Peek promises %d of %d bytes", n, len(in))
		}
		b, _, err := Next(in)
		if err != nil {
			b = Batch(in)
		}
		var sum Summary
		grown := alloc(func() { sum, err = b.Validate(openCheck(), d) })
		if compressed := len(b) > HeaderLen && b.Codec() != None; !compressed && grown > uint64(16*len(in)+1<<20) {
			t.Fatalf("%d bytes of input cost %d of memory", len(in), grown)
		}
		sameAdmission(t, b, sum, err, openCheck(), d)
		if err != nil {
			if errors.Is(err, ErrShort) {
				t.Fatalf("validation answers %v", err)
			}
			return
		}
		agree(t, b, sum, d)
	})
}

// agree reads an accepted batch in every other way.
func agree(t *testing.T, b Batch, sum Summary, d *Decompressor) {
	records := readAll(t, b, d)
	if len(records) != int(b.Count()) {
		t.Fatalf("%d records, the header says %d", len(records), b.Count())
	}
	payload, err := d.Decompress(nil, b.Payload(), b.Codec())
	if err != nil {
		t.Fatal(err)
	}
	most := NoTimestamp
	for i, r := range records {
		length, n := uvarint(payload, maxVarintLen)
		size := n + int(unzigzag32(uint32(length)))
		var want kmsg.Record
		if err := want.ReadFrom(payload[:size]); err != nil {
			t.Fatalf("kmsg refuses record %d: %v", i, err)
		}
		payload = payload[size:]
		if r.Offset != int64(i) || want.OffsetDelta != int32(i) || r.Timestamp != b.BaseTimestamp()+want.TimestampDelta64 ||
			!bytes.Equal(r.Key, want.Key) || !bytes.Equal(r.Value, want.Value) || len(r.Headers) != len(want.Headers) {
			t.Fatalf("record %d is %v, kmsg reads %v", i, r, want)
		}
		most = max(most, r.Timestamp)
	}
	if most != sum.MaxTimestamp {
		t.Fatalf("maximum timestamp %d, validation says %d", most, sum.MaxTimestamp)
	}
	if most > NoTimestamp && records[sum.MaxTimestampDelta].Timestamp != most {
		t.Fatalf("record %d does not have the maximum timestamp", sum.MaxTimestampDelta)
	}
}

// FuzzRecords walks records that nobody validated.
func FuzzRecords(f *testing.F) {
	for _, codec := range allCodecs {
		b := build(f, NewOptions(codec), someRecords()[:3])
		f.Add(b.Payload(), byte(codec), int32(3))
	}
	d := NewDecompressor(Limits{MaxBytes: 4 << 20})
	f.Fuzz(func(t *testing.T, payload []byte, codec byte, count int32) {
		b := raw(Codec(codec&attrCodec), count, payload)
		n := 0
		grown := alloc(func() {
			r := b.Records(d)
			defer r.Close()
			for r.Next() {
				n++
				if o := r.Record().Offset; o < 0 || o > b.LastOffset() {
					t.Fatalf("offset %d", o)
				}
			}
			if r.Err() == nil && n != max(int(count), 0) {
				t.Fatalf("%d records of %d without an error", n, count)
			}
		})
		if b.Codec() == None && grown > uint64(16*len(payload)+1<<20) {
			t.Fatalf("%d bytes of input cost %d of memory", len(payload), grown)
		}
		if _, _, _, err := b.OffsetForTimestamp(math.MinInt64, 0, d); err == nil && n == 0 && count > 0 {
			t.Fatal("the search finds a record where the reader finds none")
		}
	})
}

// FuzzDecompress expands garbage: within the limit, and the same however it is read.
func FuzzDecompress(f *testing.F) {
	c := NewCompressor()
	for _, codec := range allCodecs {
		packed, err := c.Compress(nil, bytes.Repeat([]byte("river "), 1000), codec, DefaultLevel)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed, byte(codec))
	}
	f.Add(xerial(snap([]byte("abc")), snap([]byte("def"))), byte(Snappy))
	limits := Limits{MaxBytes: 2 << 20}
	d := NewDecompressor(limits)
	f.Fuzz(func(t *testing.T, in []byte, codec byte) {
		out, err := d.Decompress(nil, in, Codec(codec%5))
		if err != nil {
			return
		}
		if int64(len(out)) > 2<<20 && Codec(codec%5) != None {
			t.Fatalf("%d bytes", len(out))
		}
		again, err := d.Decompress(nil, in, Codec(codec%5))
		if err != nil || !bytes.Equal(out, again) {
			t.Fatalf("the second time: %v", err)
		}
	})
}

// FuzzVarint holds the integer coding against itself.
func FuzzVarint(f *testing.F) {
	for _, x := range []int64{0, -1, 1, 63, 64, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		f.Add(x, []byte{0x80, 0x80, 0x01})
	}
	f.Fuzz(func(t *testing.T, x int64, in []byte) {
		enc := appendVarlong(nil, x)
		v, n := uvarint(append(enc, 0xff), maxVarlongLen)
		if unzigzag64(v) != x || n != len(enc) || n != varlongLen(x) {
			t.Fatalf("%d comes back as %d in %d bytes", x, unzigzag64(v), n)
		}
		small := int32(x)
		enc = appendVarint(nil, small)
		if v, n := uvarint(enc, maxVarintLen); unzigzag32(uint32(v)) != small || n != len(enc) {
			t.Fatalf("%d comes back as %d in %d bytes", small, unzigzag32(uint32(v)), n)
		}
		for _, limit := range []int{maxVarintLen, maxVarlongLen} {
			if _, n := uvarint(in, limit); n > len(in) || n > limit {
				t.Fatalf("read %d of %d bytes", n, len(in))
			}
		}
	})
}

// FuzzBuild builds what the bytes spell and reads it back under every codec.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("key"), []byte("value"), []byte("header"), int64(testNow), int64(-5), true)
	f.Add([]byte{}, []byte{}, []byte{}, int64(-1), int64(math.MaxInt64), false)
	d, c := NewDecompressor(Limits{}), NewCompressor()
	f.Fuzz(func(t *testing.T, key, value, header []byte, ts, step int64, null bool) {
		records := []Record{
			{Offset: 0, Timestamp: ts, Key: key, Value: value},
			{Offset: 1, Timestamp: ts + step, Key: value, Value: key, Headers: []Header{{Key: header, Value: value}, {Key: header}}},
		}
		if null {
			records[0].Key, records[1].Value = nil, nil
		}
		for i := range records {
			for j := range records[i].Headers {
				if h := &records[i].Headers[j]; h.Key == nil {
					h.Key = []byte{}
				}
			}
		}
		plain := build(t, NewOptions(None), records)
		for _, codec := range allCodecs {
			b, err := plain.Recompress(nil, codec, DefaultLevel, d, c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Validate(openCheck(), d); err != nil {
				t.Fatalf("%v: %v", codec, err)
			}
			got := readAll(t, b, d)
			for i := range records {
				if !equalRecords(&got[i], &records[i]) {
					t.Fatalf("%v: record %d is %v, want %v", codec, i, got[i], records[i])
				}
			}
		}
	})
}

func equalRecords(a, b *Record) bool {
	same := func(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) }
	if a.Offset != b.Offset || a.Timestamp != b.Timestamp || !same(a.Key, b.Key) || !same(a.Value, b.Value) || len(a.Headers) != len(b.Headers) {
		return false
	}
	for i := range a.Headers {
		if !same(a.Headers[i].Key, b.Headers[i].Key) || !same(a.Headers[i].Value, b.Headers[i].Value) {
			return false
		}
	}
	return true
}
