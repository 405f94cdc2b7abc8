package txn

import (
	"moldau/broker/coordinator"
)

// AddPartitions puts partitions into a producer's transaction, which begins with the first ones.
type AddPartitions struct {
	ID         string
	Producer   coordinator.Producer
	Partitions []TopicPartition
	// Version is Version2 if the broker adds partitions for the producer, as it appends to them.
	Version int16
}

// waiter is an AddPartitions that waits for the transaction before to be complete.
type waiter struct {
	q       AddPartitions
	reply   *coordinator.Reply[struct{}]
	untilMs int64
}

func (w *waiter) refuse(t *coordinator.Turn) { refuse(t, w.reply, ErrConcurrentTransactions) }

func (e *entry) refuseAll(err error) {
	for _, w := range e.waiting {
		w.reply.Fail(err)
	}
	e.waiting = nil
}

// AddPartitions answers once the partitions are part of the transaction. While the transaction before is being completed it
// waits a little; then the answer is ErrConcurrentTransactions.
func (s *Shard) AddPartitions(t *coordinator.Turn, q AddPartitions, reply *coordinator.Reply[struct{}]) {
	e := s.ids[q.ID]
	if e != nil && e.State.decided() {
		e.waiting = append(e.waiting, waiter{q: q, reply: reply, untilMs: t.Now.Add(s.cfg.ParkMax).UnixMilli()})
		s.schedule(e)
		return
	}
	s.addPartitions(t, e, &q, reply)
}

func (s *Shard) addPartitions(t *coordinator.Turn, e *entry, q *AddPartitions, reply *coordinator.Reply[struct{}]) {
	err := e.accepts(q.Producer)
	if err == nil && (e.State != Ongoing || !e.hasAll(q.Partitions)) {
		next := e.added(t.Now.UnixMilli(), q.Partitions, q.Version)
		err = s.append(t, &next)
	}
	if err != nil {
		refuse(t, reply, err)
		return
	}
	reply.Send(t, struct{}{})
}

// accepts tells whether p is the latest producer of the id. e may be nil.
func (e *entry) accepts(p coordinator.Producer) error {
	switch {
	case e == nil || e.ProducerID != p.ID:
		return ErrInvalidProducerIDMapping
	case e.ProducerEpoch != p.Epoch:
		return ErrProducerFenced
	}
	return nil
}

// Verify answers which of the partitions are part of a producer's open transaction (KIP-890): for each nil or
// ErrNotInTransaction.
func (s *Shard) Verify(t *coordinator.Turn, q AddPartitions, reply *coordinator.Reply[[]error]) {
	e := s.ids[q.ID]
	err := e.accepts(q.Producer)
	if err == nil && e.State.decided() {
		err = ErrConcurrentTransactions
	}
	if err != nil {
		refuse(t, reply, err)
		return
	}
	out := make([]error, len(q.Partitions))
	for i, p := range q.Partitions {
		if e.State != Ongoing || !e.has(p) {
			out[i] = ErrNotInTransaction
		}
	}
	reply.Send(t, out)
}
