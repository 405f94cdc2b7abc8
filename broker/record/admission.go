package record

import (
	"errors"
)

// Admission is Batch.Admit for callers that look at the records themselves: they read them from Reader, which checks each on its way,
// so that the batch is decompressed and cut up once. End answers as Admit does, and reads what the caller left.
type Admission struct {
	*Reader
	batch  Batch
	check  *Check
	faults faultList
	sum    Summary
}

// BeginAdmit checks what can be told without the records. Close the admission, also after an error of End.
//
// Unlike Admit it needs memory for the longest record of a compressed batch.
func (b Batch) BeginAdmit(c *Check, d *Decompressor) (*Admission, error) {
	if err := b.checkFrame(c); err != nil {
		return nil, err
	}
	if !c.Internal {
		if err := b.checkProduced(); err != nil {
			return nil, err
		}
	}
	a := &Admission{batch: b, check: c, faults: newFaultList(c), sum: Summary{MaxTimestamp: NoTimestamp}, Reader: b.Records(d)}
	a.admission = a
	return a, nil
}

// note checks the record that the reader has just cut, the one of index i.
func (a *Admission) note(i int32, r *Record) error {
	delta := r.Offset - a.batch.BaseOffset()
	if !a.check.Internal && delta != int64(i) {
		return invalid("record %d has the offset delta %d", i, delta)
	}
	a.faults.check(i, r.Key != nil, r.Timestamp)
	if r.Timestamp > a.sum.MaxTimestamp {
		a.sum = Summary{MaxTimestamp: r.Timestamp, MaxTimestampDelta: int32(delta)}
	}
	return nil
}

// End reads the records that were not read yet, and then makes the batch's header tell the truth as Admit does. A batch that is refused stays
// as it was.
func (a *Admission) End() (Summary, error) {
	for a.Next() {
		continue
	}
	if err := a.err; err != nil {
		if refused, ok := errors.AsType[*InvalidRecordError](err); ok {
			return Summary{}, refused
		}
		return Summary{}, unreadable(err)
	}
	if err := a.faults.err(); err != nil {
		return Summary{}, err
	}
	if a.check.TimestampType == LogAppendTime {
		a.sum = Summary{MaxTimestamp: a.check.Now}
	}
	a.batch.SetMaxTimestamp(a.check.TimestampType, a.sum.MaxTimestamp)
	return a.sum, nil
}
