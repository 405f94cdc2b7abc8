package storage

import (
	"encoding/binary"
	"math"
)

// offsetEntryLen is the size of an entry of the offset index: relative offset int32, position int32, both big-endian.
const offsetEntryLen = 8

// offsetPosition is one entry: the batch whose last offset is offset begins at pos. batch positions fit 31 bits because a segment does.
type offsetPosition struct {
	offset int64
	pos    int64
}

// offsetIndex maps offsets to positions in the segment file, about one entry for each index.interval.bytes.
type offsetIndex struct {
	entryFile
	base int64
}

func (x *offsetIndex) decode(entry []byte) offsetPosition {
	be := binary.BigEndian
	return offsetPosition{
		offset: x.base + int64(int32(be.Uint32(entry))), //nolint:gosec // int32 on disk
		pos:    int64(int32(be.Uint32(entry[4:]))),      //nolint:gosec // int32 on disk
	}
}

// append adds an entry. Offsets and positions that the format can't express are left out; the index is sparse anyway.
func (x *offsetIndex) append(p offsetPosition) {
	rel := p.offset - x.base
	if rel < 0 || rel > math.MaxInt32 || p.pos < 0 || p.pos > math.MaxInt32 {
		return
	}
	var entry [offsetEntryLen]byte
	binary.BigEndian.PutUint32(entry[:], uint32(rel))
	binary.BigEndian.PutUint32(entry[4:], uint32(p.pos))
	x.add(entry[:])
}

// lookup returns the last entry with an offset <= target. found is false when the search must begin at the segment's start.
func (x *offsetIndex) lookup(target int64) (p offsetPosition, found bool, err error) {
	return x.find(func(p offsetPosition) bool { return p.offset <= target })
}

// lookupPos returns the last entry with a position <= pos.
func (x *offsetIndex) lookupPos(pos int64) (p offsetPosition, found bool, err error) {
	return x.find(func(p offsetPosition) bool { return p.pos <= pos })
}

func (x *offsetIndex) find(ok func(offsetPosition) bool) (p offsetPosition, found bool, err error) {
	r, err := x.reader()
	if err != nil {
		return p, false, err
	}
	defer r.done()
	i, err := r.last(func(entry []byte) bool { return ok(x.decode(entry)) })
	if err != nil || i < 0 {
		return p, false, err
	}
	entry, err := r.entry(i)
	if err != nil {
		return p, false, err
	}
	return x.decode(entry), true, nil
}

// prefix walks over the entries from the first one while they rise in both columns, up to offset limit, and returns the last one and
// their number. Behind what is known to be on disk, a power cut may have left anything.
func (x *offsetIndex) prefix(limit int64) (last offsetPosition, n int, err error) {
	last = offsetPosition{x.base - 1, -1}
	n, err = x.leading(func(entry []byte) bool {
		p := x.decode(entry)
		if p.offset <= last.offset || p.pos <= last.pos || p.offset > limit {
			return false
		}
		last = p
		return true
	})
	return last, n, err
}

// full tells whether the index has reached maxBytes.
func (x *offsetIndex) full(maxBytes int64) bool {
	return int64(x.count()+1)*offsetEntryLen > maxBytes
}
