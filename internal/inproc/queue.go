package inproc

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	queueMin = 4 << 10   // the first allocation of a queue
	queueMax = 256 << 10 // bytes that one direction holds before its writer waits
)

// errPeerClosed is what a write gets after the other end was closed. It has the form that a TCP connection gives it, by
// which Kafka clients tell a lost connection, which they open again, from a fault.
var errPeerClosed = os.NewSyscallError("write", syscall.EPIPE)

// queue is one direction of a connection: a ring of bytes with one end that reads and one that writes.
//
// The mutex guards memory only and is never held while waiting. A side that must wait sleeps on its wake channel, which
// holds at most one token; whoever changes something that the side may be waiting for leaves a token. A turn channel
// per side lets one caller at a time wait, so that concurrent writes stay whole and one timer per side is enough.
type queue struct {
	mu          sync.Mutex
	ring        []byte
	head, size  int // first byte, and how many there are
	readClosed  bool
	writeClosed bool

	reader, writer side
}

// side is what one end of a queue waits with.
type side struct {
	turn     chan struct{} // holds one token; taken for the length of a call
	wake     chan struct{} // holds at most one token
	deadline time.Time     // guarded by queue.mu
	timer    *time.Timer   // made at the first wait with a deadline; used by the holder of the turn
}

func newQueue() *queue {
	return &queue{reader: newSide(), writer: newSide()}
}

func newSide() side {
	return side{turn: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

func (q *queue) read(b []byte) (int, error) {
	q.reader.turn <- struct{}{}
	defer func() { <-q.reader.turn }()
	for {
		q.mu.Lock()
		deadline := q.reader.deadline
		switch {
		case q.readClosed:
			q.mu.Unlock()
			return 0, net.ErrClosed
		case expired(deadline):
			q.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			q.mu.Unlock()
			return 0, nil
		case q.size > 0:
			n := q.take(b)
			q.mu.Unlock()
			q.writer.notify()
			return n, nil
		case q.writeClosed:
			q.mu.Unlock()
			return 0, io.EOF
		}
		q.mu.Unlock()
		q.reader.wait(deadline)
	}
}

func (q *queue) write(b []byte) (int, error) {
	q.writer.turn <- struct{}{}
	defer func() { <-q.writer.turn }()
	done := 0
	for {
		q.mu.Lock()
		deadline := q.writer.deadline
		switch {
		case q.writeClosed:
			q.mu.Unlock()
			return done, net.ErrClosed
		case q.readClosed:
			q.mu.Unlock()
			return done, errPeerClosed
		case expired(deadline):
			q.mu.Unlock()
			return done, os.ErrDeadlineExceeded
		}
		n := q.put(b[done:])
		q.mu.Unlock()
		if n > 0 {
			q.reader.notify()
		}
		if done += n; done == len(b) {
			return done, nil
		}
		q.writer.wait(deadline)
	}
}

// take moves bytes from the ring into b. The queue is locked and not empty.
func (q *queue) take(b []byte) int {
	n := min(len(b), q.size)
	first := copy(b[:n], q.ring[q.head:])
	copy(b[first:n], q.ring)
	q.size -= n
	if q.size == 0 {
		q.head = 0
	} else {
		q.head = (q.head + n) % len(q.ring)
	}
	return n
}

// put moves as many bytes of b into the ring as the bound permits. The queue is locked.
func (q *queue) put(b []byte) int {
	n := min(len(b), queueMax-q.size)
	if n == 0 {
		return 0
	}
	if q.size+n > len(q.ring) {
		q.grow(q.size + n)
	}
	tail := (q.head + q.size) % len(q.ring)
	first := copy(q.ring[tail:], b[:n])
	copy(q.ring, b[first:n])
	q.size += n
	return n
}

func (q *queue) grow(need int) {
	capacity := max(len(q.ring), queueMin)
	for capacity < need {
		capacity *= 2
	}
	ring := make([]byte, capacity)
	first := copy(ring[:q.size], q.ring[q.head:])
	copy(ring[first:q.size], q.ring)
	q.ring, q.head = ring, 0
}

func (q *queue) closeRead() {
	q.mu.Lock()
	q.readClosed = true
	q.ring, q.head, q.size = nil, 0, 0
	q.mu.Unlock()
	q.reader.notify()
	q.writer.notify()
}

func (q *queue) closeWrite() {
	q.mu.Lock()
	q.writeClosed = true
	q.mu.Unlock()
	q.reader.notify()
	q.writer.notify()
}

func (q *queue) setReadDeadline(t time.Time) {
	q.mu.Lock()
	q.reader.deadline = t
	q.mu.Unlock()
	q.reader.notify()
}

func (q *queue) setWriteDeadline(t time.Time) {
	q.mu.Lock()
	q.writer.deadline = t
	q.mu.Unlock()
	q.writer.notify()
}

// notify wakes the side if it waits, or makes its next wait return at once; the waiter looks again either way.
func (s *side) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// wait sleeps until notify or the deadline. Only the holder of the turn calls it.
func (s *side) wait(deadline time.Time) {
	if deadline.IsZero() {
		<-s.wake
		return
	}
	if s.timer == nil {
		s.timer = time.NewTimer(time.Until(deadline))
	} else {
		s.timer.Reset(time.Until(deadline))
	}
	select {
	case <-s.wake:
		s.timer.Stop()
	case <-s.timer.C:
	}
}

func expired(deadline time.Time) bool {
	return !deadline.IsZero() && !time.Now().Before(deadline)
}
