package txn

import (
	"moldau/broker/coordinator"
)

// EndTxn is a producer that commits or aborts its transaction.
type EndTxn struct {
	ID       string
	Producer coordinator.Producer
	Commit   bool
	// Version is the version of the protocol that the producer follows.
	Version int16
	// Fresh is a producer id that nobody has, or NoProducerID: then the operation may answer ErrNeedProducerID.
	Fresh int64
}

// EndTxn answers once the decision is committed, with who the producer is from then on (version 2; coordinator.NoProducer in
// older ones). Markers are written afterwards.
func (s *Shard) EndTxn(t *coordinator.Turn, q EndTxn, reply *coordinator.Reply[coordinator.Producer]) {
	e := s.ids[q.ID]
	if e == nil {
		refuse(t, reply, ErrInvalidProducerIDMapping)
		return
	}
	judge := e.judge1
	if q.Version >= Version2 {
		judge = e.judge2
	}
	verdict, err := judge(&q)
	switch {
	case err != nil:
		refuse(t, reply, err)
	case verdict == done:
		reply.Send(t, e.after(&q))
	default:
		s.decide(t, e, &q, reply)
	}
}

// verdict is what becomes of an EndTxn that is not refused.
type verdict int8

const (
	undecided verdict = iota
	done              // it was decided so before: the producer asks again
	decide
)

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// judge1 is version 1. The epoch stays, so that asking again looks like asking for the first time; only Ongoing can end, and
// what is complete may be asked for again.
func (e *entry) judge1(q *EndTxn) (verdict, error) {
	if err := e.accepts(q.Producer); err != nil {
		return undecided, err
	}
	switch e.State {
	case Ongoing:
		return decide, nil
	case CompleteCommit, CompleteAbort:
		if q.Commit == (e.State == CompleteCommit) {
			return done, nil
		}
	case PrepareCommit, PrepareAbort:
		return undecided, ErrConcurrentTransactions
	default: // there is no transaction to end
	}
	return undecided, ErrInvalidState
}

// judge2 is version 2. Who asks again has the epoch before; who has the current one asks for a new transaction's end, and
// may abort one that has no partitions yet.
//
// Nobody is judged while a transaction is being completed: a producer has its next epoch with the answer to EndTxn, and may
// abort its next transaction before the markers of the last one are written.
func (e *entry) judge2(q *EndTxn) (verdict, error) {
	again := e.endedBy(q.Producer)
	current := q.Producer.Epoch == e.ProducerEpoch
	switch {
	case e.State.decided():
		return undecided, ErrConcurrentTransactions
	case q.Producer.ID != e.ProducerID && !again:
		return undecided, ErrInvalidProducerIDMapping
	case !again && !current, again && (e.State == Ongoing || e.State == Empty):
		return undecided, ErrProducerFenced
	case e.State == Ongoing:
		return decide, nil
	case again && q.Commit == (e.State == CompleteCommit):
		return done, nil
	case again, q.Commit:
		return undecided, ErrInvalidState
	}
	return decide, nil
}

// endedBy tells whether the last transaction was ended by a producer that has not moved on since.
func (tx *Transaction) endedBy(p coordinator.Producer) bool {
	if p.ID == tx.ProducerID {
		return p.Epoch < tx.ProducerEpoch && p.Epoch+1 == tx.ProducerEpoch
	}
	return p.ID == tx.PrevProducerID && p.Epoch == epochLast && tx.ProducerEpoch == 0
}

// decide ends the transaction.
func (s *Shard) decide(t *coordinator.Turn, e *entry, q *EndTxn, reply *coordinator.Reply[coordinator.Producer]) {
	if q.Version >= Version2 && e.exhausted() && q.Fresh == NoProducerID {
		refuse(t, reply, ErrNeedProducerID)
		return
	}
	next := e.decidedTo(t.Now.UnixMilli(), pick(q.Commit, PrepareCommit, PrepareAbort), q.Version, q.Fresh)
	if err := s.append(t, &next); err != nil {
		refuse(t, reply, err)
		return
	}
	s.writeMarkers(t, &next)
	reply.Send(t, next.after(q))
}

// after is who the producer will be when the transaction is complete, as far as its version wants to know.
func (tx *Transaction) after(q *EndTxn) coordinator.Producer {
	switch {
	case q.Version < Version2:
		return coordinator.NoProducer
	case tx.NextProducerID != NoProducerID:
		return coordinator.Producer{ID: tx.NextProducerID, Epoch: 0}
	}
	return coordinator.Producer{ID: tx.ProducerID, Epoch: tx.ProducerEpoch}
}

// Complete notes that every partition has its marker. It answers ErrInvalidState if the id has moved on, which is as good.
func (s *Shard) Complete(t *coordinator.Turn, id string, p coordinator.Producer, reply *coordinator.Reply[struct{}]) {
	e := s.ids[id]
	if e == nil || !e.State.decided() || e.ProducerID != p.ID || e.ProducerEpoch != p.Epoch {
		refuse(t, reply, ErrInvalidState)
		return
	}
	next := e.completed(t.Now.UnixMilli())
	if err := s.append(t, &next); err != nil {
		refuse(t, reply, err)
		return
	}
	waiting := e.waiting
	e.waiting = nil
	for i := range waiting {
		s.AddPartitions(t, waiting[i].q, waiting[i].reply)
	}
	reply.Send(t, struct{}{})
}
