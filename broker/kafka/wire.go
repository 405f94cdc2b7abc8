package kafka

import (
	"encoding/binary"
	"unsafe"
)

// reader reads Kafka's primitive types from bytes that it never changes nor copies. After the first thing that doesn't
// fit it is bad, and everything it returns is zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

// span takes the next n bytes.
func (r *reader) span(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail()
		return nil
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) int16() int16 {
	if s := r.span(2); s != nil {
		return int16(binary.BigEndian.Uint16(s))
	}
	return 0
}

func (r *reader) int32() int32 {
	if s := r.span(4); s != nil {
		return int32(binary.BigEndian.Uint32(s))
	}
	return 0
}

// uvarint reads an unsigned varint of at most 32 bits.
func (r *reader) uvarint() uint32 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint32(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 5 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}

// compactLen reads a compact length; -1 is null.
func (r *reader) compactLen() int { return int(r.uvarint()) - 1 }

// nullableString reads a string with a 16-bit length. Null reads as the empty string. It aliases the bytes.
func (r *reader) nullableString() string {
	n := int(r.int16())
	if n < 0 {
		return ""
	}
	return alias(r.span(n))
}

// string reads a string that may not be null, compact or not.
func (r *reader) string(compact bool) string {
	if compact {
		return alias(r.span(r.compactLen()))
	}
	return alias(r.span(int(r.int16())))
}

// nullableBytes reads bytes that may be null, compact or not.
func (r *reader) nullableBytes(compact bool) []byte {
	n := 0
	if compact {
		n = r.compactLen()
	} else {
		n = int(r.int32())
	}
	if n < 0 {
		return nil
	}
	return r.span(n)
}

// count reads the length of an array, compact or not, whose elements take at least least bytes each. Null reads as -1.
func (r *reader) count(compact bool, least int) int {
	n := 0
	if compact {
		n = r.compactLen()
	} else {
		n = int(r.int32())
	}
	if n > maxElements || n > len(r.b)/least {
		r.fail()
		return 0
	}
	return max(n, -1)
}

// maxElements is how many elements one array may have, maxTags how many tagged fields a struct; the same as Kafka's.
const (
	maxElements = 1_000_000
	maxTags     = 10_000
)

// skipTags passes over tagged fields (KIP-482), none of which we know.
func (r *reader) skipTags() {
	n := r.uvarint()
	if n > maxTags {
		r.fail()
	}
	for ; n > 0 && !r.bad; n-- {
		r.uvarint()
		r.span(int(r.uvarint()))
	}
}

// alias is b as a string, without a copy: it is only good as long as b is.
func alias(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // audited: a request's bytes are not written to, and outlive its strings
}

// appendUvarint appends an unsigned varint.
func appendUvarint(dst []byte, v uint32) []byte { return binary.AppendUvarint(dst, uint64(v)) }

// appendString appends a string that is not null, compact or not.
func appendString(dst []byte, s string, compact bool) []byte {
	if compact {
		dst = appendUvarint(dst, uint32(len(s))+1)
	} else {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	}
	return append(dst, s...)
}

// appendNullableString appends a string, or null for nil.
func appendNullableString(dst []byte, s *string, compact bool) []byte {
	switch {
	case s != nil:
		return appendString(dst, *s, compact)
	case compact:
		return append(dst, 0)
	default:
		return append(dst, 0xff, 0xff)
	}
}

// appendCount appends the length of an array or of bytes, compact or not; -1 is null.
func appendCount(dst []byte, n int, compact bool) []byte {
	if compact {
		return appendUvarint(dst, uint32(n+1))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

func appendInt16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }

func appendInt32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

func appendInt64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }
