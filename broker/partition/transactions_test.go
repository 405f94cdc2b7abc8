package partition

import (
	"errors"
	"testing"

	"moldau/broker/metadata"
	"moldau/broker/record"
	"moldau/broker/storage"
	"moldau/internal/vfs"
)

// transact appends one record of a producer's transaction.
func (h *harness) transact(p *Partition, producer int64, sequence int32, value string) Appended {
	h.t.Helper()
	o := idempotent(producer, 0, sequence)
	o.Transactional = true
	guard, _, err := p.BeginVerification(producer, 0, sequence)
	must(h.t, err)
	a, err := p.AppendVerified(buildBatch(h.t, o, value), AcksAll, guard)
	must(h.t, err)
	return a
}

// mark ends a producer's transaction.
func (h *harness) mark(p *Partition, producer int64, commit bool) Appended {
	h.t.Helper()
	a, err := p.AppendMarker(record.AppendEndMarker(nil, producer, 0, record.EndMarker{Commit: commit}, 1_700_000_000_000), 0)
	must(h.t, err)
	return a
}

// aborted returns the producers of the transactions that a reader of committed ones is told to pass over.
func (h *harness) aborted(p *Partition, from int64) (out []int64) {
	h.t.Helper()
	r, err := p.Read(ReadSpec{Offset: from, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1 << 20, WholeBatch: true, Horizon: ToLastStable})
	must(h.t, err)
	defer r.Records.Release()
	for _, a := range r.Aborted {
		out = append(out, a.ProducerID)
	}
	return out
}

func TestReadersOfCommittedTransactions(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Strict)
	defer h.close()
	p, _ := h.create("events", 0)
	stable := func(want int64) {
		t.Helper()
		if s := p.Status(); s.LastStable != want {
			t.Errorf("last stable offset %d, want %d; status %+v", s.LastStable, want, s)
		}
	}
	must(t, wait(t, h.transact(p, 7, 0, "a").Commit))
	must(t, wait(t, h.transact(p, 8, 0, "b").Commit))
	stable(0)
	if got := h.values(p, 0, ToLastStable); len(got) != 0 {
		t.Errorf("read %v before anything was decided", got)
	}
	if at, err := p.Latest(-1, ToLastStable); err != nil || at.Offset != 0 {
		t.Errorf("latest %+v %v", at, err)
	}
	// A reader that waits is woken by the marker.
	w := NewWaiter(1)
	defer w.Close()
	p.mu.Lock()
	seen := p.mark(ToLastStable)
	p.mu.Unlock()
	w.Watch(0, p, ToLastStable, seen)
	must(t, wait(t, h.transact(p, 7, 1, "c").Commit))
	if got := w.Changed(); len(got) != 0 {
		t.Error("woken by an open transaction")
	}
	must(t, wait(t, h.mark(p, 7, false).Commit))
	<-w.C()
	stable(1)
	if got := h.aborted(p, 0); len(got) != 1 || got[0] != 7 {
		t.Errorf("aborted %v", got)
	}
	must(t, wait(t, h.mark(p, 8, true).Commit))
	stable(5)
	if got := h.aborted(p, 1); len(got) != 1 || got[0] != 7 {
		t.Errorf("aborted %v", got)
	}
	if got := h.aborted(p, 4); len(got) != 0 {
		t.Errorf("aborted %v behind the marker", got)
	}
}

// TestMarkerIsNotStableBeforeItsFlush holds the flush of a marker back: what it decides must not be shown, since a power cut could take
// it back.
func TestMarkerIsNotStableBeforeItsFlush(t *testing.T) {
	fs, hold := gatedFS()
	h := newHarness(t, fs, storage.Strict)
	p, _ := h.create("events", 0)
	must(t, wait(t, h.transact(p, 7, 0, "a").Commit))
	release := hold()
	a := h.mark(p, 7, true)
	if got := h.values(p, 0, ToLastStable); len(got) != 0 {
		t.Errorf("read %v", got)
	}
	release()
	must(t, wait(t, a.Commit))
	if s := p.Status(); s.LastStable != 2 {
		t.Errorf("status %+v", s)
	}
	h.close()
}

// TestTransactionsSurviveRestart opens a partition again with a transaction that is open and one that was aborted.
func TestTransactionsSurviveRestart(t *testing.T) {
	fs := vfs.NewMem()
	h := newHarness(t, fs, storage.Strict)
	p, kvs := h.create("events", 0)
	h.transact(p, 7, 0, "aborted")
	h.mark(p, 7, false)
	h.transact(p, 8, 0, "open")
	must(t, wait(t, h.transact(p, 9, 0, "open too").Commit))
	h.close()

	h = newHarness(t, fs, storage.Strict)
	defer h.close()
	h.put(kvs...)
	p = h.partition("events", 0)
	if s := p.Status(); s.LastStable != 2 || s.HighWatermark != 4 {
		t.Errorf("status %+v", s)
	}
	if got := h.aborted(p, 0); len(got) != 1 || got[0] != 7 {
		t.Errorf("aborted %v", got)
	}
	must(t, wait(t, h.mark(p, 8, true).Commit))
	if s := p.Status(); s.LastStable != 3 {
		t.Errorf("status %+v", s)
	}
}

func TestVerificationNeedsTheLeader(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 0)
	h.put(partitionKV(p.Topic().ID, 0, metadata.PartitionRecord{Replicas: []int32{2, self}, ISR: []int32{2, self}, Leader: 2, LeaderEpoch: 1}))
	if _, _, err := p.BeginVerification(7, 0, 0); !errors.Is(err, ErrNotLeader) {
		t.Errorf("a follower verifies: %v", err)
	}
	if _, err := p.AppendMarker(record.AppendEndMarker(nil, 7, 0, record.EndMarker{}, 1), 0); !errors.Is(err, ErrNotLeader) {
		t.Errorf("a follower takes a marker: %v", err)
	}
}
