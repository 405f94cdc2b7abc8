package kafka

import (
	"sync"
	"time"
)

// slots bounds how many requests execute at the same time, and how many wait for that.
type slots struct {
	free  chan struct{} // holds one token per executing request
	queue chan struct{} // holds one token per request that waits to execute
	load  load
}

func newSlots(threads, queued int) *slots {
	return &slots{free: make(chan struct{}, threads), queue: make(chan struct{}, queued)}
}

// enter waits for a slot and returns false if done closes before. A request beyond the bound of the queue waits at its
// door, and its connection isn't read meanwhile.
func (s *slots) enter(done <-chan struct{}) bool {
	select {
	case s.free <- struct{}{}:
		return true
	default:
	}
	select {
	case s.queue <- struct{}{}:
	case <-done:
		return false
	}
	defer func() { <-s.queue }()
	select {
	case s.free <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

// leave gives the slot back.
func (s *slots) leave() { <-s.free }

// waiting is the number of requests in the queue.
func (s *slots) waiting() int { return len(s.queue) }

// load adds up how long something was busy, including what is busy now.
type load struct {
	mu     sync.Mutex
	spent  time.Duration
	active int
	starts time.Duration // sum of the start times of what is active
}

func (l *load) begin(now time.Duration) {
	l.mu.Lock()
	l.active++
	l.starts += now
	l.mu.Unlock()
}

func (l *load) end(began, now time.Duration) {
	l.mu.Lock()
	l.active--
	l.starts -= began
	l.spent += now - began
	l.mu.Unlock()
}

// add counts time that has passed already.
func (l *load) add(d time.Duration) {
	l.mu.Lock()
	l.spent += d
	l.mu.Unlock()
}

// total is all the time spent until now.
func (l *load) total(now time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent + time.Duration(l.active)*now - l.starts
}
