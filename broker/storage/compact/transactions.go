package compact

import (
	"cmp"
	"slices"

	"moldau/broker/record"
)

// AbortedTxn is a transaction that was aborted, as the transaction index tells.
type AbortedTxn struct {
	ProducerID              int64
	FirstOffset, LastOffset int64
}

// Transactions follows the transactions of a log that is read from its beginning to somewhere below the last stable offset. All of them
// have been decided, so that the transaction index names the aborted ones in advance.
type Transactions struct {
	queue     []AbortedTxn // not reached yet, by first offset
	aborted   map[int64]*abortedTxn
	committed map[int64]struct{} // producers with a batch in the transaction under way
}

// abortedTxn is an aborted transaction under way.
type abortedTxn struct {
	AbortedTxn
	observed bool // a batch of it is still in the log
}

// NewTransactions begins at the beginning of a log.
func NewTransactions() *Transactions {
	return &Transactions{aborted: make(map[int64]*abortedTxn), committed: make(map[int64]struct{})}
}

// Add tells of aborted transactions that may have batches further on. Some may have been told of before.
func (t *Transactions) Add(aborted []AbortedTxn) {
	for _, a := range aborted {
		if have := t.aborted[a.ProducerID]; have == nil || have.AbortedTxn != a {
			t.queue = append(t.queue, a)
		}
	}
	slices.SortFunc(t.queue, func(a, b AbortedTxn) int {
		return cmp.Or(cmp.Compare(a.FirstOffset, b.FirstOffset), cmp.Compare(a.ProducerID, b.ProducerID))
	})
	t.queue = slices.Compact(t.queue)
}

// reach moves on to an offset.
func (t *Transactions) reach(offset int64) {
	n := 0
	for ; n < len(t.queue) && t.queue[n].FirstOffset <= offset; n++ {
		a := t.queue[n]
		if t.under(a.ProducerID, a.FirstOffset) == nil {
			t.aborted[a.ProducerID] = &abortedTxn{AbortedTxn: a}
		}
	}
	t.queue = slices.Delete(t.queue, 0, n)
}

// under returns the aborted transaction of a producer that an offset belongs to, or nil. One that lies behind, without its marker having
// been seen, must not make what follows it aborted.
func (t *Transactions) under(producer, offset int64) *abortedTxn {
	a := t.aborted[producer]
	if a != nil && a.LastOffset < offset {
		delete(t.aborted, producer)
		return nil
	}
	return a
}

// Data moves on over a batch of data and tells whether it was aborted.
func (t *Transactions) Data(b record.Batch) (aborted bool) {
	t.reach(b.LastOffset())
	if !b.IsTransactional() {
		return false
	}
	if a := t.under(b.ProducerID(), b.BaseOffset()); a != nil {
		a.observed = true
		return true
	}
	t.committed[b.ProducerID()] = struct{}{}
	return false
}

// Control moves on over a control batch. idle says that it marks nothing: no batch of its transaction is left in the log. marked says
// that it is the marker of an aborted transaction with batches that are.
func (t *Transactions) Control(b record.Batch) (idle, marked bool) {
	t.reach(b.LastOffset())
	if b.Count() == 0 {
		return true, false // an earlier compaction took its record
	}
	m, ok := b.EndMarker()
	if !ok {
		return false, false // of another kind
	}
	if m.Commit {
		_, observed := t.committed[b.ProducerID()]
		delete(t.committed, b.ProducerID())
		return !observed, false
	}
	a := t.under(b.ProducerID(), b.BaseOffset())
	delete(t.aborted, b.ProducerID())
	marked = a != nil && a.observed
	return !marked, marked
}
