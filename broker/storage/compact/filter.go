package compact

import (
	"math"

	"moldau/broker/record"
)

// LastBatch is the last batch of a producer, of which compaction keeps at least the header.
type LastBatch struct {
	// Offset is the last offset of the producer's last batch of data in its epoch, -1 if there is none.
	Offset int64
	// Epoch is the producer's epoch. Without data in it, the control batches with this epoch stay.
	Epoch int16
}

// Filter turns batches, in the order of the log, into what compaction leaves of them.
type Filter struct {
	// Keys are the last offsets of the keys in the dirty part of the log.
	Keys *KeyMap
	// Txns are the transactions, which Filter moves on.
	Txns *Transactions
	// Producers are the last batches of all known producers.
	Producers map[int64]LastBatch
	// NowMs is the time, DeleteRetentionMs is delete.retention.ms.
	NowMs, DeleteRetentionMs int64
	Unpack                   *record.Decompressor
	Pack                     *record.Compressor

	builder record.Builder
	keep    []bool // which records of the batch stay
}

// Result is what became of a batch.
type Result struct {
	// Batch is what remains, nil if nothing does.
	Batch record.Batch
	// Same says that the batch remains as it was.
	Same bool
	// Marked says that the batch is the marker of an aborted transaction of which something remains.
	Marked bool
	// Records is how many records the batch had, Kept how many remain, Keyless how many had no key, which a compacted log can't keep.
	Records, Kept, Keyless int
}

// Apply appends what remains of b to dst. last says that b is the last batch of its new segment, which is not removed.
func (f *Filter) Apply(dst []byte, b record.Batch, last bool) (Result, error) {
	var r Result
	discard, idle := false, false
	if b.IsControl() {
		idle, r.Marked = f.Txns.Control(b)
		discard = idle && b.HasDeleteHorizon() && b.BaseTimestamp() <= f.NowMs
	} else {
		discard = f.Txns.Data(b)
	}
	r.Records = int(b.Count())
	retained := scan{all: true, count: r.Records}
	var err error
	switch {
	case discard:
		retained = scan{}
	case b.IsControl(), b.LastOffset() > f.Keys.Latest():
	default:
		if retained, err = f.scan(b); err != nil {
			return r, err
		}
	}
	r.Kept, r.Keyless = retained.count, retained.keyless
	if retained.count == 0 {
		if last || f.lastOfProducer(b) {
			r.Batch, r.Same = b.AppendEmptied(dst), b.Count() == 0
		}
		return r, nil
	}
	horizon := (retained.tombstones || idle) && !b.HasDeleteHorizon()
	if retained.all && !horizon {
		at := len(dst)
		r.Batch, r.Same = record.Batch(append(dst, b...)[at:]), true
		return r, nil
	}
	r.Batch, err = f.rebuild(dst, b, retained, horizon)
	return r, err
}

// scan is what a look at the records of a batch yields.
type scan struct {
	all        bool // every record stays; otherwise Filter.keep tells
	count      int  // how many stay
	tombstones bool // some of them have no value
	keyless    int
}

// scan decides which records of a batch stay.
func (f *Filter) scan(b record.Batch) (scan, error) {
	s := scan{all: true}
	f.keep = f.keep[:0]
	records := b.Records(f.Unpack)
	defer records.Close()
	for records.Next() {
		rec := records.Record()
		stays := f.stays(b, rec)
		f.keep = append(f.keep, stays)
		if rec.Key == nil {
			s.keyless++
		}
		if !stays {
			s.all = false
			continue
		}
		s.count++
		s.tombstones = s.tombstones || rec.Value == nil
	}
	return s, records.Err()
}

// stays tells whether a record stays: it is the last one of its key, and not a tombstone whose time is over.
func (f *Filter) stays(b record.Batch, rec *record.Record) bool {
	if rec.Key == nil {
		return false
	}
	if rec.Value == nil && b.HasDeleteHorizon() && b.BaseTimestamp() <= f.NowMs {
		return false
	}
	return rec.Offset >= f.Keys.Get(rec.Key)
}

// lastOfProducer tells whether b is needed to remember its producer.
func (f *Filter) lastOfProducer(b record.Batch) bool {
	if !b.HasProducerID() {
		return false
	}
	p, ok := f.Producers[b.ProducerID()]
	if !ok {
		return false
	}
	if p.Offset >= 0 {
		return b.LastOffset() == p.Offset
	}
	return b.IsControl() && b.ProducerEpoch() == p.Epoch
}

// rebuild makes a batch of the records that stay, and sets the time after which its tombstones, or the marker, may go.
func (f *Filter) rebuild(dst []byte, b record.Batch, retained scan, horizon bool) (record.Batch, error) {
	o := b.Options()
	if horizon {
		o.DeleteHorizon = f.NowMs + min(f.DeleteRetentionMs, math.MaxInt64-f.NowMs)
	}
	f.builder.Reset(o)
	records := b.Records(f.Unpack)
	defer records.Close()
	for i := 0; records.Next(); i++ {
		if retained.all || f.keep[i] {
			f.builder.AppendAt(records.Record())
		}
	}
	if err := records.Err(); err != nil {
		return nil, err
	}
	f.builder.PadTo(b.LastOffset())
	return f.builder.Build(dst, f.Pack)
}
