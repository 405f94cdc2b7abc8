package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/txn"
	"moldau/broker/partition"
	"moldau/broker/record"
)

// TxnMarker ends a producer's transaction in partitions.
type TxnMarker struct {
	Producer         Producer
	Commit           bool
	CoordinatorEpoch int32
	// Version is the version of the protocol that the transaction follows.
	Version    int16
	Partitions []TxnPartition
}

// WriteTxnMarkers writes markers into partitions that this node leads, and returns an error for each partition once all of
// them are committed or failed. Offsets of groups take effect with theirs.
func (n *Node) WriteTxnMarkers(ctx context.Context, _ *Caller, m *TxnMarker) []error {
	waits := make([]func() error, len(m.Partitions))
	for i, p := range m.Partitions {
		waits[i] = n.writeMarker(ctx, m, p)
	}
	errs := make([]error, len(waits))
	for i, wait := range waits {
		errs[i] = wait()
	}
	return errs
}

// writeMarker writes one marker and returns how to wait for it.
func (n *Node) writeMarker(ctx context.Context, m *TxnMarker, tp TxnPartition) (wait func() error) {
	if tp.Topic == offsetsTopicName {
		reply := n.EndTxnOffsets(tp.Partition, coordinator.Marker{Producer: m.Producer, CoordinatorEpoch: m.CoordinatorEpoch, Commit: m.Commit}, m.Version)
		return func() error {
			_, err := reply.Wait(ctx)
			return markerError(err)
		}
	}
	t, p, err := n.find(TopicRef{Name: tp.Topic}, tp.Partition)
	if err != nil {
		return func() error { return err }
	}
	b := record.AppendEndMarker(nil, m.Producer.ID, m.Producer.Epoch, record.EndMarker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch}, n.now().UnixMilli())
	a, err := p.AppendMarker(b, m.Version)
	if err != nil {
		return func() error { return n.dataError(t, tp.Partition, err) }
	}
	return func() error { return n.dataError(t, tp.Partition, committed(ctx, a.Commit)) }
}

// committed waits until what was appended is committed.
func committed(ctx context.Context, c partition.Commit) error {
	for {
		done, err, changed := c.Poll()
		if done {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ErrTimedOut
		}
	}
}

// markerError puts what a group coordinator says that is not ready into the words of a partition that has no leader here:
// the coordinator of transactions knows no others.
func markerError(err error) error {
	for _, e := range []error{coordinator.ErrNotCoordinator, coordinator.ErrLoading, coordinator.ErrNotAvailable, coordinator.ErrTimedOut} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", ErrNotLeader, err)
		}
	}
	return err
}

// markerWriters writes the markers of decided transactions, one goroutine each, until every partition has its marker and the
// coordinator knows. It implements txn.Outside.
type markerWriters struct {
	n      *Node
	ctx    context.Context // ends with close
	cancel context.CancelFunc

	mu   sync.Mutex // around memory only
	jobs map[string]*markerJob
	wg   sync.WaitGroup
}

// markerJob is the writing of markers for one transactional id. There is one at a time: late markers of one transaction could
// end the next.
type markerJob struct {
	next *txn.Decision // asked for meanwhile
}

func newMarkerWriters(n *Node) *markerWriters {
	w := &markerWriters{n: n, jobs: map[string]*markerJob{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// close ends all goroutines. What was not written is written after the next start.
func (w *markerWriters) close() {
	w.mu.Lock()
	w.cancel()
	w.mu.Unlock()
	w.wg.Wait()
}

// start runs f in a goroutine that close waits for, unless that was called before. w.mu is held.
func (w *markerWriters) start(f func()) {
	if w.ctx.Err() == nil {
		w.wg.Go(f)
	}
}

// WriteMarkers implements txn.Outside.
func (w *markerWriters) WriteMarkers(d txn.Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if job := w.jobs[d.ID]; job != nil {
		job.next = &d
		return
	}
	job := &markerJob{}
	w.jobs[d.ID] = job
	w.start(func() { w.run(job, &d) })
}

// run writes the markers of a decision, and of those that were made meanwhile.
func (w *markerWriters) run(job *markerJob, d *txn.Decision) {
	for {
		w.write(d)
		if d = w.nextOf(job, d.ID); d == nil {
			return
		}
	}
}

// nextOf returns what has been asked for meanwhile, if it still stands; otherwise the job is over.
func (w *markerWriters) nextOf(job *markerJob, id string) *txn.Decision {
	for {
		w.mu.Lock()
		next := job.next
		if job.next = nil; next == nil || w.ctx.Err() != nil {
			delete(w.jobs, id)
			w.mu.Unlock()
			return nil
		}
		w.mu.Unlock()
		if w.stands(next) {
			return next
		}
	}
}

// stands tells whether a decision is still to be carried out. It may have been asked for twice, after the coordinator was
// loaded anew.
func (w *markerWriters) stands(d *txn.Decision) bool {
	tx, err := w.n.DescribeTransaction(nil, d.ID).Wait(w.ctx)
	if err != nil {
		return !errors.Is(err, coordinator.ErrNotCoordinator) && !errors.Is(err, txn.ErrNotFound)
	}
	want := txn.PrepareAbort
	if d.Commit {
		want = txn.PrepareCommit
	}
	return tx.State == want && tx.ProducerID == d.Producer.ID && tx.ProducerEpoch == d.Producer.Epoch
}

// The pauses between attempts to write a marker: markerRetry at first, twice as long each time.
const (
	markerRetry    = 20 * time.Millisecond
	markerRetryMax = time.Second
)

// write writes the markers of a decision and tells the coordinator.
func (w *markerWriters) write(d *txn.Decision) {
	m := &TxnMarker{Producer: d.Producer, Commit: d.Commit, CoordinatorEpoch: d.CoordinatorEpoch, Version: d.Version, Partitions: d.Partitions}
	for pause := markerRetry; ; pause = min(2*pause, markerRetryMax) {
		if m.Partitions = w.attempt(d, m, pause == markerRetryMax); len(m.Partitions) == 0 {
			break
		}
		if !w.sleep(pause) {
			return
		}
	}
	for pause := markerRetry; ; pause = min(2*pause, markerRetryMax) {
		_, err := onTxnShard(w.n, d.ID, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[struct{}]) {
			s.Complete(t, d.ID, d.Producer, reply)
		}).Wait(w.ctx)
		if err == nil || errors.Is(err, coordinator.ErrNotCoordinator) || errors.Is(err, txn.ErrInvalidState) || !w.sleep(pause) {
			return
		}
	}
}

// attempt writes markers, and returns the partitions to try again.
func (w *markerWriters) attempt(d *txn.Decision, m *TxnMarker, complain bool) (again []TxnPartition) {
	for i, err := range w.n.WriteTxnMarkers(w.ctx, nil, m) {
		p := m.Partitions[i]
		switch {
		case err == nil:
		case w.ctx.Err() != nil:
			again = append(again, p)
		case errors.Is(err, ErrInvalidProducerEpoch), errors.Is(err, ErrTransactionCoordinatorFenced):
			// The partition has seen a newer producer or coordinator, so nothing of this transaction is open there.
			w.n.log.Warn("a marker comes too late", "transactional_id", d.ID, "topic", p.Topic, "partition", p.Partition, "err", err)
		case w.gone(p):
			w.n.log.Info("a partition of a transaction was deleted", "transactional_id", d.ID, "topic", p.Topic, "partition", p.Partition)
		default:
			if complain {
				w.n.log.Warn("a marker cannot be written yet", "transactional_id", d.ID, "topic", p.Topic, "partition", p.Partition, "err", err)
			}
			again = append(again, p)
		}
	}
	return again
}

// gone tells whether a partition was deleted. Coordinators follow an image before it is shown: one without their own topic is from
// before the first, and has nothing to say about others.
func (w *markerWriters) gone(p TxnPartition) bool {
	img := w.n.Image()
	if _, ok := img.Topic(transactionTopicName); !ok {
		return false
	}
	_, ok := img.Partition(p.Topic, p.Partition)
	return !ok
}

// sleep waits, and returns false if the node closes meanwhile.
func (w *markerWriters) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// RotateAndAbort implements txn.Outside.
func (w *markerWriters) RotateAndAbort(id string, p coordinator.Producer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start(func() {
		for {
			fresh, err := w.n.producerIDs.next(w.ctx)
			if err == nil {
				_, err = onTxnShard(w.n, id, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[struct{}]) {
					s.AbortTimedOut(t, id, p, fresh, reply)
				}).Wait(w.ctx)
			}
			if err == nil || errors.Is(err, coordinator.ErrNotCoordinator) || errors.Is(err, txn.ErrInvalidState) || !w.sleep(markerRetryMax) {
				return
			}
		}
	})
}

// TimedOut implements txn.Outside.
func (w *markerWriters) TimedOut(tx *txn.Transaction) {
	w.n.log.Info("a transaction timed out and is aborted", "transactional_id", tx.ID, "producer_id", tx.ProducerID, "timeout_ms", tx.TimeoutMs)
}
