package partition

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"moldau/broker/metadata"
	"moldau/broker/storage"
	"moldau/internal/vfs"
)

func TestRestartKeepsRecordsAndPlaces(t *testing.T) {
	fs := vfs.NewMem()
	h := newHarness(t, fs, storage.Strict)
	kvs := topicKVs("events", metadata.NewTopicID(), 3, 2, nil)
	h.put(kvs...)
	must(t, wait(t, h.append(h.partition("events", 1), AcksAll, batch(t, "a", "b")).Commit))
	h.close()

	h = newHarness(t, fs, storage.Strict)
	defer h.close()
	h.put(kvs...)
	if n := h.m.SetAside(); n != 0 {
		t.Fatalf("%d logs were set aside", n)
	}
	p := h.partition("events", 1)
	if s := p.Status(); s.HighWatermark != 2 || s.LogEnd != 2 || s.LeaderEpoch != 3 {
		t.Fatalf("status %+v", s)
	}
	if got := h.values(p, 0, ToHighWatermark); !slices.Equal(got, []string{"0=a", "1=b"}) {
		t.Fatalf("read %q", got)
	}
}

// A topic that was deleted and made anew while the node was down must not show the records of the old one.
func TestStrayLogsAreSetAside(t *testing.T) {
	fs := vfs.NewMem()
	h := newHarness(t, fs, storage.Strict)
	h.put(topicKVs("again", metadata.NewTopicID(), 0, 1, nil)...)
	h.put(topicKVs("gone", metadata.NewTopicID(), 0, 1, nil)...)
	for _, name := range []string{"again", "gone"} {
		must(t, wait(t, h.append(h.partition(name, 0), AcksAll, batch(t, "old")).Commit))
	}
	h.close()

	h = newHarness(t, fs, storage.Strict)
	defer h.close()
	h.put(topicKVs("again", metadata.NewTopicID(), 1, 1, nil)...)
	if got := h.values(h.partition("again", 0), 0, ToLogEnd); len(got) != 0 {
		t.Fatalf("the new topic shows %q", got)
	}
	if n := h.m.SetAside(); n != 1 {
		t.Fatalf("%d logs were set aside, want that of the topic that is gone", n)
	}
	entries, err := fs.ReadDir("/data")
	must(t, err)
	strays := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-stray") {
			strays++
		}
	}
	if strays != 2 {
		t.Fatalf("%d stray directories, want 2: %v", strays, entries)
	}
}

func TestDeleteAndRecreate(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	old, kvs := h.create("events", 4)
	h.append(old, 1, batch(t, "old"))
	fresh := topicKVs("events", metadata.NewTopicID(), 5, 1, nil)
	h.put(append(deleted(kvs[1:]), fresh...)...) // both in one revision: the name goes from one id to the other
	p := h.partition("events", 0)
	if p == old || p.Log().End() != 0 {
		t.Fatal("the new topic has the old log")
	}
	if _, ok := h.m.TopicByID(old.Topic().ID); ok {
		t.Fatal("the old id is still known")
	}
	h.append(p, 1, batch(t, "new"))
	if got := h.values(p, 0, ToHighWatermark); !slices.Equal(got, []string{"0=new"}) {
		t.Fatalf("read %q", got)
	}
}

func TestTopicGrows(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	id := metadata.NewTopicID()
	h.put(topicKVs("events", id, 0, 1, nil)...)
	first := h.partition("events", 0)
	h.put(topicKVs("events", id, 0, 3, nil)[1:]...)
	if h.partition("events", 0) != first {
		t.Fatal("the first partition is another one")
	}
	h.append(h.partition("events", 2), 1, batch(t, "a"))
	if topic, _ := h.m.Topic("events"); topic.Partition(3) != nil || topic.Partition(-1) != nil {
		t.Fatal("partitions beyond the count")
	}
}

func TestConfigChangesReachLogs(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	id := metadata.NewTopicID()
	h.put(topicKVs("own", id, 0, 1, map[string]string{"retention.ms": "1000"})...)
	h.put(topicKVs("default", metadata.NewTopicID(), 0, 1, nil)...)
	retention := func(name string) int64 { return h.partition(name, 0).Log().Config().RetentionMs }
	if a, b := retention("own"), retention("default"); a != 1000 || b != 604_800_000 {
		t.Fatalf("retention %d and %d", a, b)
	}
	h.put(metadata.KV{
		Key:   metadata.ConfigKey(metadata.Resource{Type: metadata.BrokerResource}),
		Value: metadata.Encode(&metadata.ConfigRecord{Config: map[string]string{"log.retention.ms": "5000", "min.insync.replicas": "2"}}),
	})
	if a, b := retention("own"), retention("default"); a != 1000 || b != 5000 {
		t.Fatalf("retention %d and %d after the broker's default changed", a, b)
	}
	h.put(topicKVs("own", id, 0, 1, nil)[1])
	if a := retention("own"); a != 5000 {
		t.Fatalf("retention %d after the override was removed", a)
	}
}

// A log that cannot be made (a full disk, for instance) makes its partition answer with the reason, and is tried again.
func TestLogThatCannotBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := vfs.NewFaulty(vfs.NewMem())
		h := newHarness(t, faulty, storage.Relaxed)
		defer h.close()
		remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpMkdir}, Path: "events-0", Err: syscall.ENOSPC})
		p, kvs := h.create("events", 0)
		if _, err := p.Append(batch(t, "a"), 1, storage.OriginClient); !errors.Is(err, storage.ErrNoSpace) {
			t.Fatalf("append without a log: %v", err)
		}
		if _, err := p.Earliest(-1); !errors.Is(err, storage.ErrNoSpace) {
			t.Fatalf("earliest without a log: %v", err)
		}
		h.put(kvs[2]) // nothing breaks when such a partition changes
		remove()
		time.Sleep(2 * retryInterval) //nolint:forbidigo // fake time of synctest
		synctest.Wait()
		h.append(h.partition("events", 0), 1, batch(t, "a"))
	})
}

func TestRetentionAndExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, vfs.NewMem(), storage.Relaxed)
		defer h.close()
		h.put(topicKVs("events", metadata.NewTopicID(), 0, 1, map[string]string{"retention.ms": "60000"})...)
		p := h.partition("events", 0)
		h.append(p, 1, buildBatch(t, idempotent(5, 0, 0), "a", "b"))
		h.setNow(h.clock().Add(2 * time.Hour))
		time.Sleep(2 * time.Minute) //nolint:forbidigo // fake time of synctest
		synctest.Wait()
		if s := p.Status(); s.LogStart != 2 || s.HighWatermark != 2 {
			t.Fatalf("old records are still there: %+v", s)
		}
		if got, err := p.Producers(); err != nil || len(got) != 0 {
			t.Fatalf("idle producers are still known: %+v, %v", got, err)
		}
	})
}

// A log that was shortened below what was known to be on disk takes no writes, and is read as far as it goes.
func TestDamagedLogIsReadOnly(t *testing.T) {
	fs := vfs.NewMem()
	h := newHarness(t, fs, storage.Strict)
	p, kvs := h.create("events", 3)
	for _, v := range []string{"a", "b", "c"} {
		must(t, wait(t, h.append(p, AcksAll, batch(t, v)).Commit))
	}
	h.close()
	f, err := fs.OpenFile("/data/events-0/00000000000000000000.log", os.O_RDWR, 0)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	must(t, f.Truncate(size-10))
	must(t, f.Close())

	h = newHarness(t, fs, storage.Strict)
	defer func() {
		h.m.Close()
		_ = h.engine.Close(t.Context())
	}()
	kvs[2] = partitionKV(p.Topic().ID, 0, metadata.PartitionRecord{Replicas: []int32{self}, ISR: []int32{self}, Leader: self, LeaderEpoch: 4})
	h.put(kvs...)
	p = h.partition("events", 0)
	if err := errOf(p.Append(batch(t, "d"), 1, storage.OriginClient)); !errors.Is(err, storage.ErrReadOnly) {
		t.Fatalf("append to a damaged log: %v", err)
	}
	if got := h.values(p, 0, ToHighWatermark); !slices.Equal(got, []string{"0=a", "1=b"}) {
		t.Fatalf("read %q", got)
	}
}

func TestLostTopicIDIsAdopted(t *testing.T) {
	fs := vfs.NewMem()
	h := newHarness(t, fs, storage.Strict)
	p, kvs := h.create("events", 0)
	must(t, wait(t, h.append(p, AcksAll, batch(t, "a")).Commit))
	h.close()
	must(t, fs.Remove("/data/events-0/partition.metadata"))
	for range 2 {
		h = newHarness(t, fs, storage.Strict)
		h.put(kvs...)
		p = h.partition("events", 0)
		if got := h.values(p, 0, ToHighWatermark); !slices.Equal(got, []string{"0=a"}) || p.Log().TopicID() != storage.TopicID(p.Topic().ID) {
			t.Fatalf("read %q of topic %s", got, p.Log().TopicID())
		}
		h.close()
	}
}

func TestReplicaThatMovesAway(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Relaxed)
	defer h.close()
	p, _ := h.create("events", 0)
	id := p.Topic().ID
	a := h.append(p, AcksAll, batch(t, "a"))
	h.put(partitionKV(id, 0, metadata.PartitionRecord{Replicas: []int32{2}, ISR: []int32{2}, Leader: 2, LeaderEpoch: 1}))
	must(t, wait(t, a.Commit))
	if err := errOf(p.Append(batch(t, "b"), 1, storage.OriginClient)); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("append: %v", err)
	}
	topic, _ := h.m.Topic("events")
	if topic.Partition(0) != nil || len(h.engine.Logs()) != 0 {
		t.Fatal("the replica is still here")
	}
	h.put(partitionKV(id, 0, metadata.PartitionRecord{Replicas: []int32{self}, ISR: []int32{self}, Leader: self, LeaderEpoch: 2}))
	h.append(h.partition("events", 0), 1, batch(t, "fresh"))
}
