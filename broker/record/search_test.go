package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

func TestOffsetForTimestamp(t *testing.T) {
	d := NewDecompressor(Limits{})
	// Timestamps at offsets 100 to 104: now, +500, -1000, +500, +20.
	tests := []struct {
		name     string
		ts, from int64
		offset   int64
		stamp    int64
		ok       bool
	}{
		{"before all", 0, 0, 100, testNow, true},
		{"exactly the first", testNow, 100, 100, testNow, true},
		{"just after the first", testNow + 1, 100, 101, testNow + 500, true},
		{"the greatest", testNow + 500, 100, 101, testNow + 500, true},
		{"after all", testNow + 501, 100, 0, 0, false},
		{"past the first match", testNow + 1, 102, 103, testNow + 500, true},
		{"only the last is left", testNow + 1, 104, 104, testNow + 20, true},
		{"nothing is left", testNow + 100, 104, 0, 0, false},
		{"starts after the batch", 0, 105, 0, 0, false},
	}
	for _, codec := range allCodecs {
		o := NewOptions(codec)
		o.BaseOffset = 100
		b := build(t, o, someRecords())
		for _, tt := range tests {
			offset, stamp, ok, err := b.OffsetForTimestamp(tt.ts, tt.from, d)
			if offset != tt.offset || stamp != tt.stamp || ok != tt.ok || err != nil {
				t.Errorf("%v, %s: %d, %d, %v, %v", codec, tt.name, offset, stamp, ok, err)
			}
		}
		offset, stamp, err := b.OffsetOfMaxTimestamp(d)
		if offset != 101 || stamp != testNow+500 || err != nil {
			t.Errorf("%v, maximum: %d, %d, %v", codec, offset, stamp, err)
		}
	}
}

func TestSearchWithLogAppendTime(t *testing.T) {
	d := NewDecompressor(Limits{})
	b := build(t, NewOptions(Zstd), someRecords())
	b.SetBaseOffset(10)
	b.SetMaxTimestampAppend(testNow + 9000)
	if offset, stamp, ok, err := b.OffsetForTimestamp(testNow+600, 12, d); offset != 12 || stamp != testNow+9000 || !ok || err != nil {
		t.Errorf("%d, %d, %v, %v", offset, stamp, ok, err)
	}
	if offset, stamp, err := b.OffsetOfMaxTimestamp(d); offset != 10 || stamp != testNow+9000 || err != nil {
		t.Errorf("%d, %d, %v", offset, stamp, err)
	}
}

// The header may lie: a follower or a recovery has not validated it.
func TestMaximumComesFromTheRecords(t *testing.T) {
	b := build(t, NewOptions(None), someRecords())
	b.SetMaxTimestamp(CreateTime, testNow+501)
	if offset, stamp, err := b.OffsetOfMaxTimestamp(NewDecompressor(Limits{})); offset != 1 || stamp != testNow+500 || err != nil {
		t.Errorf("%d, %d, %v", offset, stamp, err)
	}
	empty := raw(None, 0, nil)
	if offset, stamp, err := empty.OffsetOfMaxTimestamp(NewDecompressor(Limits{})); offset != -1 || stamp != NoTimestamp || err != nil {
		t.Errorf("empty: %d, %d, %v", offset, stamp, err)
	}
}

func TestSearchInDamagedBatch(t *testing.T) {
	for _, codec := range allCodecs {
		b := build(t, NewOptions(codec), someRecords())
		damaged := Batch(bytes.Clone(b[:len(b)-100]))
		binary.BigEndian.PutUint32(damaged[offLength:], uint32(len(damaged)-PrefixLen))
		d := NewDecompressor(Limits{})
		if _, _, err := damaged.OffsetOfMaxTimestamp(d); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v: %v", codec, err)
		}
	}
}

// A reader may be closed early and used by the pool for another batch.
func TestReaderClosedEarly(t *testing.T) {
	d := NewDecompressor(Limits{})
	for _, codec := range allCodecs {
		b := build(t, NewOptions(codec), someRecords())
		for range 3 {
			r := b.Records(d)
			if !r.Next() || string(r.Record().Key) != "k" {
				t.Errorf("%v: first record %v, %v", codec, r.Record(), r.Err())
			}
			r.Close()
		}
		if got := readAll(t, b, d); len(got) != 5 {
			t.Errorf("%v: %d records", codec, len(got))
		}
	}
}

func TestReaderRefusesOffsetsOutsideTheBatch(t *testing.T) {
	d := NewDecompressor(Limits{})
	for _, delta := range []byte{1, 4} { // -1 and 2 as zigzag
		b := raw(None, 2, append([]byte{12, 0, 0, 0, 1, 1, 0}, 12, 0, 0, delta, 1, 1, 0))
		r := b.Records(d)
		for r.Next() {
		}
		if !errors.Is(r.Err(), ErrCorrupt) {
			t.Errorf("delta %d: %v", delta, r.Err())
		}
		if _, _, err := b.OffsetOfMaxTimestamp(d); !errors.Is(err, ErrCorrupt) {
			t.Errorf("delta %d: the search says %v", delta, err)
		}
		r.Close()
	}
}
