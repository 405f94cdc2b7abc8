package partition

import (
	"slices"
	"sync"
	"testing"

	"moldau/broker/storage"
	"moldau/internal/vfs"
)

// A change that comes between a read and the registration of its waiter must wake it: nobody else would.
func TestWatchAfterTheChange(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 0)
	r, err := p.Read(ReadSpec{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1})
	must(t, err)
	h.append(p, 1, batch(t, "a"))
	w := NewWaiter(1)
	defer w.Close()
	w.Watch(0, p, ToHighWatermark, r.Mark)
	select {
	case <-w.C():
	default:
		t.Fatal("not woken")
	}
}

func TestWaiterToldOfEachPartition(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	a, _ := h.create("a", 0)
	b, _ := h.create("b", 0)
	w := NewWaiter(2)
	mark := func(p *Partition) Mark {
		r, err := p.Read(ReadSpec{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1})
		must(t, err)
		return r.Mark
	}
	w.Watch(0, a, ToHighWatermark, mark(a))
	w.Watch(1, b, ToLogEnd, mark(b))
	if got := w.Changed(); len(got) != 0 {
		t.Fatalf("changed before anything happened: %v", got)
	}
	h.append(b, 1, batch(t, "1"))
	h.append(b, 1, batch(t, "2"))
	<-w.C()
	if got := w.Changed(); !slices.Equal(got, []int32{1}) {
		t.Fatalf("changed %v", got)
	}
	w.Seen(1, mark(b))
	if got := w.Changed(); len(got) != 0 {
		t.Fatalf("changed after all was seen: %v", got)
	}
	h.append(a, 1, batch(t, "1"))
	<-w.C()
	if got := w.Changed(); !slices.Equal(got, []int32{0}) {
		t.Fatalf("changed %v", got)
	}
	w.Close()
	h.append(a, 1, batch(t, "2"))
	if got := w.Changed(); len(got) != 0 || a.watches != nil || b.watches != nil || b.endWatches != 0 {
		t.Fatalf("told %v after it was closed", got)
	}
}

// Readers and writers come and go at the same time as the high watermark moves; the race detector and the list's own
// links are the judges.
func TestWaitersUnderLoad(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Strict)
	defer h.close()
	p, _ := h.create("events", 0)
	const writers, readers, each = 4, 4, 50
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				a, err := p.Append(batch(t, "x"), AcksAll, storage.OriginClient)
				if err == nil {
					err = wait(t, a.Commit)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range readers {
		wg.Go(func() { readUntil(t, p, writers*each) })
	}
	wg.Wait()
	if p.watches != nil || p.changed != nil {
		t.Fatal("somebody is still registered")
	}
}

// readUntil follows a partition with a waiter of its own for each step, up to an offset.
func readUntil(t *testing.T, p *Partition, end int64) {
	for next := int64(0); next < end; {
		r, err := p.Read(ReadSpec{Offset: next, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1 << 20, WholeBatch: true})
		if err != nil {
			t.Error(err)
			return
		}
		r.Records.Release()
		if r.Mark.limit > next {
			next = r.Mark.limit
			continue
		}
		w := NewWaiter(1)
		w.Watch(0, p, ToHighWatermark, r.Mark)
		<-w.C()
		w.Close()
	}
}
