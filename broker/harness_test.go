package broker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"moldau/broker/controller"
	"moldau/broker/metadata"
	"moldau/broker/metadata/embedded"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/internal/vfs"
)

// testStart is the clock of tests until they move it.
var testStart = time.UnixMilli(1_700_000_000_000)

// testNode is a node on a file system in memory, with its metadata in a temporary directory.
type testNode struct {
	*Node
	t     *testing.T
	cfg   Config
	deps  Deps
	now   atomic.Pointer[time.Time]
	store *embedded.Store
}

func (n *testNode) clock() time.Time { return *n.now.Load() }

func (n *testNode) setNow(now time.Time) { n.now.Store(&now) }

// startNode starts a node and closes it with the test. change may alter the configuration and what the node is given.
func startNode(t *testing.T, change ...func(*Config, *Deps)) *testNode {
	t.Helper()
	store, err := embedded.Open(t.TempDir(), embedded.Options{})
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	n := &testNode{t: t, cfg: DefaultConfig(), store: store}
	n.setNow(testStart)
	n.cfg.DataDir = "/node"
	n.cfg.Endpoints = []metadata.Endpoint{{Name: "PLAINTEXT", Host: "127.0.0.1", Port: 9092, SecurityProtocol: "PLAINTEXT"}}
	n.deps = Deps{
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		FS:     vfs.NewMem(), Store: store, Now: n.clock,
	}
	for _, f := range change {
		f(&n.cfg, &n.deps)
	}
	n.start()
	t.Cleanup(func() { _ = n.Close(context.Background()) })
	return n
}

func (n *testNode) start() {
	n.t.Helper()
	node, err := Start(n.t.Context(), n.cfg, n.deps)
	must(n.t, err)
	n.Node = node
}

// restart closes the node, exchanges its file system if another one is given, and starts it again.
func (n *testNode) restart(fs vfs.FS) {
	n.t.Helper()
	must(n.t, n.Close(n.t.Context()))
	if fs != nil {
		n.deps.FS = fs
	}
	n.start()
}

// relaxed makes a node acknowledge what is in the page cache.
func relaxed(c *Config, _ *Deps) { c.Durability = Relaxed }

// topic makes a topic and returns a reference to it by name.
func (n *testNode) topic(name string, partitions int32, configs ...string) TopicRef {
	n.t.Helper()
	config := map[string]string{}
	for i := 0; i < len(configs); i += 2 {
		config[configs[i]] = configs[i+1]
	}
	_, err := n.controller.CreateTopic(n.t.Context(), specOf(name, partitions, config))
	must(n.t, err)
	return TopicRef{Name: name}
}

var (
	testCompressor = record.NewCompressor()
	testUnpack     = record.NewDecompressor(record.Limits{})
)

// batchOf builds a batch of values, a millisecond apart from each other, with keys.
func batchOf(t *testing.T, o record.Options, values ...string) []byte {
	t.Helper()
	b := record.NewBuilder(o)
	for i, v := range values {
		b.Append(&record.Record{Timestamp: testStart.UnixMilli() + int64(i), Key: []byte("k"), Value: []byte(v)})
	}
	built, err := b.Build(nil, testCompressor)
	must(t, err)
	return built
}

func plain(t *testing.T, values ...string) []byte {
	t.Helper()
	return batchOf(t, record.NewOptions(record.None), values...)
}

// idempotent are the options of a batch of an idempotent producer.
func idempotent(id ProducerIdentity, sequence int32) record.Options {
	o := record.NewOptions(record.None)
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = id.ID, id.Epoch, sequence
	return o
}

// produce appends with acks=all and waits.
func (n *testNode) produce(topic TopicRef, partition int32, records []byte) Produced {
	n.t.Helper()
	p := n.Produce(testCaller, topic, partition, records, -1)
	p.Wait(n.t.Context())
	return p
}

// mustProduce is produce without an error.
func (n *testNode) mustProduce(topic TopicRef, partition int32, records []byte) Produced {
	n.t.Helper()
	p := n.produce(topic, partition, records)
	must(n.t, p.Err)
	return p
}

var testCaller = &Caller{Principal: "User:ANONYMOUS", ClientID: "test", Listener: "PLAINTEXT"}

// want is a partition of a fetch without limits.
func want(topic TopicRef, partition int32, offset int64) FetchPartition {
	return FetchPartition{
		Topic: topic, Partition: partition, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, FetchOffset: offset, LogStartOffset: -1, MaxBytes: 1 << 20,
	}
}

// fetchRequest is a request of a consumer that doesn't wait.
func fetchRequest(partitions ...FetchPartition) *FetchRequest {
	return &FetchRequest{MinBytes: 1, MaxBytes: 50 << 20, ReplicaID: -1, Partitions: partitions}
}

// values returns what a fetch found in one partition, as "offset=value".
func values(t *testing.T, p *FetchedPartition) []string {
	t.Helper()
	raw, err := p.Records.Bytes()
	must(t, err)
	var out []string
	for len(raw) > 0 {
		b, rest, err := record.Next(raw)
		must(t, err)
		it := b.Records(testUnpack)
		for it.Next() {
			out = append(out, fmt.Sprintf("%d=%s", it.Record().Offset, it.Record().Value))
		}
		must(t, it.Err())
		it.Close()
		raw = rest
	}
	return out
}

// read returns everything in a partition from an offset on.
func (n *testNode) read(topic TopicRef, partition int32, offset int64) []string {
	n.t.Helper()
	var out []string
	for {
		op := n.Fetch(testCaller, fetchRequest(want(topic, partition, offset)))
		p := &op.Partitions()[0]
		must(n.t, p.Err)
		got := values(n.t, p)
		op.Release()
		if len(got) == 0 {
			return out
		}
		out = append(out, got...)
		if _, err := fmt.Sscanf(got[len(got)-1], "%d=", &offset); err != nil {
			n.t.Fatal(err)
		}
		offset++
	}
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// partitionOf returns this node's replica.
func (n *testNode) partitionOf(topic TopicRef, index int32) *partition.Partition {
	n.t.Helper()
	_, p, err := n.find(topic, index)
	must(n.t, err)
	return p
}

// drop deletes a topic.
func (n *testNode) drop(name string) {
	n.t.Helper()
	_, err := n.controller.DeleteTopic(n.t.Context(), controller.TopicRef{Name: name})
	must(n.t, err)
}
