package storage

import (
	"container/heap"
	"time"
)

// flushQueue holds the logs that await a flush, each once, by when they are due. Under relaxed durability ten thousand of them may wait
// for seconds, so nothing walks over those that are not due. It belongs to the flusher's lock.
type flushQueue struct {
	due   []*Log // at once
	later laterLogs
}

// flushPlace is a log's place in the flushQueue of its directory.
type flushPlace struct {
	where flushList
	at    time.Time // when the log is due, in later
	index int       // in later
}

// flushList names the part of a flushQueue that a log is in.
type flushList int8

const (
	notQueued flushList = iota
	queuedDue
	queuedLater
)

// push puts a log into the queue, due at a time; the zero time means at once. One that is there already is only ever moved from later to
// at once. push returns whether the log is now the first to be due, so that whoever waits for the queue must look again.
func (q *flushQueue) push(l *Log, at time.Time) (first bool) {
	p := &l.flushPlace
	if p.where == queuedDue || p.where == queuedLater && !at.IsZero() {
		return false
	}
	if p.where == queuedLater {
		heap.Remove(&q.later, p.index)
	}
	if at.IsZero() {
		p.where = queuedDue
		q.due = append(q.due, l)
		return len(q.due) == 1
	}
	p.where, p.at = queuedLater, at
	heap.Push(&q.later, l)
	return p.index == 0 && len(q.due) == 0
}

// hurry makes every log due at once.
func (q *flushQueue) hurry() {
	for _, l := range q.later {
		l.flushPlace = flushPlace{where: queuedDue}
	}
	q.due = append(q.due, q.later...)
	clear(q.later)
	q.later = q.later[:0]
}

// take removes the logs that are due and appends them to dst. wait is the time until the next one, or most.
func (q *flushQueue) take(dst []*Log, now time.Time, most time.Duration) (due []*Log, wait time.Duration) {
	for _, l := range q.due {
		l.flushPlace = flushPlace{}
	}
	due = append(dst, q.due...)
	clear(q.due)
	q.due = q.due[:0]
	for len(q.later) > 0 {
		if wait := q.later[0].flushPlace.at.Sub(now); wait > 0 {
			return due, min(wait, most)
		}
		due = append(due, heap.Pop(&q.later).(*Log))
	}
	return due, most
}

// len returns how many logs wait.
func (q *flushQueue) len() int { return len(q.due) + len(q.later) }

// laterLogs is a heap (container/heap) with the log that is due first on top.
type laterLogs []*Log

// Len implements heap.Interface.
func (h laterLogs) Len() int { return len(h) }

// Less implements heap.Interface.
func (h laterLogs) Less(i, j int) bool { return h[i].flushPlace.at.Before(h[j].flushPlace.at) }

// Swap implements heap.Interface.
func (h laterLogs) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].flushPlace.index, h[j].flushPlace.index = i, j
}

// Push implements heap.Interface.
func (h *laterLogs) Push(x any) {
	l := x.(*Log)
	l.flushPlace.index = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *laterLogs) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	l.flushPlace = flushPlace{}
	return l
}
