package kafka

import (
	"encoding/binary"

	"moldau/internal/vfs"
)

// records are record batches that lie in a log segment. *storage.Slice is the one that matters.
type records interface {
	// Len is the number of bytes.
	Len() int
	// ReadAt reads bytes from an offset within the records.
	ReadAt(p []byte, off int64) (int, error)
	// File tells where the bytes lie.
	File() (f vfs.File, off int64, n int)
}

// response gathers answers on their way out: bytes, and records that go in between without being copied. Several answers
// may be gathered before they are sent together.
type response struct {
	bytes    []byte
	segments []segment
	recorded int // bytes of all segments
	start    int // where the answer under way begins in bytes
	before   int // recorded when it began
	mute     bool
}

// segment is records that belong between bytes[:at] and bytes[at:].
type segment struct {
	at      int
	records records
}

// begin starts an answer: its size (filled in by end), the correlation id and, in flexible versions, no tags.
func (o *response) begin(correlation int32, flexible bool) {
	o.start, o.before, o.mute = len(o.bytes), o.recorded, false
	o.bytes = append(o.bytes, 0, 0, 0, 0)
	o.bytes = binary.BigEndian.AppendUint32(o.bytes, uint32(correlation))
	if flexible {
		o.bytes = append(o.bytes, 0)
	}
}

// end completes the answer. A mute one leaves no trace.
func (o *response) end() (size int) {
	if o.mute {
		o.drop()
		return 0
	}
	size = len(o.bytes) - o.start - 4 + o.recorded - o.before
	binary.BigEndian.PutUint32(o.bytes[o.start:], uint32(size))
	return size + 4
}

// drop takes back the answer under way.
func (o *response) drop() {
	o.bytes = o.bytes[:o.start]
	o.recorded = o.before
	for n := len(o.segments); n > 0 && o.segments[n-1].at > o.start; n-- {
		o.segments = o.segments[:n-1]
	}
}

// addRecords puts records after what is there.
func (o *response) addRecords(r records) {
	if r.Len() == 0 {
		return
	}
	o.segments = append(o.segments, segment{at: len(o.bytes), records: r})
	o.recorded += r.Len()
}

// size is the number of bytes gathered.
func (o *response) size() int { return len(o.bytes) + o.recorded }

// reset forgets everything and keeps the memory.
func (o *response) reset() {
	clear(o.segments)
	*o = response{bytes: o.bytes[:0], segments: o.segments[:0]}
}
