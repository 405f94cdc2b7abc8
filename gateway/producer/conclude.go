package producer

import (
	"slices"
	"time"
)

// outcome is what became of records: they have the offsets from base on, or an error.
type outcome struct {
	entries       []entry
	base          int64
	logAppendTime int64
	untold        bool // the broker gave the records its own time, and did not tell it
	id            identity
	err           error
}

// conclude does what follows from the answers, and tells the outcomes.
func (p *Producer) conclude(batches []*batch) {
	out := make([]outcome, 0, len(batches))
	now := time.Now()
	p.mu.Lock()
	for _, b := range batches {
		b.answered = true
		q := b.queue
		if out = q.advance(out); q.draining {
			out = p.drain(q, out)
		}
		if p.closed {
			out = q.failAll(ErrClosed, out)
			continue
		}
		p.proceed(q, now)
	}
	p.mu.Unlock()
	settle(out)
}

// advance takes the batches off that were written, in order, up to the first that was not or has no answer yet.
func (q *queue) advance(out []outcome) []outcome {
	for len(q.flying) > 0 && q.flying[0].answered && !q.draining {
		b := q.flying[0]
		if b.verdict.kind != written {
			q.draining = true
			break
		}
		q.flying[0] = nil
		q.flying = q.flying[1:]
		q.wrote(b)
		out = append(out, b.written())
	}
	if len(q.flying) == 0 {
		q.flying = nil
	}
	return out
}

// wrote notes that a batch was written.
func (q *queue) wrote(b *batch) {
	q.tries, q.unknown, q.trouble = 0, 0, nil
	q.proven = b.id == q.id
	if b.part { // the broker expected the number at which the whole began: so neither that nor what was sent behind it is in the log
		for _, rest := range q.again {
			if rest.id == b.id || rest.part {
				rest.part, rest.unsure = false, false
			}
		}
	}
}

// written is the outcome of a batch that was.
func (b *batch) written() outcome {
	b.release()
	at := b.verdict.logAppendTime
	return outcome{entries: b.entries, base: b.verdict.base, logAppendTime: at, untold: at < 0 && b.queue.topic.known.LogAppendTime, id: b.id}
}

// drain deals with a batch that did not get through, and those that were sent behind it, once all of them are answered. What is left of them
// is sent again, from the sequence number of the first.
func (p *Producer) drain(q *queue, out []outcome) []outcome {
	for _, b := range q.flying {
		if !b.answered {
			return out
		}
	}
	flying := q.flying
	q.flying, q.draining, q.proven = nil, false, false
	if first := flying[0]; first.id == q.id {
		q.sequence = first.before
	}
	d := drained{queue: q, out: out, back: make([]*batch, 0, len(flying))}
	for i, b := range flying {
		d.add(b, i == 0)
	}
	q.again = append(d.back, q.again...)
	switch {
	case d.shut:
		return q.failAll(ErrClosed, d.out)
	case d.abandon, d.renew && slices.ContainsFunc(q.again, func(b *batch) bool { return b.part }):
		d.out = q.abandon(d.out)
	case d.renew:
		q.renew()
	}
	if strange(d.trouble) {
		if q.unknown++; q.unknown > maxUnknown {
			return q.failAll(d.trouble, d.out)
		}
	}
	if d.trouble != nil && len(q.again) > 0 {
		p.suspend(q, d.trouble)
	}
	return d.out
}

// drained is what is found out of the batches of a queue.
type drained struct {
	queue *queue
	out   []outcome
	back  []*batch // to be sent again

	trouble error // why to wait before that
	renew   bool  // the sequence is not what the broker expects
	abandon bool  // what may have been written can't be found out
	shut    bool
}

// add deals with a batch. first is the one that did not get through, by which the others fail.
func (d *drained) add(b *batch, first bool) {
	v := &b.verdict
	b.err = v.err
	switch v.kind {
	case written: // although the one before was not: the broker did not know the sequence
		d.renew = true
		d.out = append(d.out, b.written())
		return
	case refused:
		var left []*batch
		left, d.out = b.refuse(d.out)
		d.back = append(d.back, left...)
		return
	case misnumbered:
		d.misnumbered(b, first)
	case again:
		d.trouble = v.err
		if v.unsure && !b.id.known() { // nothing keeps it from being written twice
			d.out = append(d.out, outcome{entries: b.entries, err: unacknowledged(v.err)})
			b.release()
			return
		}
		b.unsure = b.unsure || v.unsure
	case shut:
		d.shut = true
		b.unsure = b.unsure || v.unsure
	default:
		if b.doubtful() { // an earlier attempt may have succeeded
			v.err = unacknowledged(v.err)
			d.renew = true
		}
		d.out = append(d.out, outcome{entries: b.entries, err: v.err})
		b.release()
		return
	}
	d.back = append(d.back, b)
}

// misnumbered deals with a batch whose sequence number the broker did not expect. Had it been written under this number, the broker would
// know it: so it was not, unless it is a part of one that may have been.
func (d *drained) misnumbered(b *batch, first bool) {
	switch {
	case b.part:
		d.abandon = true
		return
	case first && b.sequence == b.before:
		d.renew = true
		d.trouble = b.verdict.err
	}
	b.unsure = false
}

// settle tells the outcomes to the calls.
func settle(out []outcome) {
	for i := range out {
		out[i].settle()
	}
}

// settle tells the outcome of each record. The records of a call stand together, as they came.
func (o *outcome) settle() {
	for i := 0; i < len(o.entries); {
		c, first := o.entries[i].call, i
		for ; i < len(o.entries) && o.entries[i].call == c; i++ {
			if o.err != nil {
				c.fail(int(o.entries[i].index), o.err)
				continue
			}
			o.place(i)
		}
		c.settle(i - first)
	}
}

// place tells a record where it is.
func (o *outcome) place(i int) {
	r := o.entries[i].record()
	r.Offset, r.LeaderEpoch, r.ProducerID, r.ProducerEpoch = -1, -1, o.id.id, o.id.epoch
	if o.base >= 0 {
		r.Offset = o.base + int64(i)
	}
	switch {
	case o.logAppendTime >= 0:
		r.Timestamp = time.UnixMilli(o.logAppendTime)
	case o.untold:
		r.Timestamp = time.Time{}
	}
}
