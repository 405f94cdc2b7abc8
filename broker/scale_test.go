package broker

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// BenchmarkScrape gathers all metrics of a node with 600 partitions.
func BenchmarkScrape(b *testing.B) {
	cfg := DefaultConfig()
	cfg.DataDir = b.TempDir()
	reg := prometheus.NewRegistry()
	n, err := Start(b.Context(), cfg, Deps{Registerer: reg})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = n.Close(context.Background()) }()
	if _, err := n.controller.CreateTopic(b.Context(), specOf("many", 600, nil)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reg.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

// heapInUse is the live heap after a collection.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A partition costs little memory, with its log, its place in the image and its files.
func TestMemoryOfPartitions(t *testing.T) {
	const topics, each = 2, 300
	cfg := DefaultConfig()
	cfg.DataDir = t.TempDir()
	n, err := Start(t.Context(), cfg, Deps{})
	must(t, err)
	test := &testNode{Node: n, t: t}
	before := heapInUse()
	began := time.Now()
	for i := range topics {
		test.topic("many-"+string(rune('a'+i)), each)
	}
	t.Logf("%d partitions made in %v", topics*each, time.Since(began))
	perPartition := (heapInUse() - before) / (topics * each)
	t.Logf("%d bytes of heap a partition", perPartition)
	if perPartition > 12<<10 {
		t.Errorf("%d bytes of heap a partition", perPartition)
	}
	began = time.Now()
	must(t, n.Close(context.Background()))
	t.Logf("closed in %v", time.Since(began))
	began = time.Now()
	n, err = Start(t.Context(), cfg, Deps{})
	must(t, err)
	t.Logf("started in %v", time.Since(began))
	test.Node = n
	test.mustProduce(TopicRef{Name: "many-b"}, each-1, plain(t, "a"))
	must(t, n.Close(context.Background()))
}
