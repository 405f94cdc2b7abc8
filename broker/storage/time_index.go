package storage

import (
	"encoding/binary"
	"math"
)

// timeEntryLen is the size of an entry of the time index: timestamp int64, relative offset int32, both big-endian.
const timeEntryLen = 12

// timestampOffset is one entry: the largest timestamp so far in the segment, and the last offset of the batch that has it.
type timestampOffset struct {
	timestamp int64
	offset    int64
}

// timeIndex maps timestamps to offsets. Timestamps and offsets rise strictly.
type timeIndex struct {
	entryFile
	base int64
}

func (x *timeIndex) decode(entry []byte) timestampOffset {
	be := binary.BigEndian
	return timestampOffset{
		timestamp: int64(be.Uint64(entry)),                     //nolint:gosec // int64 on disk
		offset:    x.base + int64(int32(be.Uint32(entry[8:]))), //nolint:gosec // int32 on disk
	}
}

// append adds an entry if its timestamp is larger than the last one's; last is that entry.
func (x *timeIndex) append(t, last timestampOffset) bool {
	rel := t.offset - x.base
	if t.timestamp <= last.timestamp || rel < 0 || rel > math.MaxInt32 {
		return false
	}
	var entry [timeEntryLen]byte
	binary.BigEndian.PutUint64(entry[:], uint64(t.timestamp)) //nolint:gosec // two's complement on disk
	binary.BigEndian.PutUint32(entry[8:], uint32(rel))
	x.add(entry[:])
	return true
}

// lookup returns the last entry with a timestamp <= target.
func (x *timeIndex) lookup(target int64) (t timestampOffset, found bool, err error) {
	r, err := x.reader()
	if err != nil {
		return t, false, err
	}
	defer r.done()
	i, err := r.last(func(entry []byte) bool { return x.decode(entry).timestamp <= target })
	if err != nil || i < 0 {
		return t, false, err
	}
	entry, err := r.entry(i)
	if err != nil {
		return t, false, err
	}
	return x.decode(entry), true, nil
}

// newest returns the last entry.
func (x *timeIndex) newest() (t timestampOffset, found bool, err error) {
	r, err := x.reader()
	if err != nil {
		return t, false, err
	}
	defer r.done()
	if r.count() == 0 {
		return t, false, nil
	}
	entry, err := r.entry(r.count() - 1)
	if err != nil {
		return t, false, err
	}
	return x.decode(entry), true, nil
}

// prefix walks over the entries from the first one while they rise in both columns, up to offset limit, and returns their number.
func (x *timeIndex) prefix(limit int64) (n int, err error) {
	last := timestampOffset{-1, x.base - 1}
	return x.leading(func(entry []byte) bool {
		t := x.decode(entry)
		if t.timestamp <= last.timestamp || t.offset <= last.offset || t.offset > limit {
			return false
		}
		last = t
		return true
	})
}

// full tells whether the index has reached maxBytes. One entry stays free for the one that is added when the segment is closed.
func (x *timeIndex) full(maxBytes int64) bool {
	return int64(x.count()+2)*timeEntryLen > maxBytes
}
