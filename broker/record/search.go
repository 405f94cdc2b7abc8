package record

import (
	"errors"
	"fmt"
)

// OffsetForTimestamp finds the first record at offset from or later whose timestamp is ts or later. ok is false where the batch holds
// none. Errors are those of Reader.Err.
func (b Batch) OffsetForTimestamp(ts, from int64, d *Decompressor) (offset, timestamp int64, ok bool, err error) {
	if b.MaxTimestamp() < ts || b.LastOffset() < from {
		return 0, 0, false, nil
	}
	err = b.each(d, func(o, t int64) bool {
		if ok = o >= from && t >= ts; ok {
			offset, timestamp = o, t
		}
		return !ok
	})
	if err != nil {
		return 0, 0, false, err
	}
	return offset, timestamp, ok, nil
}

// OffsetOfMaxTimestamp finds the first record with the greatest timestamp. A batch that compaction has emptied answers -1 and NoTimestamp.
// Errors are those of Reader.Err.
func (b Batch) OffsetOfMaxTimestamp(d *Decompressor) (offset, timestamp int64, err error) {
	offset, timestamp = -1, NoTimestamp
	err = b.each(d, func(o, t int64) bool {
		if offset < 0 || t > timestamp {
			offset, timestamp = o, t
		}
		return b.TimestampType() == CreateTime
	})
	if err != nil {
		return -1, NoTimestamp, err
	}
	return offset, timestamp, nil
}

// each walks the records while visit answers true, and tells it their offsets and timestamps.
func (b Batch) each(d *Decompressor, visit func(offset, timestamp int64) bool) error {
	src, err := openSource(b, d)
	if err != nil {
		return damaged(err)
	}
	defer src.close(d)
	for i := range max(b.Count(), 0) {
		o, err := src.next()
		if err == nil && (o.offsetDelta < 0 || o.offsetDelta > b.LastOffsetDelta()) {
			err = errOutside(o.offsetDelta, b)
		}
		if err != nil {
			return damaged(fmt.Errorf("record %d of %d: %w", i, b.Count(), err))
		}
		timestamp := b.BaseTimestamp() + o.timestampDelta
		if b.TimestampType() == LogAppendTime {
			timestamp = b.MaxTimestamp()
		}
		if !visit(b.BaseOffset()+int64(o.offsetDelta), timestamp) {
			return nil
		}
	}
	return nil
}

// errOutside is the fault of a record whose offset its batch does not cover.
func errOutside(delta int32, b Batch) error {
	return malformed("offset delta %d in a batch whose last is %d", delta, b.LastOffsetDelta())
}

// damaged is what a fault in the records of a stored batch means.
func damaged(err error) error {
	if errors.Is(err, ErrBomb) || errors.Is(err, ErrUnsupportedCodec) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
