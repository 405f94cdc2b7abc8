package txn

import (
	"encoding/binary"
	"slices"
)

// reader reads the fields of a record. After the first thing that does not fit it is bad, and everything it returns is
// zero.
type reader struct {
	b   []byte
	bad bool
}

// span takes the next n bytes.
func (r *reader) span(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) int8() int8 {
	if s := r.span(1); s != nil {
		return int8(s[0]) //nolint:gosec // two's complement on disk
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if s := r.span(2); s != nil {
		return binary.BigEndian.Uint16(s)
	}
	return 0
}

func (r *reader) int16() int16 { return int16(r.uint16()) } //nolint:gosec // two's complement on disk

func (r *reader) int32() int32 {
	if s := r.span(4); s != nil {
		return int32(binary.BigEndian.Uint32(s)) //nolint:gosec // two's complement on disk
	}
	return 0
}

func (r *reader) int64() int64 {
	if s := r.span(8); s != nil {
		return int64(binary.BigEndian.Uint64(s)) //nolint:gosec // two's complement on disk
	}
	return 0
}

// uvarint reads an unsigned varint of at most 32 bits.
func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<32-1 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// length reads the length of a string.
func (r *reader) length(compact bool) int {
	if compact {
		return int(r.uvarint()) - 1 //nolint:gosec // 32 bits
	}
	return int(r.int16())
}

// count reads the length of an array, 0 for null. More elements than there are bytes left are none.
func (r *reader) count(compact bool) int {
	n := 0
	if compact {
		n = int(r.uvarint()) - 1 //nolint:gosec // 32 bits
	} else {
		n = int(r.int32())
	}
	if n > len(r.b) {
		r.b, r.bad = nil, true
		return 0
	}
	return max(n, 0)
}

// skipTags passes over tagged fields.
func (r *reader) skipTags() {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		r.uvarint()
		r.span(int(r.uvarint())) //nolint:gosec // span refuses what does not fit
	}
}

// normalize puts partitions in order, each once.
func normalize(ps []TopicPartition) []TopicPartition {
	slices.SortFunc(ps, comparePartitions)
	return slices.Compact(ps)
}
