package load

import (
	"math/bits"
	"sync"
	"time"
)

// subBits sets the resolution of a Histogram: 2^subBits steps for each power
// of two, so a step is at most 1/2^subBits of the value.
const subBits = 7

const (
	subCount = 1 << subBits
	// 2^40 ns are 18 minutes; what is longer is counted as that.
	buckets = (40 - subBits + 1) * subCount
	longest = time.Duration(1)<<40 - 1
)

// Histogram counts durations. The zero value is ready, and all methods may be
// called concurrently.
type Histogram struct {
	mu     sync.Mutex
	counts [buckets]uint64
	n      uint64
	sum    time.Duration
	max    time.Duration
}

// Add counts one duration; a negative one counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = min(max(d, 0), longest)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[bucket(d)]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

// bucket is the index of a duration's counter: linear up to subCount ns, then
// subCount steps for each doubling.
func bucket(d time.Duration) int {
	if d < subCount {
		return int(d)
	}
	shift := bits.Len64(uint64(d)) - subBits - 1
	return (shift+1)*subCount + int(d>>shift) - subCount
}

// ceiling is the greatest duration that a bucket counts.
func ceiling(b int) time.Duration {
	if b < subCount {
		return time.Duration(b)
	}
	shift := b/subCount - 1
	return (time.Duration(b%subCount+subCount)+1)<<shift - 1
}

// Summary is what a Histogram says in a few numbers.
type Summary struct {
	Count uint64
	Mean  time.Duration
	P50   time.Duration
	P95   time.Duration
	P99   time.Duration
	P999  time.Duration
	Max   time.Duration
}

// Summary returns the numbers as of now. All are 0 when nothing was counted.
func (h *Histogram) Summary() Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n == 0 {
		return Summary{}
	}
	return Summary{
		Count: h.n, Mean: h.sum / time.Duration(h.n), Max: h.max,
		P50: h.quantile(0.50), P95: h.quantile(0.95), P99: h.quantile(0.99), P999: h.quantile(0.999),
	}
}

// quantile is the duration that a share q of all does not exceed. h.mu is held.
func (h *Histogram) quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.n))
	if float64(rank) < q*float64(h.n) || rank == 0 {
		rank++
	}
	seen := uint64(0)
	for b, c := range h.counts {
		if seen += c; seen >= rank {
			return min(ceiling(b), h.max)
		}
	}
	return h.max
}
