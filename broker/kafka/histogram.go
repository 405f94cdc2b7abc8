package kafka

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// Buckets are as wide as an eighth of a power of two, from a microsecond to twenty minutes.
	bucketsPerOctave = 8
	octaves          = 30
	bucketCount      = bucketsPerOctave * octaves
)

// histogram keeps how long things took: count and sum for all time, quantiles over the last half to whole minute.
type histogram struct {
	count   atomic.Uint64
	sum     atomic.Int64 // ns
	current atomic.Uint32
	windows [2][bucketCount]atomic.Uint32
}

// bucketOf finds the bucket of a duration.
func bucketOf(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us < bucketsPerOctave {
		return int(us)
	}
	octave := bits.Len64(us) - 4 // 8..15 µs lie in octave 0
	return min(bucketsPerOctave*(octave+1)+int(us>>octave)-bucketsPerOctave, bucketCount-1)
}

// bucketEnd is the first duration beyond a bucket.
func bucketEnd(b int) time.Duration {
	if b < bucketsPerOctave {
		return time.Duration(b+1) * time.Microsecond
	}
	octave := b/bucketsPerOctave - 1
	return time.Duration(uint64(b%bucketsPerOctave+bucketsPerOctave+1)<<octave) * time.Microsecond
}

func (h *histogram) observe(d time.Duration) {
	h.count.Add(1)
	h.sum.Add(int64(d))
	h.windows[h.current.Load()&1][bucketOf(d)].Add(1)
}

// rotate begins a new window and forgets the one before the last.
func (h *histogram) rotate() {
	next := (h.current.Load() + 1) & 1
	for i := range h.windows[next] {
		h.windows[next][i].Store(0)
	}
	h.current.Store(next)
}

// quantiles reads the given quantiles, ascending, in seconds. Without observations all are 0.
func (h *histogram) quantiles(of []float64) []float64 {
	var merged [bucketCount]uint64
	var total uint64
	for w := range h.windows {
		for i := range h.windows[w] {
			n := uint64(h.windows[w][i].Load())
			merged[i] += n
			total += n
		}
	}
	out := make([]float64, len(of))
	if total == 0 {
		return out
	}
	bucket, seen := 0, merged[0]
	for i, q := range of {
		for seen < uint64(q*float64(total)+0.5) && bucket < bucketCount-1 {
			bucket++
			seen += merged[bucket]
		}
		out[i] = bucketEnd(bucket).Seconds()
	}
	return out
}
