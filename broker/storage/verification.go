package storage

import (
	"fmt"
)

// Guard stands for one attempt to have the transaction coordinator confirm that a producer's transaction has this partition. It is good
// until the producer's next batch or marker: a confirmation that comes later is worth nothing (KIP-890).
type Guard uint64

// NoGuard is for what needs no confirmation.
const NoGuard Guard = 0

// verification is an attempt under way.
type verification struct {
	guard Guard
	epoch int16
	// lowest is the lowest sequence number that was to be appended: one above must not come first.
	lowest  int32
	sinceMs int64
}

// BeginVerification prepares for the first batch of a producer's transaction. needed is false if the transaction is open in this log
// already: the batch may be appended at once.
func (l *Log) BeginVerification(producer int64, epoch int16, sequence int32) (guard Guard, needed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.producers.inTransaction(producer, epoch) {
		return NoGuard, false
	}
	if l.verifications == nil {
		l.verifications = make(map[int64]verification)
	}
	v, known := l.verifications[producer]
	if !known {
		l.guards++
		v = verification{guard: l.guards, epoch: epoch, lowest: sequence, sinceMs: l.env.nowMs()}
	}
	switch {
	case epoch > v.epoch:
		v.epoch, v.lowest = epoch, sequence
	case epoch == v.epoch:
		v.lowest = min(v.lowest, sequence)
	}
	l.verifications[producer] = v
	return v.guard, true
}

// overtakes tells whether a batch makes attempts in an epoch worthless. In version 2 the marker of a transaction has the epoch of the
// next one, whose attempts it leaves alone.
func (a *producerAppend) overtakes(epoch int16) bool {
	if a.control && a.version >= 2 {
		return epoch < a.epoch
	}
	return epoch <= a.epoch
}

// checkVerified decides whether a client's transactional batch may open a transaction. The caller holds mu.
func (l *Log) checkVerified(a producerAppend, guard Guard) error {
	v, known := l.verifications[a.id]
	if known && a.baseSeq > v.lowest && a.epoch == v.epoch {
		return fmt.Errorf("producer %d begins with sequence %d after %d was to come: %w", a.id, a.baseSeq, v.lowest, ErrOutOfOrderSequence)
	}
	if l.producers.inTransaction(a.id, a.epoch) {
		return nil
	}
	if !known || guard == NoGuard || v.guard != guard {
		return fmt.Errorf("producer %d has not been confirmed to have the partition in its transaction: %w", a.id, ErrInvalidTxnState)
	}
	return nil
}

// expireVerifications forgets attempts that led to nothing. The caller holds mu.
func (l *Log) expireVerifications(nowMs, ttlMs int64) {
	for id, v := range l.verifications {
		if nowMs-v.sinceMs >= ttlMs {
			delete(l.verifications, id)
		}
	}
}
