package storage

import (
	"math"
	"slices"
	"sort"
	"sync"
)

// AbortedTxn is a transaction of which readers must pass over what its producer wrote between the two offsets.
type AbortedTxn struct {
	ProducerID  int64
	FirstOffset int64
	LastOffset  int64 // of the marker
}

// openTxn is a transaction without a marker yet.
type openTxn struct {
	first    int64
	producer int64
}

// endedTxn is a transaction with a marker.
type endedTxn struct {
	producer    int64
	first, last int64
	aborted     bool
}

// transactions are those of a log that readers of committed transactions cannot see past: open ones, and ended ones whose marker is
// not committed. The lock is around memory only; partitions ask while they hold their own.
type transactions struct {
	mu    sync.Mutex
	open  []openTxn  // by first offset
	ended []endedTxn // by last offset
}

// begin notes an open transaction.
func (t *transactions) begin(first, producer int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := sort.Search(len(t.open), func(i int) bool { return t.open[i].first >= first })
	t.open = slices.Insert(t.open, i, openTxn{first, producer})
}

// end notes the marker of a transaction.
func (t *transactions) end(e endedTxn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := sort.Search(len(t.open), func(i int) bool { return t.open[i].first >= e.first })
	if i < len(t.open) && t.open[i].first == e.first {
		t.open = slices.Delete(t.open, i, i+1)
	}
	t.ended = append(t.ended, e)
}

// firstOpenBut returns the first offset of the open transactions of other producers than some; math.MaxInt64 if there is none.
func (t *transactions) firstOpenBut(producers map[int64]bool) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.open {
		if !producers[o.producer] {
			return o.first
		}
	}
	return math.MaxInt64
}

// firstUnstable returns the first offset of the transactions that are open, or whose marker lies at or above the high watermark;
// math.MaxInt64 if there is none. What ended below is forgotten.
func (t *transactions) firstUnstable(hw int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := int64(math.MaxInt64)
	if len(t.open) > 0 {
		first = t.open[0].first
	}
	done := sort.Search(len(t.ended), func(i int) bool { return t.ended[i].last >= hw })
	t.ended = t.ended[done:]
	for _, e := range t.ended {
		first = min(first, e.first)
	}
	if len(t.ended) == 0 {
		t.ended = nil
	}
	return first
}

// firstOpen returns the first offset of the open transactions, math.MaxInt64 if there is none.
func (t *transactions) firstOpen() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) > 0 {
		return t.open[0].first
	}
	return math.MaxInt64
}

func (t *transactions) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.ended = nil, nil
}

// FirstUnstable returns the first offset that readers of committed transactions must not get while the high watermark is hw: where
// the oldest transaction begins that is open, or whose marker is not below hw. math.MaxInt64 if there is none.
func (l *Log) FirstUnstable(hw int64) int64 { return l.txns.firstUnstable(hw) }

// FirstOpen returns where the oldest open transaction begins; math.MaxInt64 if there is none. Unlike FirstUnstable it forgets
// nothing, so anybody may ask.
func (l *Log) FirstOpen() int64 { return l.txns.firstOpen() }
