package metadata_test

import (
	"fmt"
	"testing"

	"moldau/broker/metadata"
	"moldau/broker/metadata/embedded"
)

// fill makes the keys of n topics of one partition, or of one topic of n partitions.
func fill(n int, wide bool) []metadata.KV {
	var kvs []metadata.KV
	put := func(key string, r metadata.Record) {
		rev := metadata.Rev(len(kvs) + 1)
		kvs = append(kvs, metadata.KV{Key: key, Value: metadata.Encode(r), CreateRev: rev, ModRev: rev})
	}
	topics, each := n, 1
	if wide {
		topics, each = 1, n
	}
	for i := range topics {
		id, name := metadata.NewTopicID(), fmt.Sprintf("topic-%d", i)
		put(metadata.TopicNameKey(name), &metadata.TopicNameRecord{ID: id})
		put(metadata.TopicKey(id), &metadata.TopicRecord{Name: name, Partitions: int32(each)})
		for p := range each {
			put(metadata.PartitionKey(id, int32(p)), &metadata.PartitionRecord{Replicas: []int32{1}, ISR: []int32{1}, Leader: 1})
		}
	}
	return kvs
}

func shapes(b *testing.B, run func(b *testing.B, kvs []metadata.KV)) {
	b.Run("10000topics", func(b *testing.B) { run(b, fill(10_000, false)) })
	b.Run("10000partitions", func(b *testing.B) { run(b, fill(10_000, true)) })
}

// BenchmarkBuildImage is the part of a start that depends on the number of partitions.
func BenchmarkBuildImage(b *testing.B) {
	shapes(b, func(b *testing.B, kvs []metadata.KV) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := metadata.BuildImage(metadata.Rev(len(kvs)), kvs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkApplyOne is one partition change among 10,000.
func BenchmarkApplyOne(b *testing.B) {
	shapes(b, func(b *testing.B, kvs []metadata.KV) {
		img, err := metadata.BuildImage(metadata.Rev(len(kvs)), kvs)
		if err != nil {
			b.Fatal(err)
		}
		last := kvs[len(kvs)-1]
		b.ReportAllocs()
		for b.Loop() {
			last.ModRev++
			if img, _, err = img.Apply(last.ModRev, []metadata.Event{{KV: last}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkList reads everything from the embedded store.
func BenchmarkList(b *testing.B) {
	store, err := embedded.Open(b.TempDir(), embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	var ops []metadata.Op
	for i, kv := range fill(10_000, true) {
		ops = append(ops, metadata.Put(kv.Key, kv.Value))
		if len(ops) == metadata.MaxOps || i == 10_001 {
			if _, err := store.Txn(b.Context(), metadata.Txn{Ops: ops}); err != nil {
				b.Fatal(err)
			}
			ops = nil
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if kvs, _, err := store.List(b.Context(), ""); err != nil || len(kvs) != 10_002 {
			b.Fatal(len(kvs), err)
		}
	}
}
