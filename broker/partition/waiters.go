package partition

import "sync"

// Commit is a produce that waits until its records are committed. It is a value and holds no resources: the partition
// has one channel for all who wait, closed whenever the high watermark moves or the wait has become pointless.
type Commit struct {
	p      *Partition
	end    int64  // what the high watermark must reach
	tenure uint64 // the reign in which the records were appended
}

// Poll returns done when the outcome is known: err is nil once the records are committed, ErrNotLeader when this
// replica ceased to lead before, ErrUnknown when the partition was deleted, ErrClosed when the node stops. Otherwise it
// returns a channel that is closed when it makes sense to poll again. The zero Commit is done.
func (c Commit) Poll() (done bool, err error, changed <-chan struct{}) { //nolint:revive,staticcheck // the error is an outcome, not a failure of Poll
	if c.p == nil {
		return true, nil, nil
	}
	return c.p.poll(c.end, c.tenure)
}

func (p *Partition) poll(end int64, tenure uint64) (bool, error, <-chan struct{}) { //nolint:revive,staticcheck // as Poll
	p.mu.Lock()
	defer p.mu.Unlock()
	if tenure == p.tenure && p.closed == nil {
		switch {
		case p.st.hw >= end && p.st.underMinISR():
			return true, ErrNotEnoughReplicasAfterAppend, nil
		case p.st.hw >= end:
			return true, nil, nil
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		return false, nil, p.changed
	}
	// The reign is over. What was committed in it stays committed; its high watermark is known for the last one only.
	if tenure == p.lastTenure && p.lastHW >= end {
		return true, nil, nil
	}
	if p.closed != nil {
		return true, p.closed, nil
	}
	return true, ErrNotLeader, nil
}

// Horizon says up to where a reader may read.
type Horizon uint8

// The horizons of readers.
const (
	ToHighWatermark Horizon = iota // consumers
	ToLastStable                   // consumers that read committed transactions only
	ToLogEnd                       // replicas, and readers of the broker itself
)

// Waiter is a reader that waits for any of several partitions to have more for it. It is woken through C, and Changed
// then tells where. Its methods belong to one goroutine.
type Waiter struct {
	mu      sync.Mutex
	changed []int32 // indexes of watches that fired since the last call of Changed
	spare   []int32 // the slice handed out by Changed, used again by the next call
	wake    chan struct{}
	watches []watch
}

// watch is one partition's place in a Waiter, linked into the partition's list.
type watch struct {
	w          *Waiter
	p          *Partition // nil: not linked
	prev, next *watch
	index      int32
	fired      bool // under w.mu
	horizon    Horizon
	seen       Mark
}

// Mark is what a reader has seen of a partition: it waits for something beyond.
type Mark struct {
	limit  int64
	tenure uint64
}

// NewWaiter returns a waiter with room for n partitions.
func NewWaiter(n int) *Waiter {
	return &Waiter{wake: make(chan struct{}, 1), watches: make([]watch, n)}
}

// C receives a value when a watched partition has changed.
func (w *Waiter) C() <-chan struct{} { return w.wake }

// Watch makes the waiter wait for partition p to move beyond what mark shows. index is what Changed will report, below
// the n of NewWaiter, and used for one partition at a time. If p has moved already the waiter is woken at once.
func (w *Waiter) Watch(index int, p *Partition, h Horizon, seen Mark) {
	e := &w.watches[index]
	*e = watch{w: w, p: p, index: int32(index), horizon: h, seen: seen}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.next = p.watches
	if e.next != nil {
		e.next.prev = e
	}
	p.watches = e
	if h == ToLogEnd {
		p.endWatches++
	}
	p.fireIfMoved(e)
}

// Changed returns the indexes of the watches that fired since the last call. The slice is valid until the next call. A
// watch that fired stays linked and fires again: tell it with Seen what has been read meanwhile.
func (w *Waiter) Changed() []int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.changed
	w.changed, w.spare = w.spare[:0], out
	for _, i := range out {
		w.watches[i].fired = false
	}
	return out
}

// Seen says that the watch's reader has now seen mark.
func (w *Waiter) Seen(index int, mark Mark) {
	e := &w.watches[index]
	if e.p == nil {
		return
	}
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	e.seen = mark
	e.p.fireIfMoved(e)
}

// Close unlinks all watches.
func (w *Waiter) Close() {
	for i := range w.watches {
		if e := &w.watches[i]; e.p != nil {
			e.p.unlink(e)
		}
	}
}

func (w *Waiter) fire(e *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.fired {
		return
	}
	e.fired = true
	w.changed = append(w.changed, e.index)
	select {
	case w.wake <- struct{}{}:
	default: // it has been woken and not looked yet
	}
}

func (p *Partition) unlink(e *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		p.watches = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	if e.horizon == ToLogEnd {
		p.endWatches--
	}
	e.p, e.prev, e.next = nil, nil, nil
}

// mark returns what a reader sees now. p.mu is held.
func (p *Partition) mark(h Horizon) Mark {
	m := Mark{tenure: p.tenure}
	switch h {
	case ToLogEnd:
		m.limit = p.st.logEnd
	case ToLastStable:
		m.limit = p.st.lastStable()
	default:
		m.limit = p.st.hw
	}
	return m
}

// fireIfMoved wakes the owner of e if there is more to see than it has seen. p.mu is held.
func (p *Partition) fireIfMoved(e *watch) {
	if p.closed != nil || p.mark(e.horizon) != e.seen {
		e.w.fire(e)
	}
}

// wakeReaders wakes the readers that have not seen the partition as it is now. p.mu is held.
func (p *Partition) wakeReaders() {
	for e := p.watches; e != nil; e = e.next {
		p.fireIfMoved(e)
	}
}

// wakeAll wakes readers and writers after the high watermark moved or the reign changed. p.mu is held.
func (p *Partition) wakeAll() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
	p.wakeReaders()
}
