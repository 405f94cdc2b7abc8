package group

import (
	"encoding/binary"
	"errors"
)

// errFormat says that a record of the consumer protocol is cut short, or says more than it can hold.
var errFormat = errors.New("the record is malformed")

// flexWriter writes values in Kafka's flexible form (KIP-482), after their version.
type flexWriter struct{ b []byte }

func newFlexWriter() *flexWriter { return &flexWriter{b: []byte{0, 0}} } // version 0

func (w *flexWriter) uvarint(n int)       { w.b = binary.AppendUvarint(w.b, uint64(n)) }
func (w *flexWriter) int8(v int8)         { w.b = append(w.b, byte(v)) }
func (w *flexWriter) int32(v int32)       { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }
func (w *flexWriter) int64(v int64)       { w.b = binary.BigEndian.AppendUint64(w.b, uint64(v)) }
func (w *flexWriter) topicID(v TopicID)   { w.b = append(w.b, v[:]...) }
func (w *flexWriter) array(n int)         { w.uvarint(n + 1) }
func (w *flexWriter) noTags()             { w.uvarint(0) }
func (w *flexWriter) string(s string)     { w.uvarint(len(s) + 1); w.b = append(w.b, s...) }
func (w *flexWriter) bytes(v []byte)      { w.uvarint(len(v) + 1); w.b = append(w.b, v...) }
func (w *flexWriter) tag(n int, v []byte) { w.uvarint(n); w.uvarint(len(v)); w.b = append(w.b, v...) }

func (w *flexWriter) strings(list []string) {
	w.array(len(list))
	for _, s := range list {
		w.string(s)
	}
}

func (w *flexWriter) int32s(list []int32) {
	w.array(len(list))
	for _, v := range list {
		w.int32(v)
	}
}

// optional writes null for the empty string.
func (w *flexWriter) optional(s string) {
	if s == "" {
		w.uvarint(0)
		return
	}
	w.string(s)
}

// flexReader reads what flexWriter writes. After the first thing that does not fit it is bad, and everything it returns is zero.
type flexReader struct {
	b   []byte
	bad bool
}

func (r *flexReader) span(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *flexReader) uvarint() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<31-1 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *flexReader) int8() int8 {
	if v := r.span(1); v != nil {
		return int8(v[0])
	}
	return 0
}

func (r *flexReader) int16() int16 {
	if v := r.span(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *flexReader) int32() int32 {
	if v := r.span(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *flexReader) int64() int64 {
	if v := r.span(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (r *flexReader) topicID() (id TopicID) {
	copy(id[:], r.span(len(id)))
	return id
}

// string reads a string; null reads as the empty one.
func (r *flexReader) string() string {
	if n := r.uvarint(); n > 0 {
		return string(r.span(n - 1))
	}
	return ""
}

func (r *flexReader) bytes() []byte {
	if n := r.uvarint(); n > 0 {
		return append([]byte{}, r.span(n-1)...)
	}
	return nil
}

// array reads the length of an array whose elements take least bytes at least; null reads as 0.
func (r *flexReader) array(least int) int {
	n := r.uvarint() - 1
	if n > len(r.b)/least {
		r.b, r.bad = nil, true
	}
	return max(0, n)
}

func (r *flexReader) strings() []string {
	var out []string
	for n := r.array(1); n > 0 && !r.bad; n-- {
		out = append(out, r.string())
	}
	return out
}

func (r *flexReader) int32s() []int32 {
	var out []int32
	for n := r.array(4); n > 0 && !r.bad; n-- {
		out = append(out, r.int32())
	}
	return out
}

// tags reads tagged fields and has f read those it knows. f is given the bytes of one field.
func (r *flexReader) tags(f func(tag int, field *flexReader)) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		field := &flexReader{b: r.span(r.uvarint())}
		if f != nil {
			f(tag, field)
		}
		r.bad = r.bad || field.bad
	}
}

// begin reads the version of a value, of which only 0 is known.
func (r *flexReader) begin() error {
	if r.int16() != 0 || r.bad {
		return errFormat
	}
	return nil
}

// end says whether everything could be read.
func (r *flexReader) end() error {
	if r.bad {
		return errFormat
	}
	return nil
}

// plainString reads a string in the form that keys have.
func (r *flexReader) plainString() string { return string(r.span(int(r.int16()))) }
