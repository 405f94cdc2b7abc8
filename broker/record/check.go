package record

import (
	"errors"
	"fmt"
	"math"
)

// Check is what a batch is held against: the topic's rules and where the batch comes from.
type Check struct {
	// Now is the broker's time in milliseconds.
	Now int64
	// MaxBytes is max.message.bytes. It bounds the batch as it was sent, that is compressed; 0 means no limit.
	MaxBytes int
	// TimestampType is message.timestamp.type.
	TimestampType TimestampType
	// BeforeMaxMs and AfterMaxMs are message.timestamp.before.max.ms and message.timestamp.after.max.ms (KIP-937): how far a
	// CreateTime may lie before or after Now. math.MaxInt64 means no bound.
	BeforeMaxMs, AfterMaxMs int64
	// Compacted is set where cleanup.policy holds compact: every record needs a key.
	Compacted bool
	// Internal is set for what the broker itself writes: control records may be written, and producer fields, counts and the
	// timestamp type are the broker's own business.
	Internal bool
	// HeaderOnly trusts the records: only header and checksum are looked at. Not for bytes from clients.
	HeaderOnly bool
}

// Summary is what validation learns on its way.
type Summary struct {
	// MaxTimestamp is the greatest timestamp of the records, or the append time where the topic says so.
	MaxTimestamp int64
	// MaxTimestampDelta is the offset delta of the first record that has it.
	MaxTimestampDelta int32
}

// Validate checks the batch the way Apache Kafka checks what is produced (its class LogValidator), and changes nothing. d is used for
// compressed batches only. Memory does not depend on what the batch expands to, and an uncompressed batch costs no allocation.
//
// Errors: ErrTooLarge, ErrCorrupt, ErrUnsupportedMagic, ErrUnsupportedCodec, or an *InvalidRecordError.
//
// Kafka is stricter than itself in two places here: the offset deltas must count up from 0 (Kafka rewrites a compressed batch
// in which they do not, and stores an uncompressed one as it is), and a producer may never claim LogAppendTime.
func (b Batch) Validate(c *Check, d *Decompressor) (Summary, error) {
	var sum Summary
	if err := b.checkFrame(c); err != nil {
		return sum, err
	}
	if !c.Internal {
		if err := b.checkProduced(); err != nil {
			return sum, err
		}
	}
	sum = Summary{MaxTimestamp: b.MaxTimestamp(), MaxTimestampDelta: b.LastOffsetDelta()}
	if !c.HeaderOnly {
		var err error
		if sum, err = b.checkRecords(c, d); err != nil {
			return sum, err
		}
	}
	if c.TimestampType == LogAppendTime {
		sum = Summary{MaxTimestamp: c.Now}
	}
	return sum, nil
}

// Admit validates the batch and then makes its header tell the truth: LogAppendTime and the append time where the topic asks for it, else
// CreateTime and the greatest timestamp of the records. A batch that is refused stays as it was.
func (b Batch) Admit(c *Check, d *Decompressor) (Summary, error) {
	sum, err := b.Validate(c, d)
	if err != nil {
		return sum, err
	}
	b.SetMaxTimestamp(c.TimestampType, sum.MaxTimestamp)
	return sum, nil
}

// checkFrame is what needs no look at single fields: length, magic, codec, checksum.
func (b Batch) checkFrame(c *Check) error {
	n, magic, err := Peek(b)
	switch {
	case errors.Is(err, ErrShort):
		return corrupt("%d bytes where the header says %d", len(b), n)
	case err != nil:
		return err
	case magic != Magic:
		return fmt.Errorf("%w: %d", ErrUnsupportedMagic, magic)
	case n != len(b):
		return corrupt("%d bytes where the header says %d", len(b), n)
	case c.MaxBytes > 0 && n > c.MaxBytes:
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, n, c.MaxBytes)
	}
	if got := b.ComputeCRC(); got != b.CRC() {
		return corrupt("stored checksum %08x, computed %08x", b.CRC(), got)
	}
	if !b.Codec().Valid() {
		return fmt.Errorf("%w: id %d", ErrUnsupportedCodec, int8(b.Codec()))
	}
	return nil
}

// checkProduced is what only clients get wrong.
func (b Batch) checkProduced() error {
	switch {
	case b.BaseOffset() != 0:
		return invalid("the base offset of a produced batch should be 0, but it is %d", b.BaseOffset())
	case b.Count() <= 0:
		return invalid("a batch of %d records", b.Count())
	case b.LastOffsetDelta() != b.Count()-1:
		return invalid("last offset delta %d in a batch of %d records", b.LastOffsetDelta(), b.Count())
	case b.IsControl():
		return invalid("clients are not allowed to write control records")
	case b.HasDeleteHorizon():
		return invalid("clients are not allowed to set a delete horizon")
	case b.TimestampType() == LogAppendTime:
		return &InvalidRecordError{Kind: ErrInvalidTimestamp, Message: "a producer should not set timestamp type to LogAppendTime"}
	}
	return b.checkProducer()
}

// checkProducer holds producer id, epoch, sequence and the transactional flag against each other.
func (b Batch) checkProducer() error {
	id, epoch, sequence := b.ProducerID(), b.ProducerEpoch(), b.BaseSequence()
	switch {
	case id < NoProducerID:
		return invalid("producer id %d", id)
	case id == NoProducerID && b.IsTransactional():
		return invalid("a transactional batch without a producer id")
	case id != NoProducerID && epoch < 0:
		return invalid("invalid epoch %d of producer id %d", epoch, id)
	case id != NoProducerID && sequence < 0:
		return invalid("invalid sequence number %d of producer id %d", sequence, id)
	}
	return nil
}

// checkRecords walks all records once.
func (b Batch) checkRecords(c *Check, d *Decompressor) (Summary, error) {
	sum := Summary{MaxTimestamp: NoTimestamp}
	src, err := openSource(b, d)
	if err != nil {
		return sum, unreadable(err)
	}
	defer src.close(d)
	faults := newFaultList(c)
	count, baseTimestamp := b.Count(), b.BaseTimestamp()
	for i := range count {
		o, err := src.next()
		if err != nil {
			return sum, unreadable(fmt.Errorf("record %d of %d: %w", i, count, err))
		}
		if !c.Internal && o.offsetDelta != i {
			return sum, invalid("record %d has the offset delta %d", i, o.offsetDelta)
		}
		timestamp := baseTimestamp + o.timestampDelta
		faults.check(i, o.hasKey, timestamp)
		if timestamp > sum.MaxTimestamp {
			sum = Summary{MaxTimestamp: timestamp, MaxTimestampDelta: o.offsetDelta}
		}
	}
	if err := src.finish(); err != nil {
		return sum, unreadable(err)
	}
	return sum, faults.err()
}

// unreadable is the answer to records that cannot be walked to their end.
func unreadable(err error) error {
	return &InvalidRecordError{Kind: ErrInvalidRecord, Message: "the records of the batch cannot be read", Cause: err}
}

// faultList gathers what is wrong with single records. It allocates nothing while all is well.
type faultList struct {
	needKey    bool
	from, to   int64 // timestamps allowed
	total      int
	timestamps int
	records    []RecordError
}

func newFaultList(c *Check) faultList {
	f := faultList{needKey: c.Compacted, from: math.MinInt64, to: math.MaxInt64}
	if c.TimestampType == CreateTime {
		f.from, f.to = c.bounds()
	}
	return f
}

func (f *faultList) check(index int32, hasKey bool, timestamp int64) {
	switch {
	case f.needKey && !hasKey:
		f.add(index, func() string { return "Compacted topic cannot accept message without key." })
	case (timestamp < f.from || timestamp > f.to) && timestamp != NoTimestamp:
		f.timestamps++
		f.add(index, func() string {
			return fmt.Sprintf("Timestamp %d of message with offset %d is out of range. The timestamp should be within [%d, %d]",
				timestamp, index, f.from, f.to)
		})
	}
}

func (f *faultList) add(index int32, message func() string) {
	f.total++
	if len(f.records) < MaxRecordErrors {
		f.records = append(f.records, RecordError{Index: index, Message: message()})
	}
}

func (f *faultList) err() error {
	switch {
	case f.total == 0:
		return nil
	case f.timestamps > 0:
		return &InvalidRecordError{
			Kind: ErrInvalidTimestamp, Records: f.records,
			Message: "One or more records have been rejected due to invalid timestamp",
		}
	}
	return &InvalidRecordError{
		Kind: ErrInvalidRecord, Records: f.records,
		Message: fmt.Sprintf("One or more records have been rejected: %d in total", f.total),
	}
}

// bounds are the earliest and the latest timestamp allowed. They are computed without overflow: a hostile timestamp may be anywhere in 64
// bits, and the default of a bound is the greatest integer.
func (c *Check) bounds() (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if c.BeforeMaxMs < math.MaxInt64 {
		from = c.Now - c.BeforeMaxMs
	}
	if c.AfterMaxMs < math.MaxInt64-c.Now {
		to = c.Now + c.AfterMaxMs
	}
	return from, to
}
