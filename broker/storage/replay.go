package storage

import (
	"errors"

	"moldau/internal/vfs"
)

// replay turns batches that are in the log into state of producers and transactions.
type replay struct {
	producers *producerTable
	txns      *transactions
	nowMs     int64
	buf       []byte
}

// newReplay begins with the state in a table of producers.
func newReplay(producers *producerTable, txns *transactions, nowMs int64) *replay {
	txns.clear()
	for _, e := range producers.entries {
		if e.txnFirstOffset != noOffset {
			txns.begin(e.txnFirstOffset, e.id)
		}
	}
	return &replay{producers: producers, txns: txns, nowMs: nowMs}
}

// apply notes the walker's batch. It returns the entry of the transaction index if the batch aborts a transaction.
func (p *replay) apply(w *walker) (*abortedEntry, error) {
	if !w.hdr.HasProducerID() {
		return nil, nil
	}
	a, err := w.producer(&p.buf)
	if err != nil {
		return nil, err
	}
	did := p.producers.apply(a, p.nowMs)
	if did.began {
		p.txns.begin(a.baseOffset, a.id)
	}
	if !did.ended {
		return nil, nil
	}
	p.txns.end(did.txn)
	if !did.txn.aborted {
		return nil, nil
	}
	return &abortedEntry{AbortedTxn{a.id, did.txn.first, did.txn.last}, min(p.txns.firstOpen(), did.txn.last+1)}, nil
}

// replay applies the batches from an offset on, and calls visit after each; e is not nil if the batch aborts a transaction.
func (l *Log) replay(p *replay, segs []*segment, from int64, visit func(w *walker, e *abortedEntry) error) error {
	var fail error
	err := l.walkHeaders(segs, from, func(w *walker) bool {
		var e *abortedEntry
		if e, fail = p.apply(w); fail == nil {
			fail = visit(w, e)
		}
		return fail == nil
	})
	return errors.Join(err, fail)
}

// rebuildAborted makes the transaction indexes of segments lo to hi-1 anew. It reads the log from the newest of the given snapshots
// that is good and not beyond the first of these segments, or from its beginning. The caller holds mu, or is the only one.
func (l *Log) rebuildAborted(segs []*segment, lo, hi int, snapshots []int64) error {
	table := newProducerTable(l.env.o.MaxProducersPerLog)
	from := l.loadSnapshotUpTo(table, snapshots, segs[lo].base)
	var txns transactions
	p := newReplay(table, &txns, l.env.nowMs())
	found := make([][]byte, hi-lo)
	err := l.replay(p, segs[:hi], from, func(w *walker, e *abortedEntry) error {
		txns.firstUnstable(w.hdr.NextOffset()) // forgets what has ended
		if e == nil || e.LastOffset < segs[lo].base {
			return nil
		}
		b, i := encodeAborted(*e), segmentFor(segs, e.LastOffset)-lo
		found[i] = append(found[i], b[:]...)
		return nil
	})
	if err != nil {
		return err
	}
	for i, data := range found {
		if err := segs[lo+i].aborted.rewrite(data); err != nil {
			return err
		}
	}
	return l.env.o.FS.SyncDir(l.path)
}

// loadSnapshotUpTo loads the newest good snapshot that is not beyond an offset into a table, and returns where to go on reading.
func (l *Log) loadSnapshotUpTo(table *producerTable, snapshots []int64, offset int64) (from int64) {
	for i := len(snapshots) - 1; i >= 0; i-- {
		if snapshots[i] > offset {
			continue
		}
		data, err := vfs.ReadFile(l.env.o.FS, segmentPath(l.path, snapshots[i], snapshotSuffix))
		if err == nil && decodeSnapshot(table, data, l.env.nowMs()) == nil {
			return snapshots[i]
		}
	}
	table.clear()
	return l.start.Load()
}

// peekTransactions finds out as far as possible which transactions are open in a damaged log, for its readers. No file is changed.
func (r *recovery) peekTransactions() {
	l := r.l
	table := newProducerTable(l.env.o.MaxProducersPerLog)
	from := l.loadSnapshotUpTo(table, r.snapshots, r.end)
	p := newReplay(table, &l.txns, l.env.nowMs())
	err := l.replay(p, r.segs, from, func(w *walker, _ *abortedEntry) error {
		l.txns.firstUnstable(w.hdr.NextOffset())
		return nil
	})
	if err != nil {
		l.env.logger.Warn("transactions of a damaged log are known in part only", "partition", l.tp.String(), "err", err)
	}
}
