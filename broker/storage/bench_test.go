package storage

import (
	"fmt"
	"testing"

	"moldau/internal/vfs"
)

// BenchmarkAppend appends batches of one size to one log; the flusher runs beside it.
func BenchmarkAppend(b *testing.B) {
	for _, d := range []Durability{Relaxed, Strict} {
		for _, size := range []int{100, 16 << 10} {
			b.Run(fmt.Sprintf("%s/%d", d, size), func(b *testing.B) {
				e := openEngine(b, vfs.OS, func(o *Options) { o.Dirs, o.Durability = []string{b.TempDir()}, d })
				l := createLog(b, e, DefaultConfig())
				batch := batchSpec{value: string(make([]byte, size)), ts: 1}.build(b)
				b.SetBytes(int64(len(batch)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := l.Append(batch, 0, OriginClient); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				closeEngine(b, e)
			})
		}
	}
}

// BenchmarkRead reads a log from the beginning in pieces, as a consumer that catches up, without looking at the bytes.
func BenchmarkRead(b *testing.B) {
	e := openEngine(b, vfs.OS, func(o *Options) { o.Dirs, o.Durability = []string{b.TempDir()}, Relaxed })
	l := createLog(b, e, DefaultConfig())
	spec := batchSpec{value: string(make([]byte, 4000)), ts: 1}
	each := len(spec.build(b))
	for range 2000 {
		appendOne(b, l, spec)
	}
	flush(b, l)
	for _, maxBytes := range []int{5000, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(maxBytes), func(b *testing.B) {
			b.ReportAllocs()
			from := int64(0)
			for b.Loop() {
				s, err := l.Read(from, l.End(), maxBytes, true)
				if err != nil {
					b.Fatal(err)
				}
				if from += int64(s.Len() / each); from == l.End() {
					from = 0
				}
				s.Release()
			}
		})
	}
	closeEngine(b, e)
}
