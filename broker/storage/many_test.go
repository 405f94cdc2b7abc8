package storage

import (
	"flag"
	"os"
	"runtime"
	"testing"
	"time"

	"moldau/internal/vfs"
)

var manyPartitions = flag.Int("many", 1000, "partitions of TestManyPartitions")

// TestManyPartitions creates, fills, closes and reopens many partitions with far fewer descriptors than files, and reports what they
// cost. Run it with -many 10000 -v for the figures that the design asks for.
func TestManyPartitions(t *testing.T) {
	dir := t.TempDir()
	open := func(budget int) *Engine {
		return openEngine(t, vfs.OS, func(o *Options) { o.Dirs, o.MaxOpenFiles = []string{dir}, budget })
	}
	budget := *manyPartitions / 4
	e := open(budget)
	before := heapInUse()
	began := time.Now()
	logs := make([]*Log, *manyPartitions)
	for p := range logs {
		l, err := e.Create(TopicPartition{"t", int32(p)}, testID, DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		logs[p] = l
	}
	t.Logf("created in %v", time.Since(began))
	began = time.Now()
	for range 3 {
		for _, l := range logs {
			appendOne(t, l, batchSpec{n: 2, ts: 1, value: string(make([]byte, 1000))})
		}
	}
	for _, l := range logs {
		flush(t, l)
	}
	t.Logf("3 appends each and flushed in %v, %d files open with a budget of %d", time.Since(began), e.Stats().OpenFiles, max(budget, minOpenFiles))
	if n := openDescriptors(t); n > max(budget, minOpenFiles)+100 {
		t.Errorf("%d descriptors are open", n)
	}
	each := (heapInUse() - before) / int64(len(logs))
	t.Logf("%d bytes of memory per partition", each)
	if each > 20<<10 {
		t.Errorf("a partition takes %d bytes of memory", each)
	}
	began = time.Now()
	closeEngine(t, e)
	t.Logf("closed in %v", time.Since(began))
	began = time.Now()
	e = open(budget)
	t.Logf("opened after a clean stop in %v", time.Since(began))
	abandon(e)
	began = time.Now()
	e = open(budget)
	t.Logf("opened after an unclean stop in %v", time.Since(began))
	for _, l := range e.Logs() {
		if l.End() != 6 || l.Recovered().Scanned != 0 {
			t.Fatalf("%s ends at %d, %d bytes were checked", l.tp, l.End(), l.Recovered().Scanned)
		}
	}
	closeEngine(t, e)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func openDescriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	return len(entries)
}
