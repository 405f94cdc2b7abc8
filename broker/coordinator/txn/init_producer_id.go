package txn

import (
	"time"

	"moldau/broker/coordinator"
)

// InitProducerID is a producer that begins to use a transactional id.
type InitProducerID struct {
	ID        string
	TimeoutMs int32
	// Expected is who the producer is by its own account (KIP-360), or coordinator.NoProducer.
	Expected coordinator.Producer
	// Fresh is a producer id that nobody has, or NoProducerID: then the operation may answer ErrNeedProducerID.
	Fresh int64
}

// InitProducerID gives a transactional id to its next producer: from then on the one before is fenced. A transaction that is
// open is aborted first; its answer is ErrConcurrentTransactions, until it is complete.
func (s *Shard) InitProducerID(t *coordinator.Turn, q InitProducerID, reply *coordinator.Reply[coordinator.Producer]) {
	if q.TimeoutMs <= 0 || time.Duration(q.TimeoutMs)*time.Millisecond > s.cfg.TimeoutMax {
		refuse(t, reply, ErrInvalidTimeout)
		return
	}
	e := s.ids[q.ID]
	if e == nil {
		if q.Fresh == NoProducerID {
			refuse(t, reply, ErrNeedProducerID)
			return
		}
		e = &entry{Transaction: newTransaction(q.ID, q.Fresh), at: -1}
	}
	switch {
	case e.State.decided(): // who may be fenced is seen when it is complete
		refuse(t, reply, ErrConcurrentTransactions)
	case !e.mayBe(q.Expected):
		refuse(t, reply, ErrProducerFenced)
	case e.State == Ongoing:
		if e.exhausted() && q.Fresh == NoProducerID {
			refuse(t, reply, ErrNeedProducerID)
			return
		}
		s.abort(t, e, q.Fresh)
		refuse(t, reply, ErrConcurrentTransactions)
	default:
		s.initialize(t, e, &q, reply)
	}
}

// initialize gives an id without a transaction to the next producer.
func (s *Shard) initialize(t *coordinator.Turn, e *entry, q *InitProducerID, reply *coordinator.Reply[coordinator.Producer]) {
	next, err := e.successor(q, t.Now.UnixMilli())
	if err == nil {
		err = s.append(t, &next)
	}
	if err != nil {
		refuse(t, reply, err)
		return
	}
	reply.Send(t, coordinator.Producer{ID: next.ProducerID, Epoch: next.ProducerEpoch})
}

// mayBe tells whether a producer may be who it says: the latest one, or the one whose epochs were used up and who did not get
// the answer that told it so. Which epoch it has is looked at later. An id that is new here believes everybody.
func (tx *Transaction) mayBe(p coordinator.Producer) bool {
	return p == coordinator.NoProducer || tx.ProducerEpoch == NoProducerEpoch || p.ID == tx.ProducerID ||
		p.ID == tx.PrevProducerID && p.Epoch >= epochLast
}

// successor is the state with the next producer.
func (tx *Transaction) successor(q *InitProducerID, nowMs int64) (Transaction, error) {
	known, current := q.Expected != coordinator.NoProducer, q.Expected.Epoch == tx.ProducerEpoch
	last := NoProducerEpoch
	if known {
		last = tx.ProducerEpoch
	}
	switch {
	case tx.exhausted() && (!known || current):
		if q.Fresh == NoProducerID {
			return Transaction{}, ErrNeedProducerID
		}
		return tx.initialized(nowMs, q.TimeoutMs, q.Fresh, 0, last), nil
	case !known, current, tx.ProducerEpoch == NoProducerEpoch:
		return tx.initialized(nowMs, q.TimeoutMs, tx.ProducerID, tx.ProducerEpoch+1, last), nil
	case q.Expected.Epoch == tx.LastEpoch: // asked again: it did not get the answer
		return tx.initialized(nowMs, q.TimeoutMs, tx.ProducerID, tx.ProducerEpoch, tx.LastEpoch), nil
	}
	return Transaction{}, ErrProducerFenced
}
