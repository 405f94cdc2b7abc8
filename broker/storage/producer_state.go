package storage

import (
	"fmt"
	"math"

	"moldau/broker/record"
)

// producerBatches is how many of a producer's last batches are remembered, as many as a client may have in flight.
const producerBatches = 5

// noSequence and noProducerEpoch stand for absence, as in the batch header.
const (
	noSequence      int32 = -1
	noProducerEpoch int16 = -1
	noOffset        int64 = -1
)

// producerBatch remembers one appended batch of an idempotent producer.
type producerBatch struct {
	baseOffset int64
	lastOffset int64
	timestamp  int64 // largest timestamp of the batch
	baseSeq    int32
	lastSeq    int32
}

// producerEntry is what a log knows of one producer. n batches are valid, oldest first.
type producerEntry struct {
	id               int64
	epoch            int16
	n                int8
	partial          bool // came from a snapshot, which keeps only the last batch: older ones may still be in the log
	markerOnly       bool // all that is known is that a transaction ended: the producer's records are gone, or there were none
	coordinatorEpoch int32
	txnFirstOffset   int64
	lastTimestamp    int64
	seenMs           int64 // our clock when it last wrote; decides expiry
	batches          [producerBatches]producerBatch

	newer, older *producerEntry // ring of the table, by seenMs
}

// lastSequence returns the sequence number of the last record, noSequence if there is none in this epoch.
func (e *producerEntry) lastSequence() int32 {
	if e.n == 0 {
		return noSequence
	}
	return e.batches[e.n-1].lastSeq
}

// duplicate finds a remembered batch with the same epoch and sequence range.
func (e *producerEntry) duplicate(b producerAppend) (producerBatch, bool) {
	if e.epoch != b.epoch {
		return producerBatch{}, false
	}
	for _, have := range e.batches[:e.n] {
		if have.baseSeq == b.baseSeq && have.lastSeq == b.lastSeq {
			return have, true
		}
	}
	return producerBatch{}, false
}

// remember appends a batch, dropping the oldest one if there are too many.
func (e *producerEntry) remember(b producerBatch) {
	if e.n == producerBatches {
		copy(e.batches[:], e.batches[1:])
		e.n--
	}
	e.batches[e.n] = b
	e.n++
}

// producerAppend is one batch of a producer, as the header tells. marker is what its control record says, if it has one.
type producerAppend struct {
	id            int64
	epoch         int16
	transactional bool
	control       bool
	marker        *record.EndMarker
	// version is the version of the protocol that a marker follows; 2 moves the epoch on with each transaction.
	version    int16
	baseSeq    int32
	lastSeq    int32
	baseOffset int64
	lastOffset int64
	timestamp  int64
}

// producerTable holds the producers of a log. It is pure: time comes as a value. The ring orders entries by when they last wrote.
type producerTable struct {
	max     int
	entries map[int64]*producerEntry
	ring    producerEntry // sentinel: ring.older is the one seen last, ring.newer the one idle longest
}

func newProducerTable(maxEntries int) *producerTable {
	t := &producerTable{max: maxEntries}
	t.ring.newer, t.ring.older = &t.ring, &t.ring
	return t
}

// check decides on a client's batch before it is appended: nil means go on, dup that the log has it already.
//
// A producer that the log doesn't know, or only from a marker, may begin at any sequence number (KIP-360): its state may have expired
// with its records. A new epoch begins at 0. Within an epoch each batch follows the last one; numbers wrap from 2^31-1 to 0.
func (t *producerTable) check(b producerAppend) (dup producerBatch, isDup bool, err error) {
	e := t.entries[b.id]
	if e == nil {
		return dup, false, nil
	}
	if dup, isDup = e.duplicate(b); isDup {
		return dup, true, nil
	}
	if b.epoch < e.epoch {
		return dup, false, fmt.Errorf("producer %d has epoch %d, the latest is %d: %w", b.id, b.epoch, e.epoch, ErrInvalidProducerEpoch)
	}
	if b.epoch > e.epoch {
		if b.baseSeq != 0 && e.epoch != noProducerEpoch {
			return dup, false, fmt.Errorf("producer %d begins epoch %d with sequence %d, not 0: %w", b.id, b.epoch, b.baseSeq, ErrOutOfOrderSequence)
		}
		return dup, false, nil
	}
	if last := e.lastSequence(); !e.markerOnly && !inSequence(last, b.baseSeq) {
		return dup, false, fmt.Errorf("producer %d epoch %d sends sequence %d after %d: %w", b.id, b.epoch, b.baseSeq, last, ErrOutOfOrderSequence)
	}
	return dup, false, nil
}

// find returns the remembered batch that b is a duplicate of.
func (t *producerTable) find(b producerAppend) (producerBatch, bool) {
	if e := t.entries[b.id]; e != nil {
		return e.duplicate(b)
	}
	return producerBatch{}, false
}

// inTransaction tells whether a producer has a transaction open in an epoch.
func (t *producerTable) inTransaction(id int64, epoch int16) bool {
	e := t.entries[id]
	return e != nil && e.txnFirstOffset != noOffset && e.epoch == epoch
}

// checkTransaction refuses what is not transactional while a transaction of the producer is open.
func (t *producerTable) checkTransaction(b producerAppend) error {
	if e := t.entries[b.id]; e != nil && e.txnFirstOffset != noOffset && !b.transactional {
		return fmt.Errorf("producer %d has a transaction open since %d and sends a batch outside of it: %w", b.id, e.txnFirstOffset, ErrInvalidTxnState)
	}
	return nil
}

// checkMarker decides on a marker: an older coordinator is fenced. Where each transaction has its epoch, a marker that has the epoch of
// an open transaction is a late one of the transaction before.
func (t *producerTable) checkMarker(b producerAppend) error {
	e := t.entries[b.id]
	switch {
	case e == nil || b.marker == nil:
		return nil
	case e.coordinatorEpoch > b.marker.CoordinatorEpoch:
		return fmt.Errorf("marker for producer %d of coordinator epoch %d, the latest is %d: %w", b.id, b.marker.CoordinatorEpoch, e.coordinatorEpoch, ErrCoordinatorFenced)
	case b.version >= 2 && e.txnFirstOffset != noOffset && b.epoch <= e.epoch:
		return fmt.Errorf("marker for producer %d in the epoch %d of an open transaction: %w", b.id, b.epoch, ErrInvalidProducerEpoch)
	}
	return nil
}

// checkEpoch decides on a coordinator's batch: only the epoch counts.
func (t *producerTable) checkEpoch(b producerAppend) error {
	if e := t.entries[b.id]; e != nil && b.epoch < e.epoch {
		return fmt.Errorf("producer %d has epoch %d, the latest is %d: %w", b.id, b.epoch, e.epoch, ErrInvalidProducerEpoch)
	}
	return nil
}

// mayKnow tells whether a batch that find didn't find may yet prove a duplicate, once the log has been searched for batches that the
// snapshot didn't keep.
func (t *producerTable) mayKnow(b producerAppend) bool {
	e := t.entries[b.id]
	return e != nil && e.partial && e.epoch == b.epoch && !inSequence(e.lastSequence(), b.baseSeq)
}

// applied is what a batch does to the transactions of a log.
type applied struct {
	began bool
	ended bool
	txn   endedTxn // the transaction that ended
}

// apply notes a batch that was appended, or that was found in the log.
func (t *producerTable) apply(b producerAppend, nowMs int64) (a applied) {
	if b.control && b.marker == nil {
		return a // compaction took the marker, because nothing of its transaction is left
	}
	e := t.touch(b.id, nowMs)
	e.markerOnly = b.control && (e.markerOnly && e.epoch == b.epoch || e.epoch == noProducerEpoch)
	if e.epoch != b.epoch {
		e.epoch, e.n, e.partial = b.epoch, 0, false
	}
	e.lastTimestamp = b.timestamp
	if b.control {
		a.txn, a.ended = t.endOf(b)
		e.txnFirstOffset, e.coordinatorEpoch = noOffset, b.marker.CoordinatorEpoch
		return a
	}
	if b.transactional && e.txnFirstOffset == noOffset {
		e.txnFirstOffset, a.began = b.baseOffset, true
	}
	e.remember(producerBatch{b.baseOffset, b.lastOffset, b.timestamp, b.baseSeq, b.lastSeq})
	return a
}

// endOf returns the open transaction that a marker ends.
func (t *producerTable) endOf(b producerAppend) (endedTxn, bool) {
	e := t.entries[b.id]
	if e == nil || e.txnFirstOffset == noOffset || b.marker == nil {
		return endedTxn{}, false
	}
	return endedTxn{producer: b.id, first: e.txnFirstOffset, last: b.baseOffset, aborted: !b.marker.Commit}, true
}

// complete puts batches that were found in the log before the snapshot's batch in front of it. found is in log order and ends with the
// snapshot's batch or something newer.
func (t *producerTable) complete(id int64, found []producerBatch) {
	e := t.entries[id]
	if e == nil {
		return
	}
	e.partial = false
	if len(found) <= int(e.n) {
		return
	}
	found = found[max(0, len(found)-producerBatches):]
	e.n = int8(copy(e.batches[:], found)) //nolint:gosec // at most producerBatches
}

// touch returns the entry of a producer as the one seen last, made if missing. The one idle longest goes if there are too many, unless
// it has a transaction open.
func (t *producerTable) touch(id, nowMs int64) *producerEntry {
	e := t.entries[id]
	if e == nil {
		if t.entries == nil {
			t.entries = make(map[int64]*producerEntry)
		}
		t.makeRoom()
		e = &producerEntry{id: id, epoch: noProducerEpoch, coordinatorEpoch: -1, txnFirstOffset: noOffset, lastTimestamp: -1}
		t.entries[id] = e
	} else {
		e.newer.older, e.older.newer = e.older, e.newer
	}
	e.seenMs = nowMs
	last := t.ring.older
	last.newer, e.older, e.newer, t.ring.older = e, last, &t.ring, e
	return e
}

// makeRoom forgets the producers idle longest until there is room for one more.
func (t *producerTable) makeRoom() {
	for e := t.ring.newer; e != &t.ring && len(t.entries) >= t.max; {
		next := e.newer
		if e.txnFirstOffset == noOffset {
			t.remove(e)
		}
		e = next
	}
}

func (t *producerTable) remove(e *producerEntry) {
	e.newer.older, e.older.newer = e.older, e.newer
	delete(t.entries, e.id)
}

// expire forgets producers that wrote nothing for ttlMs and have no transaction open, and tells how many.
func (t *producerTable) expire(nowMs, ttlMs int64) int {
	n := 0
	for e := t.ring.newer; e != &t.ring && nowMs-e.seenMs >= ttlMs; {
		next := e.newer
		if e.txnFirstOffset == noOffset {
			t.remove(e)
			n++
		}
		e = next
	}
	return n
}

// clear forgets everything.
func (t *producerTable) clear() {
	clear(t.entries)
	t.ring.newer, t.ring.older = &t.ring, &t.ring
}

// inSequence tells whether next is the sequence number after last.
func inSequence(last, next int32) bool {
	return int64(next) == int64(last)+1 || next == 0 && last == math.MaxInt32
}

// decrementSequence goes back n from seq, wrapping from 0 to 2^31-1.
func decrementSequence(seq, n int32) int32 {
	if seq >= n {
		return seq - n
	}
	return math.MaxInt32 - (n - seq) + 1
}
