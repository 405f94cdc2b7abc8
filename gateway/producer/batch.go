package producer

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker/record"
)

// batch is records that are sent together: one record batch of the protocol. While it is under way it belongs to its sender.
type batch struct {
	queue   *queue
	entries []entry
	size    int // bytes at most, not compressed

	// What it is sent as.
	id       identity
	sequence int32
	numbered bool  // it has them
	before   int32 // the sequence number that was next when it was sent; another than its own if it kept that
	topicID  [16]byte
	frame    *frame // nil until it is encoded

	answered bool
	verdict  verdict // of the last attempt, once it is answered

	unsure  bool  // an earlier attempt may have been written, under these numbers, which it keeps
	part    bool  // it is a part of a batch of which that holds
	err     error // why the last attempt did not get through
	namings int   // how often the broker named records of it
}

// frame is the memory in which batches are encoded.
type frame struct {
	builder record.Builder
	headers []record.Header
	bytes   []byte
	pool    interface{ Put(any) }
}

// keptFrame is the largest frame that is kept for other batches.
const keptFrame = 4 << 20

// doubtful tells whether its records may be in the log.
func (b *batch) doubtful() bool { return b.unsure || b.part }

func newBatch(q *queue, entries []entry) *batch {
	b := &batch{queue: q, id: noIdentity}
	b.replace(entries)
	return b
}

// release gives the memory of the encoded batch back.
func (b *batch) release() {
	if f := b.frame; f != nil && cap(f.bytes) <= keptFrame {
		clear(f.headers[:cap(f.headers)])
		f.pool.Put(f)
	}
	b.frame = nil
}

// maxRecordOverhead is what a record takes beside its key, value and headers at most: lengths, deltas and counts.
const maxRecordOverhead = 36

// maxHeaderOverhead is what a header takes beside its key and value at most.
const maxHeaderOverhead = 10

// sizeOf returns how long a record may be in a batch.
func sizeOf(r *kgo.Record) int {
	n := maxRecordOverhead + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += maxHeaderOverhead + len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// encode builds the record batch, unless it is there from an earlier attempt.
func (b *batch) encode(p *Producer) error {
	if b.frame != nil {
		return nil
	}
	f := p.frames.Get().(*frame)
	f.pool, b.frame = &p.frames, f
	o := record.NewOptions(p.cfg.Codec)
	if b.id.known() {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence = b.id.id, b.id.epoch, b.sequence
	}
	f.builder.Reset(o)
	for _, e := range b.entries {
		r := e.record()
		f.headers = f.headers[:0]
		for i := range r.Headers {
			f.headers = append(f.headers, record.Header{Key: []byte(r.Headers[i].Key), Value: r.Headers[i].Value})
		}
		f.builder.Append(&record.Record{Timestamp: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value, Headers: f.headers})
	}
	built, err := f.builder.Build(f.bytes[:0], p.compressor)
	if err != nil {
		return fmt.Errorf("build a batch of %d records: %w", len(b.entries), err)
	}
	f.bytes = built
	return nil
}

// due is when the last of its records is due.
func (b *batch) due() time.Time {
	last := b.entries[0].call.due
	for _, e := range b.entries[1:] {
		if e.call.due.After(last) {
			last = e.call.due
		}
	}
	return last
}

// expire takes the records out of a batch that are due. It was not written.
func (b *batch) expire(now time.Time, out []outcome) []outcome {
	left := make([]entry, 0, len(b.entries))
	for _, e := range b.entries {
		if e.call.due.After(now) {
			left = append(left, e)
		} else {
			out = append(out, outcome{entries: []entry{e}, err: notWritten(b.err)})
		}
	}
	if len(left) < len(b.entries) {
		b.replace(left)
	}
	return out
}

// replace gives the batch other records.
func (b *batch) replace(entries []entry) {
	b.release()
	b.entries, b.size = entries, record.HeaderLen
	for _, e := range entries {
		b.size += int(e.size)
	}
}
