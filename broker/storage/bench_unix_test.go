//go:build unix

package storage

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"moldau/internal/vfs"
)

// BenchmarkAppendSpread appends batches of 25 records of 100 B in turn to so many logs: the same rate over more partitions. Wall time says
// little on a loaded machine, so it tells processor time too, the flusher's included.
func BenchmarkAppendSpread(b *testing.B) {
	for _, d := range []Durability{Relaxed, Strict} {
		for _, n := range []int{6, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", d, n), func(b *testing.B) {
				e := openEngine(b, vfs.OS, func(o *Options) { o.Dirs, o.Durability = []string{b.TempDir()}, d })
				batch := batchSpec{n: 25, value: string(make([]byte, 100)), ts: 1}.build(b)
				logs := make([]*Log, n)
				for i := range logs {
					l, err := e.Create(TopicPartition{"t", int32(i)}, testID, DefaultConfig())
					if err != nil {
						b.Fatal(err)
					}
					appendOne(b, l, batchSpec{n: 25, value: string(make([]byte, 100)), ts: 1})
					logs[i] = l
				}
				b.ReportAllocs()
				before, turn := processorTime(b), 0
				for b.Loop() {
					if _, err := logs[turn%n].Append(batch, 0, OriginClient); err != nil {
						b.Fatal(err)
					}
					turn++
				}
				b.ReportMetric(float64(processorTime(b)-before)/float64(turn), "cpu-ns/op")
				closeEngine(b, e)
			})
		}
	}
}

// processorTime returns the processor time of the process, user and system.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
