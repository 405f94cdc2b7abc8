package txn

import (
	"container/heap"
	"math"
	"time"

	"moldau/broker/coordinator"
)

// never is a deadline that does not come.
const never int64 = math.MaxInt64

// deadlines orders entries by when Expire has to look at them.
type deadlines struct{ entries []*entry }

func (d *deadlines) Len() int           { return len(d.entries) }
func (d *deadlines) Less(i, j int) bool { return d.entries[i].dueMs < d.entries[j].dueMs }

func (d *deadlines) Swap(i, j int) {
	d.entries[i], d.entries[j] = d.entries[j], d.entries[i]
	d.entries[i].at, d.entries[j].at = i, j
}

// Push is for package heap.
func (d *deadlines) Push(x any) {
	e := x.(*entry)
	e.at = len(d.entries)
	d.entries = append(d.entries, e)
}

// Pop is for package heap.
func (d *deadlines) Pop() any {
	last := len(d.entries) - 1
	e := d.entries[last]
	d.entries[last], d.entries = nil, d.entries[:last]
	e.at = -1
	return e
}

// set gives an entry its deadline.
func (d *deadlines) set(e *entry, dueMs int64) {
	e.dueMs = dueMs
	switch {
	case dueMs == never:
		d.remove(e)
	case e.at < 0:
		heap.Push(d, e)
	default:
		heap.Fix(d, e.at)
	}
}

func (d *deadlines) remove(e *entry) {
	if e.at >= 0 {
		heap.Remove(d, e.at)
	}
}

// schedule sets the deadline that follows from an entry's state: the end of an open transaction's time, the time to forget an
// unused id, or the end of the first wait.
func (s *Shard) schedule(e *entry) {
	switch {
	case e.State == Ongoing && !e.asked:
		s.due.set(e, e.StartMs+int64(e.TimeoutMs)+1)
	case e.State.idle():
		s.due.set(e, e.UpdateMs+s.cfg.IDExpiration.Milliseconds())
	case len(e.waiting) > 0:
		s.due.set(e, e.waiting[0].untilMs)
	default:
		s.due.set(e, never)
	}
}

// NextDeadline returns when Expire wants to be called.
func (s *Shard) NextDeadline() time.Time {
	if s.due.Len() == 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.due.entries[0].dueMs)
}

// expireMax bounds what one call of Expire does, so that others get their turn.
const expireMax = 1000

// Expire aborts transactions that lasted too long, forgets ids that were not used for long, and ends waits.
func (s *Shard) Expire(t *coordinator.Turn) {
	now := t.Now.UnixMilli()
	for range expireMax {
		if s.due.Len() == 0 || s.due.entries[0].dueMs > now {
			return
		}
		switch e := s.due.entries[0]; {
		case e.State == Ongoing:
			s.timeOut(t, e)
		case e.State.idle():
			t.Append(encodeKey(e.ID), nil)
		default:
			e.waiting[0].refuse(t)
			e.waiting = e.waiting[1:]
			s.schedule(e)
		}
	}
}

// timeOut aborts a transaction that lasted too long.
func (s *Shard) timeOut(t *coordinator.Turn, e *entry) {
	if e.exhausted() { // the epoch after the abort would be the last one
		e.asked = true
		s.schedule(e)
		id, p := e.ID, coordinator.Producer{ID: e.ProducerID, Epoch: e.ProducerEpoch}
		t.After(func(err error) {
			if err == nil {
				s.outside.RotateAndAbort(id, p)
			}
		})
		return
	}
	s.abort(t, e, NoProducerID)
	s.outside.TimedOut(&e.Transaction)
}

// AbortTimedOut aborts a transaction that lasted too long, with a new producer id for when it is complete. It answers with an
// error if the transaction is another one by now.
func (s *Shard) AbortTimedOut(t *coordinator.Turn, id string, p coordinator.Producer, fresh int64, reply *coordinator.Reply[struct{}]) {
	e := s.ids[id]
	if e == nil || e.State != Ongoing || e.ProducerID != p.ID || e.ProducerEpoch != p.Epoch {
		refuse(t, reply, ErrInvalidState)
		return
	}
	s.abort(t, e, fresh)
	s.outside.TimedOut(&e.Transaction)
	reply.Send(t, struct{}{})
}

// abort decides against a transaction whose producer is not asked: its epoch is moved on, so that it finds itself fenced.
func (s *Shard) abort(t *coordinator.Turn, e *entry, fresh int64) {
	next := e.decidedTo(t.Now.UnixMilli(), PrepareAbort, Version2, fresh)
	if err := s.append(t, &next); err != nil { // no longer than the record before
		s.log.Error("a transaction cannot be aborted", "transactional_id", e.ID, "err", err)
		s.due.set(e, t.Now.UnixMilli()+s.cfg.ParkMax.Milliseconds()+1)
		return
	}
	s.writeMarkers(t, &next)
}
