package partition

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"moldau/broker/metadata"
	"moldau/broker/record"
	"moldau/broker/storage"
	"moldau/internal/vfs"
)

// harness is a manager on a file system in memory, with an image that tests change record by record.
type harness struct {
	t      *testing.T
	fs     vfs.FS
	engine *storage.Engine
	m      *Manager
	img    *metadata.Image
	rev    metadata.Rev
	now    atomic.Pointer[time.Time]
}

func (h *harness) clock() time.Time { return *h.now.Load() }

func (h *harness) setNow(now time.Time) { h.now.Store(&now) }

// self is the broker id of the node under test.
const self int32 = 1

func newHarness(t *testing.T, fs vfs.FS, d storage.Durability) *harness {
	t.Helper()
	h := &harness{t: t, fs: fs, img: metadata.NewImage()}
	h.setNow(time.UnixMilli(1_700_000_000_000))
	var err error
	h.engine, err = storage.Open(t.Context(), storage.Options{
		FS: fs, Dirs: []string{"/data"}, NodeID: self, Durability: d, Now: h.clock, RecoveryThreads: 1,
	})
	must(t, err)
	h.m, err = NewManager(Options{
		Self: self, Engine: h.engine, Strict: d == storage.Strict, RetentionInterval: time.Minute,
		ProducerExpiration: time.Hour, ProducerCheckInterval: time.Minute, Logger: testLogger(t), Now: h.clock,
	})
	must(t, err)
	return h
}

// close ends the manager and the engine.
func (h *harness) close() {
	h.t.Helper()
	h.m.Close()
	must(h.t, h.engine.Close(context.Background()))
}

// put changes keys of the metadata, in one revision, and applies them.
func (h *harness) put(kvs ...metadata.KV) {
	h.t.Helper()
	h.rev++
	events := make([]metadata.Event, len(kvs))
	for i, kv := range kvs {
		kv.ModRev, kv.CreateRev = h.rev, h.rev
		kind := metadata.EventPut
		if kv.Value == nil {
			kind = metadata.EventDelete
		}
		events[i] = metadata.Event{Kind: kind, KV: kv}
	}
	next, delta, err := h.img.Apply(h.rev, events)
	must(h.t, err)
	h.img = next
	h.m.Apply(next, &delta)
}

// topicKVs are the records of a topic whose partitions are led by this node, alone unless isr says otherwise.
func topicKVs(name string, id metadata.TopicID, epoch int32, partitions int32, config map[string]string) []metadata.KV {
	kvs := []metadata.KV{
		{Key: metadata.TopicNameKey(name), Value: metadata.Encode(&metadata.TopicNameRecord{ID: id})},
		{Key: metadata.TopicKey(id), Value: metadata.Encode(&metadata.TopicRecord{Name: name, Partitions: partitions, Config: config})},
	}
	for i := range partitions {
		kvs = append(kvs, partitionKV(id, i, metadata.PartitionRecord{Replicas: []int32{self}, ISR: []int32{self}, Leader: self, LeaderEpoch: epoch}))
	}
	return kvs
}

func partitionKV(id metadata.TopicID, index int32, r metadata.PartitionRecord) metadata.KV {
	return metadata.KV{Key: metadata.PartitionKey(id, index), Value: metadata.Encode(&r)}
}

// deleted are the keys of a topic without their values.
func deleted(kvs []metadata.KV) []metadata.KV {
	out := make([]metadata.KV, len(kvs))
	for i, kv := range kvs {
		out[i] = metadata.KV{Key: kv.Key}
	}
	return out
}

// create makes a topic and returns its first partition.
func (h *harness) create(name string, epoch int32) (*Partition, []metadata.KV) {
	h.t.Helper()
	kvs := topicKVs(name, metadata.NewTopicID(), epoch, 1, nil)
	h.put(kvs...)
	return h.partition(name, 0), kvs
}

func (h *harness) partition(name string, index int32) *Partition {
	h.t.Helper()
	t, ok := h.m.Topic(name)
	if !ok {
		h.t.Fatalf("no topic %s", name)
	}
	p := t.Partition(index)
	if p == nil {
		h.t.Fatalf("no partition %d of %s", index, name)
	}
	return p
}

var compressor = record.NewCompressor()

// batch builds a batch with one record for each value.
func batch(t *testing.T, values ...string) record.Batch {
	t.Helper()
	return buildBatch(t, record.NewOptions(record.None), values...)
}

func buildBatch(t *testing.T, o record.Options, values ...string) record.Batch {
	t.Helper()
	b := record.NewBuilder(o)
	for i, v := range values {
		b.Append(&record.Record{Timestamp: 1_700_000_000_000 + int64(i), Key: []byte("k"), Value: []byte(v)})
	}
	built, err := b.Build(nil, compressor)
	must(t, err)
	return built
}

// idempotent are the options of a batch of an idempotent producer.
func idempotent(id int64, epoch int16, sequence int32) record.Options {
	o := record.NewOptions(record.None)
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = id, epoch, sequence
	return o
}

// append appends and fails the test on an error.
func (h *harness) append(p *Partition, acks int16, b record.Batch) Appended {
	h.t.Helper()
	a, err := p.Append(b, acks, storage.OriginClient)
	must(h.t, err)
	return a
}

// values returns what a reader up to horizon sees from an offset on.
func (h *harness) values(p *Partition, from int64, horizon Horizon) []string {
	h.t.Helper()
	var out []string
	for {
		r, err := p.Read(ReadSpec{Offset: from, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 1 << 20, WholeBatch: true, Horizon: horizon})
		must(h.t, err)
		if r.Records.Len() == 0 {
			return out
		}
		raw, err := r.Records.Bytes()
		must(h.t, err)
		r.Records.Release()
		for len(raw) > 0 {
			b, rest, err := record.Next(raw)
			must(h.t, err)
			for it := b.Records(record.NewDecompressor(record.Limits{})); ; {
				if !it.Next() {
					must(h.t, it.Err())
					it.Close()
					break
				}
				if rec := it.Record(); rec.Offset >= from {
					out = append(out, fmt.Sprintf("%d=%s", rec.Offset, rec.Value))
				}
			}
			from, raw = b.NextOffset(), rest
		}
	}
}

// wait waits for a commit.
func wait(t *testing.T, c Commit) error {
	t.Helper()
	for {
		done, err, changed := c.Poll()
		if done {
			return err
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("commit is not done")
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// flushes are the operations that make things durable.
var flushes = []vfs.Op{vfs.OpSync, vfs.OpSyncDir, vfs.OpSyncFS}

// gatedFS returns a file system in memory. After hold all flushes wait until what hold returned is called.
func gatedFS() (fs *vfs.Faulty, hold func() (release func())) {
	gate := make(chan struct{})
	fs = vfs.NewFaultyWith(vfs.NewMem(), vfs.FaultyOptions{Sleep: func(time.Duration) { <-gate }})
	return fs, func() func() {
		remove := fs.Inject(vfs.Rule{Ops: flushes, Delay: time.Hour})
		return func() {
			remove()
			close(gate)
		}
	}
}
