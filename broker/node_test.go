package broker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/controller"
	"moldau/internal/vfs"
)

func specOf(name string, partitions int32, config map[string]string) controller.TopicSpec {
	return controller.TopicSpec{Name: name, Partitions: partitions, ReplicationFactor: -1, Config: config}
}

func TestStartRegistersTheBroker(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.NodeID, c.Rack = 7, "a" })
	must(t, n.Ready())
	b, ok := n.Image().Broker(7)
	if !ok || b.Fenced || b.Rack != "a" || len(b.Endpoints) != 1 || b.Endpoints[0].Port != 9092 {
		t.Fatalf("registered as %+v", b)
	}
	if n.Image().ClusterID() == "" {
		t.Fatal("the cluster has no id")
	}
	must(t, n.Close(t.Context()))
	if err := n.Ready(); !errors.Is(err, ErrClosed) {
		t.Fatalf("ready after Close: %v", err)
	}
	must(t, n.Close(t.Context())) // twice does no harm
}

// The whole of it: the embedded store and files on disk, opened by the node itself.
func TestStartOnDisk(t *testing.T) {
	cfg := DefaultConfig()
	cfg.DataDir = t.TempDir()
	n, err := Start(t.Context(), cfg, Deps{})
	must(t, err)
	cluster := n.Image().ClusterID()
	test := &testNode{Node: n, t: t}
	topic := test.topic("events", 3)
	test.mustProduce(topic, 2, plain(t, "a", "b"))
	must(t, n.Close(t.Context()))

	n, err = Start(t.Context(), cfg, Deps{})
	must(t, err)
	defer func() { must(t, n.Close(context.Background())) }()
	test.Node = n
	if n.Image().ClusterID() != cluster {
		t.Fatal("another cluster id after a restart")
	}
	equal(t, "records", test.read(topic, 2, 0), []string{"0=a", "1=b"})
	if names, err := filepath.Glob(filepath.Join(cfg.DataDir, "log", "events-2", "*.log")); err != nil || len(names) != 1 {
		t.Fatalf("segments %v, %v", names, err)
	}
}

func TestStartRefuses(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Durability, cfg.NumPartitions = "maybe", 0
	if _, err := Start(t.Context(), cfg, Deps{}); err == nil || !strings.Contains(err.Error(), "durability") || !strings.Contains(err.Error(), "num.partitions") {
		t.Fatalf("a wrong configuration: %v", err)
	}
	n := startNode(t)
	second := n.deps
	second.FS = vfs.NewMem()
	if _, err := Start(t.Context(), n.cfg, second); !errors.Is(err, controller.ErrDuplicateBroker) {
		t.Fatalf("a second broker with the same id: %v", err)
	}
	other := n.cfg
	other.NodeID = 2
	if _, err := Start(t.Context(), other, n.deps); err == nil {
		t.Fatal("a second broker in the same log directory")
	}
	must(t, n.Ready())
}

// A topic that the image shows must be served: clients use it as soon as they have heard of it.
func TestImageShowsOnlyWhatIsServed(t *testing.T) {
	n := startNode(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			n.topic("topic-"+string(rune('a'+i%26))+string(rune('a'+i/26)), 2)
		}
	}()
	for seen := 0; seen < 50; {
		img := n.Image()
		seen = img.TopicCount()
		for topic := range img.Topics() {
			for i := range topic.Partitions {
				if _, p, err := n.find(TopicRef{ID: topic.ID}, int32(i)); err != nil || !p.Status().Leads {
					t.Fatalf("%s-%d is shown and not served: %v", topic.Name, i, err)
				}
			}
		}
	}
	<-done
}

func TestDeleteAndRecreateGivesAnotherTopic(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "old"))
	old, _ := n.Image().Topic("events")
	pending := n.Produce(testCaller, topic, 0, plain(t, "last"), -1)
	_, err := n.controller.DeleteTopic(t.Context(), controller.TopicRef{Name: "events"})
	must(t, err)
	pending.Wait(t.Context())
	if pending.Err != nil && !errors.Is(pending.Err, ErrUnknownTopicOrPartition) {
		t.Fatalf("a wait on a deleted topic ended with %v", pending.Err)
	}
	n.topic("events", 1)
	if got := n.read(topic, 0, 0); len(got) != 0 {
		t.Fatalf("the new topic shows %v", got)
	}
	fresh, _ := n.Image().Topic("events")
	if fresh.ID == old.ID || fresh.Partitions[0].LeaderEpoch <= old.Partitions[0].LeaderEpoch {
		t.Fatalf("epoch %d after %d", fresh.Partitions[0].LeaderEpoch, old.Partitions[0].LeaderEpoch)
	}
	if p := n.produce(TopicRef{ID: old.ID}, 0, plain(t, "x")); !errors.Is(p.Err, ErrUnknownTopicID) {
		t.Fatalf("produce to the old id: %v", p.Err)
	}
	if p := n.produce(TopicRef{ID: fresh.ID}, 0, plain(t, "new")); p.Err != nil || p.BaseOffset != 0 {
		t.Fatalf("produce to the new id: %+v", p)
	}
}

// If recovery had to cut a log, consumers may have seen what is gone: a new leader epoch lets them notice.
func TestCutLogBeginsANewLeaderEpoch(t *testing.T) {
	fs := vfs.NewMem()
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.FS = fs })
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a"))
	must(t, n.partitionOf(topic, 0).Log().Flush(t.Context()))
	n.mustProduce(topic, 0, plain(t, strings.Repeat("x", 4000)))
	before, _ := n.Image().Partition("events", 0)
	var torn vfs.FS
	for seed := uint64(1); torn == nil; seed++ { // a power cut that tears the last batch
		clone := fs.CrashClone(seed)
		raw, err := vfs.ReadFile(clone, "/node/log/events-0/00000000000000000000.log")
		must(t, err)
		if whole, err := vfs.ReadFile(fs, "/node/log/events-0/00000000000000000000.log"); err != nil || len(raw) > 100 && !slices.Equal(raw, whole) {
			must(t, err)
			torn = clone
		}
	}
	n.restart(torn)
	equal(t, "records", n.read(topic, 0, 0), []string{"0=a"})
	after, _ := n.Image().Partition("events", 0)
	if after.LeaderEpoch <= before.LeaderEpoch {
		t.Fatalf("leader epoch %d after %d", after.LeaderEpoch, before.LeaderEpoch)
	}
	ends := n.OffsetForLeaderEpoch(testCaller, &OffsetForLeaderEpochRequest{ReplicaID: -1, Partitions: []OffsetForLeaderEpochPartition{
		{Topic: topic, CurrentLeaderEpoch: -1, LeaderEpoch: before.LeaderEpoch},
	}})
	if ends[0].Err != nil || ends[0].EndOffset != 1 {
		t.Fatalf("the old epoch ends at %+v", ends[0])
	}
}

// Power cuts at any moment keep what was acknowledged under strict durability.
func TestAcknowledgedSurvivesPowerCuts(t *testing.T) {
	fs := vfs.NewMem()
	n := startNode(t, func(_ *Config, d *Deps) { d.FS = fs })
	topic := n.topic("events", 2, "segment.bytes", "20000")
	const rounds = 30
	next := [2]int{}
	for seed := range uint64(rounds) {
		for partition := range int32(2) {
			for range 5 {
				v := values4k(next[partition])
				if p := n.mustProduce(topic, partition, plain(t, v)); p.BaseOffset != int64(next[partition]) {
					t.Fatalf("round %d: offset %d, want %d", seed, p.BaseOffset, next[partition])
				}
				next[partition]++
			}
		}
		fs = fs.CrashClone(seed)
		n.restart(fs)
		for partition := range int32(2) {
			got := n.read(topic, partition, 0)
			if len(got) != next[partition] {
				t.Fatalf("round %d: %d records in partition %d, want %d", seed, len(got), partition, next[partition])
			}
			for i, v := range got {
				if _, value, _ := strings.Cut(v, "="); value != values4k(i) {
					t.Fatalf("round %d: record %d of partition %d is another one", seed, i, partition)
				}
			}
		}
	}
}

func values4k(i int) string { return strings.Repeat(string(rune('a'+i%26)), 300) }

func TestMetricsAreServed(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	n := startNode(t, func(_ *Config, d *Deps) { d.Registerer = reg })
	topic := n.topic("events", 2)
	n.mustProduce(topic, 1, plain(t, "a"))
	families, err := reg.Gather()
	must(t, err)
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			got[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"kafka_server_replicamanager_partitioncount":              2,
		"kafka_server_replicamanager_leadercount":                 2,
		"kafka_controller_kafkacontroller_globaltopiccount":       1,
		"kafka_controller_kafkacontroller_activebrokercount":      1,
		"kafka_controller_kafkacontroller_offlinepartitionscount": 0,
		"kafka_log_log_logendoffset 1 events":                     1,
		"kafka_log_log_logendoffset 0 events":                     0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, %v; want %v", name, v, ok, want)
		}
	}
	if got["moldau_log_flushed_files_total"] < 1 {
		t.Error("no flush was counted")
	}
}
