package storage

import (
	"errors"
	"strings"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// TestReadBounds: what Read returns at every border.
func TestReadBounds(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	defer closeEngine(t, e)
	l := createLog(t, e, DefaultConfig())
	var sizes []int
	for i := range 5 { // 0-1, 2-3, ... 8-9
		b := batchSpec{n: 2, ts: int64(i), value: strings.Repeat("x", 10*i)}
		sizes = append(sizes, len(b.build(t)))
		appendOne(t, l, b)
	}
	sum := func(s []int) (n int) {
		for _, v := range s {
			n += v
		}
		return n
	}
	for _, c := range []struct {
		name       string
		from, upTo int64
		max        int
		minOne     bool
		want       int
	}{
		{"all", 0, 10, 1 << 20, false, sum(sizes)},
		{"more than there is", 0, 99, 1 << 20, false, sum(sizes)},
		{"at the end", 10, 10, 1 << 20, true, 0},
		{"from the middle of a batch", 3, 10, 1 << 20, false, sum(sizes[1:])},
		{"up to a border", 0, 4, 1 << 20, false, sum(sizes[:2])},
		{"up to the middle of a batch", 0, 5, 1 << 20, false, sum(sizes[:2])},
		{"nothing below the bound", 4, 4, 1 << 20, true, 0},
		{"bound below the start", 4, 2, 1 << 20, true, 0},
		{"exactly three", 0, 10, sum(sizes[:3]), false, sum(sizes[:3])},
		{"a byte less", 0, 10, sum(sizes[:3]) - 1, false, sum(sizes[:2])},
		{"too small", 0, 10, sizes[0] - 1, false, 0},
		{"too small, but one at least", 0, 10, 1, true, sizes[0]},
		{"no bytes at all", 2, 10, 0, true, sizes[1]},
		{"negative", 2, 10, -5, false, 0},
		{"one at least, but not above the bound", 2, 3, 1, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := l.Read(c.from, c.upTo, c.max, c.minOne)
			if err != nil || s.Len() != c.want {
				t.Fatalf("%d bytes, want %d: %v", s.Len(), c.want, err)
			}
			data, err := s.Bytes()
			if err != nil || len(data) != c.want {
				t.Fatal(len(data), err)
			}
			for len(data) > 0 {
				b, rest, err := record.Next(data)
				if err != nil || b.Verify() != nil {
					t.Fatal(err)
				}
				data = rest
			}
			s.Release()
			s.Release()
			if s.Len() != 0 {
				t.Error("released, and not empty")
			}
		})
	}
	for _, from := range []int64{-1, 11} {
		if _, err := l.Read(from, 10, 100, true); !errors.Is(err, ErrOffsetOutOfRange) {
			t.Errorf("read at %d: %v", from, err)
		}
	}
	if _, err := l.Append(nil, 0, OriginClient); err == nil {
		t.Error("appended nothing")
	}
	if _, err := l.Append([]byte("no batch at all, but long enough for a header to be looked for"), 0, OriginClient); err == nil {
		t.Error("appended text")
	}
	if _, err := l.Append(batchSpec{value: string(make([]byte, 5000))}.build(t), 0, OriginClient); err != nil {
		t.Error(err)
	}
	l.SetConfig(smallConfig())
	if _, err := l.Append(batchSpec{value: string(make([]byte, 5000))}.build(t), 0, OriginClient); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// TestSlicesOutliveDeletion: bytes can be sent after segment, topic and engine are gone.
func TestSlicesOutliveDeletion(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	fill(t, l, 50)
	s, err := l.Read(0, l.End(), 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	last, err := l.Read(l.End()-1, l.End(), 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	flush(t, l)
	l.SetHighWatermark(l.End())
	if err := l.SetStart(l.End()); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Retain(time.Now()); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if err := e.Delete(l); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Slice{s, last} {
		data, err := s.AppendTo([]byte("head"))
		if b, _, nerr := record.Next(data[4:]); err != nil || nerr != nil || b.Verify() != nil || string(data[:4]) != "head" {
			t.Error(err, nerr)
		}
		if f, _, n := s.File(); f == nil || n != s.Len() {
			t.Error(f, n)
		}
	}
	if _, err := l.Append(batchSpec{}.build(t), 0, OriginClient); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := l.Read(0, 1, 1, true); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := e.Delete(l); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	closeEngine(t, e)
	s.Release()
	last.Release()
	if n := e.Stats().OpenFiles; n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestTimestampsInCompressedBatches searches inside batches of every codec.
func TestTimestampsInCompressedBatches(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	defer closeEngine(t, e)
	l := createLog(t, e, smallConfig())
	for i := range 50 {
		appendOne(t, l, batchSpec{n: 10, ts: int64(100 * i), codec: record.Codec(i % 5)})
	}
	for i := range int64(50) {
		for j := range int64(10) {
			if f, ok, err := l.OffsetForTimestamp(100*i + j); err != nil || !ok || f.Offset != 10*i+j || f.Timestamp != 100*i+j {
				t.Fatalf("%d: %v %v %v", 100*i+j, f, ok, err)
			}
		}
		if f, ok, err := l.OffsetForTimestamp(100*i + 10); err != nil || ok != (i < 49) || ok && f.Offset != 10*i+10 {
			t.Fatalf("between batches, %d: %v %v %v", 100*i+10, f, ok, err)
		}
	}
	appendOne(t, l, batchSpec{n: 3, ts: 7, append: 99_999})
	if f, ok, err := l.MaxTimestamp(); err != nil || !ok || f.Offset != 500 || f.Timestamp != 99_999 {
		t.Error(f, ok, err)
	}
}
