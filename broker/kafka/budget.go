package kafka

import (
	"container/list"
	"sync"
)

// budget bounds the bytes that all frames hold together. Whoever finds it spent waits in line.
type budget struct {
	limit int64

	mu      sync.Mutex
	used    int64
	waiting list.List // of *grant, first come first served
}

// grant is a place in the line of a budget; ready is closed when the bytes are his.
type grant struct {
	n     int64
	ready chan struct{}
}

func newBudget(limit int64) *budget { return &budget{limit: limit} }

// take takes n bytes if nobody waits and they fit, or if nothing at all is taken (so that the largest frame gets
// through whatever the limit). Otherwise it returns a place in the line; the caller waits for it or gives it up.
func (b *budget) take(n int) *list.Element {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting.Len() == 0 && b.fits(int64(n)) {
		b.used += int64(n)
		return nil
	}
	return b.waiting.PushBack(&grant{n: int64(n), ready: make(chan struct{})})
}

func (b *budget) fits(n int64) bool { return b.used+n <= b.limit || b.used == 0 }

// ready is closed once the bytes of a place are granted.
func (b *budget) ready(place *list.Element) <-chan struct{} { return place.Value.(*grant).ready }

// giveUp leaves the line. If the bytes were granted meanwhile it says so: then they are the caller's.
func (b *budget) giveUp(place *list.Element) (granted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-place.Value.(*grant).ready:
		return true
	default:
		b.waiting.Remove(place)
		b.serve()
		return false
	}
}

// put gives n bytes back.
func (b *budget) put(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= int64(n)
	b.serve()
}

// serve grants what fits, in order.
func (b *budget) serve() {
	for e := b.waiting.Front(); e != nil; e = b.waiting.Front() {
		g := e.Value.(*grant)
		if !b.fits(g.n) {
			return
		}
		b.used += g.n
		b.waiting.Remove(e)
		close(g.ready)
	}
}

// inUse is the number of bytes that are taken now.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
