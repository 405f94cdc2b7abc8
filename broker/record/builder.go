package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrUnbuildable says that records cannot be put into one batch: none were given, offsets do not rise, or the batch outgrows its fields.
var ErrUnbuildable = errors.New("records cannot form a batch")

// Options are the header fields of a batch to build. Begin with NewOptions: the zero value names producer id 0.
type Options struct {
	BaseOffset           int64
	PartitionLeaderEpoch int32
	Codec                Codec
	Level                int // as for Compressor.Compress
	ProducerID           int64
	ProducerEpoch        int16
	BaseSequence         int32
	Transactional        bool
	Control              bool
	// TimestampType LogAppendTime gives all records the timestamp AppendTime.
	TimestampType TimestampType
	AppendTime    int64
	// DeleteHorizon, if not 0, becomes the batch's base timestamp and marks it so: compaction drops its tombstones then (KIP-534).
	DeleteHorizon int64
}

// NewOptions are those of a batch that no idempotent producer wrote and no leader appended yet, with base offset 0.
func NewOptions(codec Codec) Options {
	return Options{
		PartitionLeaderEpoch: NoLeaderEpoch,
		Codec:                codec,
		Level:                DefaultLevel,
		ProducerID:           NoProducerID,
		ProducerEpoch:        NoProducerEpoch,
		BaseSequence:         NoSequence,
	}
}

// Builder builds one batch after another. It copies what it is given. Not for concurrent use.
type Builder struct {
	options       Options
	records       []byte // encoded, not compressed
	count         int32
	lastDelta     int64
	baseTimestamp int64
	maxTimestamp  int64
	err           error
}

// NewBuilder begins a batch.
func NewBuilder(o Options) *Builder {
	b := new(Builder)
	b.Reset(o)
	return b
}

// Reset begins another batch and keeps the memory.
func (b *Builder) Reset(o Options) {
	*b = Builder{options: o, records: b.records[:0], lastDelta: -1, maxTimestamp: NoTimestamp}
}

// Count is how many records have been added.
func (b *Builder) Count() int { return int(b.count) }

// Size is how long the batch would be if it were built now without compression.
func (b *Builder) Size() int { return HeaderLen + len(b.records) }

// Append adds a record at the offset after the last one. r.Offset is not looked at. Errors show when building.
func (b *Builder) Append(r *Record) { b.add(r, b.lastDelta+1) }

// AppendAt adds a record at r.Offset, which must be greater than that of the record before it. Compaction leaves such gaps.
func (b *Builder) AppendAt(r *Record) { b.add(r, r.Offset-b.options.BaseOffset) }

// PadTo makes the batch end at offset last, past its last record.
func (b *Builder) PadTo(last int64) {
	delta := last - b.options.BaseOffset
	if delta < b.lastDelta || delta > math.MaxInt32 {
		b.fail("last offset %d, base offset %d", last, b.options.BaseOffset)
		return
	}
	b.lastDelta = delta
}

func (b *Builder) add(r *Record, delta int64) {
	if delta <= b.lastDelta || delta > math.MaxInt32 {
		b.fail("offset delta %d after %d", delta, b.lastDelta)
		return
	}
	if b.count == 0 {
		b.baseTimestamp = r.Timestamp
		if b.options.DeleteHorizon != 0 {
			b.baseTimestamp = b.options.DeleteHorizon
		}
	}
	b.records = appendRecord(b.records, r, r.Timestamp-b.baseTimestamp, int32(delta))
	b.count++
	b.lastDelta = delta
	b.maxTimestamp = max(b.maxTimestamp, r.Timestamp)
}

// fail keeps the first error.
func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %s", ErrUnbuildable, fmt.Sprintf(format, args...))
	}
}

// Build appends the batch to dst and returns the batch alone, which aliases the grown dst. The builder keeps its records: Build may be
// called again, and Reset begins anew.
func (b *Builder) Build(dst []byte, c *Compressor) (Batch, error) {
	if b.count == 0 {
		b.fail("no records")
	}
	if b.err != nil {
		return nil, b.err
	}
	at := len(dst)
	dst = append(dst, make([]byte, HeaderLen)...)
	dst, err := c.Compress(dst, b.records, b.options.Codec, b.options.Level)
	if err != nil {
		return nil, err
	}
	batch := Batch(dst[at:])
	if int64(len(batch))-PrefixLen > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(batch))
	}
	b.writeHeader(batch)
	return batch, nil
}

func (b *Builder) writeHeader(batch Batch) {
	o := b.options
	maxTimestamp := b.maxTimestamp
	if o.TimestampType == LogAppendTime {
		maxTimestamp = o.AppendTime
	}
	batch.SetBaseOffset(o.BaseOffset)
	batch.SetPartitionLeaderEpoch(o.PartitionLeaderEpoch)
	batch[offMagic] = Magic
	be := binary.BigEndian
	be.PutUint32(batch[offLength:], uint32(len(batch)-PrefixLen))
	be.PutUint16(batch[offAttributes:], o.attributes())
	be.PutUint32(batch[offLastDelta:], uint32(b.lastDelta))
	be.PutUint64(batch[offBaseTimestamp:], uint64(b.baseTimestamp))
	be.PutUint64(batch[offMaxTimestamp:], uint64(maxTimestamp))
	be.PutUint64(batch[offProducerID:], uint64(o.ProducerID))
	be.PutUint16(batch[offProducerEpoch:], uint16(o.ProducerEpoch))
	be.PutUint32(batch[offBaseSequence:], uint32(o.BaseSequence))
	be.PutUint32(batch[offCount:], uint32(b.count))
	batch.seal()
}

func (o *Options) attributes() uint16 {
	a := uint16(o.Codec)
	if o.TimestampType == LogAppendTime {
		a |= attrTimestampType
	}
	if o.Transactional {
		a |= attrTransactional
	}
	if o.Control {
		a |= attrControl
	}
	if o.DeleteHorizon != 0 {
		a |= attrDeleteHorizon
	}
	return a
}

// appendRecord encodes one record with its length before it.
func appendRecord(dst []byte, r *Record, timestampDelta int64, offsetDelta int32) []byte {
	n := 1 + varlongLen(timestampDelta) + varlongLen(int64(offsetDelta)) +
		bytesLen(r.Key) + bytesLen(r.Value) + varlongLen(int64(len(r.Headers)))
	for _, h := range r.Headers {
		n += varlongLen(int64(len(h.Key))) + len(h.Key) + bytesLen(h.Value)
	}
	dst = appendVarlong(dst, int64(n))
	dst = append(dst, 0)
	dst = appendVarlong(dst, timestampDelta)
	dst = appendVarint(dst, offsetDelta)
	dst = appendBytes(dst, r.Key)
	dst = appendBytes(dst, r.Value)
	dst = appendVarlong(dst, int64(len(r.Headers)))
	for _, h := range r.Headers {
		dst = appendVarlong(dst, int64(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = appendBytes(dst, h.Value)
	}
	return dst
}

func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarlong(dst, int64(len(b))), b...)
}

func bytesLen(b []byte) int {
	if b == nil {
		return 1
	}
	return varlongLen(int64(len(b))) + len(b)
}
