package partition

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"moldau/broker/metadata"
	"moldau/broker/storage"
	"moldau/internal/vfs"
)

func TestAppendIsVisibleOnceCommitted(t *testing.T) {
	for _, d := range []storage.Durability{storage.Strict, storage.Relaxed} {
		t.Run(d.String(), func(t *testing.T) {
			h := newHarness(t, vfs.NewMem(), d)
			defer h.close()
			p, _ := h.create("events", 3)
			a := h.append(p, AcksAll, batch(t, "a", "b"))
			if a.BaseOffset != 0 || a.End != 2 {
				t.Fatalf("appended at %d to %d", a.BaseOffset, a.End)
			}
			must(t, wait(t, a.Commit))
			b := h.append(p, 1, batch(t, "c"))
			must(t, wait(t, b.Commit))
			if got, want := h.values(p, 1, ToHighWatermark), []string{"1=b", "2=c"}; !slices.Equal(got, want) {
				t.Fatalf("read %q, want %q", got, want)
			}
			if s := p.Status(); s.HighWatermark != 3 || s.LogEnd != 3 || s.LeaderEpoch != 3 || !s.Leads {
				t.Fatalf("status %+v", s)
			}
		})
	}
}

// A consumer must not see what a power cut could take back, and neither may a producer be told that it is safe.
func TestStrictHidesWhatIsNotFlushed(t *testing.T) {
	fs, hold := gatedFS()
	h := newHarness(t, fs, storage.Strict)
	defer h.close()
	p, _ := h.create("events", 0)
	release := hold()
	a := h.append(p, AcksAll, batch(t, "a"))
	if done, _, changed := a.Commit.Poll(); done || changed == nil {
		t.Fatal("committed before it was flushed")
	}
	if got := h.values(p, 0, ToHighWatermark); len(got) != 0 {
		t.Fatalf("a consumer sees %q", got)
	}
	if got := h.values(p, 0, ToLogEnd); !slices.Equal(got, []string{"0=a"}) {
		t.Fatalf("a replica sees %q", got)
	}
	release()
	must(t, wait(t, a.Commit))
	if got := h.values(p, 0, ToLastStable); !slices.Equal(got, []string{"0=a"}) {
		t.Fatalf("a consumer sees %q after the flush", got)
	}
}

// A topic with flush.messages=1 is as safe under relaxed durability as it is in Apache Kafka, which flushes before it answers.
func TestFlushMessagesHoldsTheAnswer(t *testing.T) {
	fs, hold := gatedFS()
	h := newHarness(t, fs, storage.Relaxed)
	defer h.close()
	h.put(topicKVs("events", metadata.NewTopicID(), 0, 1, map[string]string{"flush.messages": "1"})...)
	p := h.partition("events", 0)
	release := hold()
	a := h.append(p, AcksAll, batch(t, "a"))
	if done, _, changed := a.Commit.Poll(); done || changed == nil {
		t.Fatal("committed before it was flushed")
	}
	release()
	must(t, wait(t, a.Commit))
}

// A retry of a batch whose original is not on disk yet waits with the original: it was answered at once in an early
// design, which would have acknowledged a record that a power cut takes back.
func TestDuplicateWaitsWithTheOriginal(t *testing.T) {
	fs, hold := gatedFS()
	h := newHarness(t, fs, storage.Strict)
	defer h.close()
	p, _ := h.create("events", 0)
	release := hold()
	first := h.append(p, AcksAll, buildBatch(t, idempotent(7, 0, 0), "a"))
	again := h.append(p, AcksAll, buildBatch(t, idempotent(7, 0, 0), "a"))
	if !again.Duplicate || again.BaseOffset != first.BaseOffset || p.Log().End() != 1 {
		t.Fatalf("retry was appended: %+v", again)
	}
	if done, _, _ := again.Commit.Poll(); done {
		t.Fatal("retry is acknowledged before the original")
	}
	must(t, p.MayAppend(buildBatch(t, idempotent(7, 0, 0), "a"), AcksAll))
	if err := p.MayAppend(buildBatch(t, idempotent(7, 0, 5), "a"), AcksAll); !errors.Is(err, storage.ErrOutOfOrderSequence) {
		t.Fatalf("a gap, asked beforehand: %v", err)
	}
	if p.Log().End() != 1 {
		t.Fatal("a question was appended")
	}
	release()
	must(t, wait(t, again.Commit))
	must(t, wait(t, first.Commit))
}

func TestAppendRefusals(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	id := metadata.NewTopicID()
	kvs := topicKVs("events", id, 4, 1, map[string]string{"min.insync.replicas": "2"})
	h.put(kvs...)
	p := h.partition("events", 0)
	must(t, errOf(p.Append(batch(t, "one replica only: two are not asked"), AcksAll, storage.OriginClient)))

	h.put(partitionKV(id, 0, metadata.PartitionRecord{Replicas: []int32{self, 2}, ISR: []int32{self}, Leader: self, LeaderEpoch: 4}))
	if err := errOf(p.Append(batch(t, "x"), AcksAll, storage.OriginClient)); !errors.Is(err, ErrNotEnoughReplicas) {
		t.Fatalf("under min.insync.replicas with acks=all: %v", err)
	}
	if err := p.MayAppend(batch(t, "x"), AcksAll); !errors.Is(err, ErrNotEnoughReplicas) {
		t.Fatalf("asked beforehand: %v", err)
	}
	must(t, p.MayAppend(batch(t, "x"), 1))
	if err := p.MayAppend(buildBatch(t, idempotent(7, 0, 3), "a gap is none for a producer that nobody knows"), 1); err != nil {
		t.Fatalf("an unknown producer: %v", err)
	}
	a := h.append(p, 1, batch(t, "acks=1 is taken"))
	if done, _, _ := a.Commit.Poll(); done {
		t.Fatal("committed although too few replicas are in sync")
	}

	h.put(partitionKV(id, 0, metadata.PartitionRecord{Replicas: []int32{self, 2}, ISR: []int32{2}, Leader: 2, LeaderEpoch: 5}))
	if err := errOf(p.Append(batch(t, "x"), 1, storage.OriginClient)); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("as a follower: %v", err)
	}
	if err := p.MayAppend(batch(t, "x"), 1); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("asked beforehand as a follower: %v", err)
	}
	if err := wait(t, a.Commit); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("a wait of an ended reign: %v", err)
	}
	if _, err := p.Read(ReadSpec{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1}); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("read from a follower: %v", err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// What a reign has committed stays acknowledged, even if the producer asks after the reign has ended.
func TestCommitOutlivesItsReign(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, kvs := h.create("events", 0)
	a := h.append(p, AcksAll, batch(t, "a"))
	h.put(deleted(kvs)...)
	must(t, wait(t, a.Commit))
	if err := errOf(p.Append(batch(t, "b"), 1, storage.OriginClient)); !errors.Is(err, ErrUnknown) {
		t.Fatalf("append to a deleted topic: %v", err)
	}
	if _, err := p.Read(ReadSpec{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1}); !errors.Is(err, ErrUnknown) {
		t.Fatalf("read of a deleted topic: %v", err)
	}
}

func TestDeletionEndsWaits(t *testing.T) {
	fs, hold := gatedFS()
	h := newHarness(t, fs, storage.Strict)
	p, kvs := h.create("events", 0)
	release := hold()
	a := h.append(p, AcksAll, batch(t, "a"))
	w := NewWaiter(1)
	r, err := p.Read(ReadSpec{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1})
	must(t, err)
	w.Watch(0, p, ToHighWatermark, r.Mark)
	go h.put(deleted(kvs)...)
	if err := wait(t, a.Commit); !errors.Is(err, ErrUnknown) {
		t.Errorf("commit ended with %v", err)
	}
	<-w.C()
	if got := w.Changed(); !slices.Equal(got, []int32{0}) {
		t.Errorf("changed %v", got)
	}
	w.Close()
	release()
	h.m.turn <- struct{}{} // the deletion is over
	<-h.m.turn
	h.close()
}

func TestEpochsFence(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 5)
	id := p.Topic().ID
	h.append(p, 1, batch(t, "a", "b"))
	h.put(partitionKV(id, 0, metadata.PartitionRecord{Replicas: []int32{self}, ISR: []int32{self}, Leader: self, LeaderEpoch: 8}))
	h.append(p, 1, batch(t, "c"))
	read := func(epoch, last int32, offset int64) (Reading, error) {
		return p.Read(ReadSpec{Offset: offset, CurrentLeaderEpoch: epoch, LastFetchedEpoch: last, MaxBytes: 1 << 20, WholeBatch: true})
	}
	for _, c := range []struct {
		name        string
		epoch, last int32
		offset      int64
		want        error
		diverging   int32 // -1: none
		end         int64
	}{
		{"no epochs", -1, -1, 0, nil, -1, 0},
		{"older leader epoch", 5, -1, 0, ErrFencedLeaderEpoch, -1, 0},
		{"newer leader epoch", 9, -1, 0, ErrUnknownLeaderEpoch, -1, 0},
		{"same history", 8, 5, 2, nil, -1, 0},
		{"went further in an old epoch", 8, 5, 3, nil, 5, 2},
		{"epoch that was never here", 8, 7, 2, nil, 5, 2},
		{"epoch of the future", 8, 9, 2, storage.ErrOffsetOutOfRange, -1, 0},
		{"beyond the end", -1, -1, 4, storage.ErrOffsetOutOfRange, -1, 0},
	} {
		r, err := read(c.epoch, c.last, c.offset)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if r.Diverges != (c.diverging >= 0) || r.Diverges && (r.DivergingEpoch != c.diverging || r.DivergingEnd != c.end) {
			t.Errorf("%s: diverges %v at %d, %d", c.name, r.Diverges, r.DivergingEpoch, r.DivergingEnd)
		}
		if r.Diverges && r.Records.Len() > 0 {
			t.Errorf("%s: records beside a divergence", c.name)
		}
		r.Records.Release()
	}
	if epoch, end, err := p.EndOfEpoch(-1, 6); epoch != 5 || end != 2 || err != nil {
		t.Errorf("end of epoch 6: %d, %d, %v", epoch, end, err)
	}
}

func TestOffsets(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 2)
	if f, err := p.Earliest(-1); err != nil || f.Offset != 0 {
		t.Fatalf("earliest of an empty log: %+v, %v", f, err)
	}
	if f, err := p.Latest(-1, ToHighWatermark); err != nil || f != (Found{Offset: 0, Timestamp: -1, LeaderEpoch: 2}) {
		t.Fatalf("latest of an empty log: %+v, %v", f, err)
	}
	h.append(p, 1, batch(t, "a", "b", "c")) // timestamps 1,700,000,000,000 and the two after it
	if f, err := p.AtTime(-1, ToHighWatermark, 1_700_000_000_001); err != nil || f != (Found{Offset: 1, Timestamp: 1_700_000_000_001, LeaderEpoch: 2}) {
		t.Fatalf("at a time: %+v, %v", f, err)
	}
	if f, err := p.AtTime(-1, ToHighWatermark, 1_700_000_000_003); err != nil || f != notFound {
		t.Fatalf("after the last record: %+v, %v", f, err)
	}
	if f, err := p.AtMaxTime(-1, ToHighWatermark); err != nil || f.Offset != 2 {
		t.Fatalf("largest timestamp: %+v, %v", f, err)
	}
	if f, err := p.Tiered(-1); err != nil || f != notFound {
		t.Fatalf("tiered: %+v, %v", f, err)
	}
	if _, err := p.Latest(1, ToHighWatermark); !errors.Is(err, ErrFencedLeaderEpoch) {
		t.Fatalf("old epoch: %v", err)
	}
	for _, c := range []struct {
		offset, want int64
		err          error
	}{{4, -1, storage.ErrOffsetOutOfRange}, {-2, -1, storage.ErrOffsetOutOfRange}, {2, 2, nil}, {1, 2, nil}, {-1, 3, nil}} {
		if low, err := p.DeleteBefore(c.offset); low != c.want || !errors.Is(err, c.err) {
			t.Errorf("delete before %d: %d, %v", c.offset, low, err)
		}
	}
	if f, err := p.Earliest(-1); err != nil || f.Offset != 3 || p.Status().LogStart != 3 {
		t.Fatalf("earliest after deletion: %+v, %v", f, err)
	}
	if _, err := p.Read(ReadSpec{Offset: 2, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1}); !errors.Is(err, storage.ErrOffsetOutOfRange) {
		t.Fatalf("read below the start: %v", err)
	}
}

func TestOfflineDirectory(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	h := newHarness(t, faulty, storage.Strict)
	p, _ := h.create("events", 0)
	faulty.Inject(vfs.Rule{Ops: flushes, Err: syscall.EIO})
	a := h.append(p, AcksAll, batch(t, "a"))
	if err := wait(t, a.Commit); !errors.Is(err, storage.ErrStorage) {
		t.Errorf("commit after a failed fsync: %v", err)
	}
	if _, err := p.Append(batch(t, "b"), 1, storage.OriginClient); !errors.Is(err, storage.ErrStorage) {
		t.Errorf("append to an offline directory: %v", err)
	}
	if s := p.Status(); s.Leads || !errors.Is(s.Err, storage.ErrStorage) {
		t.Errorf("status %+v", s)
	}
	h.m.Close()
	_ = h.engine.Close(t.Context()) // says that the directory is offline
}

func TestProducersAreListed(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 0)
	h.append(p, 1, buildBatch(t, idempotent(9, 3, 0), "a", "b"))
	got, err := p.Producers()
	must(t, err)
	if len(got) != 1 || got[0].ProducerID != 9 || got[0].ProducerEpoch != 3 || got[0].LastSequence != 1 {
		t.Fatalf("producers %+v", got)
	}
	if err := errOf(p.Append(buildBatch(t, idempotent(9, 3, 5), "gap"), 1, storage.OriginClient)); !errors.Is(err, storage.ErrOutOfOrderSequence) {
		t.Fatalf("gap: %v", err)
	}
}

// An append of the old epoch that is under way when a new one begins ends before the new epoch is noted, and none comes
// in between: else the log would hold a batch of the old epoch behind the start of the new one.
func TestNewEpochWaitsForAppends(t *testing.T) {
	gate, writing := make(chan struct{}), make(chan struct{}, 1)
	fs := vfs.NewFaultyWith(vfs.NewMem(), vfs.FaultyOptions{Sleep: func(time.Duration) {
		writing <- struct{}{}
		<-gate
	}})
	h := newHarness(t, fs, storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 1)
	h.append(p, 1, batch(t, "a"))
	fs.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpWrite}, Path: "*.log", Delay: time.Hour, Times: 1})

	appended, assigned := make(chan error, 1), make(chan struct{})
	go func() { appended <- errOf(p.Append(batch(t, "b"), 1, storage.OriginClient)) }()
	<-writing
	go func() {
		h.put(partitionKV(p.Topic().ID, 0, metadata.PartitionRecord{Replicas: []int32{self}, ISR: []int32{self}, Leader: self, LeaderEpoch: 2}))
		close(assigned)
	}()
	for changing := false; !changing; runtime.Gosched() {
		p.mu.Lock()
		changing = p.changing
		p.mu.Unlock()
	}
	if err := errOf(p.Append(batch(t, "x"), 1, storage.OriginClient)); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("append while the epoch changes: %v", err)
	}
	close(gate)
	must(t, <-appended)
	<-assigned
	h.append(p, 1, batch(t, "c"))
	if epoch, end, err := p.EndOfEpoch(-1, 1); epoch != 1 || end != 2 || err != nil {
		t.Fatalf("epoch 1 ends as %d at %d, %v", epoch, end, err)
	}
	if got := h.values(p, 0, ToHighWatermark); !slices.Equal(got, []string{"0=a", "1=b", "2=c"}) {
		t.Fatalf("read %q", got)
	}
}

// Replicas that fall out of sync between the append and its commit make the producer doubt, as in Kafka.
func TestNotEnoughReplicasAfterAppend(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	id := metadata.NewTopicID()
	both := metadata.PartitionRecord{Replicas: []int32{self, 2}, ISR: []int32{self, 2}, Leader: self}
	kvs := topicKVs("events", id, 0, 1, map[string]string{"min.insync.replicas": "2"})
	h.put(kvs...)
	p := h.partition("events", 0)
	first := h.append(p, AcksAll, batch(t, "alone"))
	h.put(partitionKV(id, 0, both))
	a := h.append(p, AcksAll, batch(t, "a"))
	if done, _, _ := a.Commit.Poll(); done {
		t.Fatal("committed without the other replica")
	}
	both.ISR = []int32{self}
	h.put(partitionKV(id, 0, both))
	if done, _, _ := a.Commit.Poll(); done {
		t.Fatal("committed under min.insync.replicas")
	}
	if _, err, _ := first.Commit.Poll(); !errors.Is(err, ErrNotEnoughReplicasAfterAppend) {
		t.Fatalf("committed, and too few replicas since: %v", err)
	}
}

func TestLogClosedBelowThePartition(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	p, _ := h.create("events", 0)
	h.append(p, 1, batch(t, "a"))
	must(t, h.engine.Close(t.Context()))
	if err := errOf(p.Append(batch(t, "b"), 1, storage.OriginClient)); !errors.Is(err, storage.ErrClosed) {
		t.Fatalf("append: %v", err)
	}
	h.m.Close()
	spec := ReadSpec{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1}
	if _, err := p.Read(spec); !errors.Is(err, ErrClosed) {
		t.Fatalf("read: %v", err)
	}
	if err := errOf(p.Append(batch(t, "b"), 1, storage.OriginClient)); !errors.Is(err, ErrClosed) {
		t.Fatalf("append: %v", err)
	}
}
