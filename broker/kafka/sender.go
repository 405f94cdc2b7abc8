package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// keepQueue is the length of a queue whose memory a connection keeps while it is idle.
const keepQueue = 8

// coalesce is how many bytes of ready answers are gathered before they are written.
const coalesce = 64 << 10

// pending is an answer on its way: what the handler gave back, and what the metrics want to know of it.
type pending struct {
	reply       reply
	api         *api
	version     int16
	correlation int32
	flexible    bool // the response header has tags
	size        int  // of the request
	charged     int  // bytes taken from the budget for decoded requests
	times       times
}

// times are the moments of a request, since the start of the server.
type times struct {
	received, began, executed, final, sending time.Duration
}

// sender writes answers in the order of their requests. The reading goroutine writes itself as long as no answer waits;
// when one does, a goroutine of its own takes over, sends the queue, and ends.
type sender struct {
	c   *conn
	max struct{ requests, bytes int }

	mu      sync.Mutex
	queue   []pending // from head on
	head    int
	bytes   int           // sizes of the requests in the queue
	running bool          // the goroutine exists
	room    chan struct{} // holds a token when the queue has become shorter
	ended   chan struct{} // closed when the goroutine ends; nil unless somebody waits for that

	// out and sent belong to whoever sends: the goroutine while it runs, the reader otherwise.
	out  outgoing
	sent []pending // encoded, not yet written
	err  error     // why nothing can be sent any more
}

// busy tells whether answers are waiting.
func (s *sender) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// waitForRoom waits until the connection may be read ahead, and returns false if it is closing.
func (s *sender) waitForRoom(ctx context.Context) bool {
	return s.waitUntil(ctx, func() bool {
		return !s.running || len(s.queue)-s.head < s.max.requests && s.bytes < s.max.bytes
	})
}

// waitUntilIdle waits until no answer is waiting, and returns false if the connection is closing.
func (s *sender) waitUntilIdle(ctx context.Context) bool {
	return s.waitUntil(ctx, func() bool { return !s.running })
}

// waitUntil waits for a condition that the end of an answer may bring about.
func (s *sender) waitUntil(ctx context.Context, condition func() bool) bool {
	for {
		s.mu.Lock()
		ok := condition()
		s.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-s.room:
		case <-ctx.Done():
			return false
		}
	}
}

// send sends an answer, now or when those before it are sent. more says that the reader will call again at once, so that
// a ready answer may be held back until then. Only the reader calls it.
func (s *sender) send(p pending, more bool) error {
	s.mu.Lock()
	if !s.running && p.reply.ready() {
		s.mu.Unlock()
		p.times.final = p.times.executed
		s.encode(p)
		if !more || s.out.size() >= coalesce {
			s.flush()
		}
		return s.err
	}
	s.queue = append(s.queue, p)
	s.bytes += p.size
	s.c.srv.metrics.waiting.Add(1)
	start := !s.running
	s.running = true
	s.mu.Unlock()
	if start {
		s.flush() // out is still the reader's
		s.c.srv.goroutines.Add(1)
		go s.drain()
	}
	return nil
}

// drain sends the queue until it is empty. It owns out and sent meanwhile.
func (s *sender) drain() {
	defer s.c.srv.goroutines.Done()
	for {
		p, ok := s.take()
		if !ok {
			return
		}
		if !p.reply.ready() {
			s.flush()
			s.wait(&p)
		}
		p.times.final = s.c.srv.now()
		s.encode(p)
		if s.out.size() >= coalesce {
			s.flush()
		}
	}
}

// take removes the head of the queue. If there is none, everything is written and the goroutine's time is over.
func (s *sender) take() (pending, bool) {
	for {
		s.mu.Lock()
		if s.head < len(s.queue) {
			p := s.queue[s.head]
			s.queue[s.head] = pending{}
			s.head++
			s.bytes -= p.size
			s.mu.Unlock()
			s.c.srv.metrics.waiting.Add(-1)
			s.signalRoom()
			return p, true
		}
		s.queue, s.head = s.queue[:0], 0
		if len(s.sent) == 0 {
			s.stop()
			s.mu.Unlock()
			s.signalRoom()
			return pending{}, false
		}
		s.mu.Unlock()
		s.flush()
	}
}

// stop notes that the goroutine ends. The caller holds the lock.
func (s *sender) stop() {
	s.running = false
	if cap(s.queue) > keepQueue {
		s.queue = nil
	}
	if s.ended != nil {
		close(s.ended)
		s.ended = nil
	}
}

func (s *sender) signalRoom() {
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// finish returns when all answers are sent or given up. The reader calls it last.
func (s *sender) finish() {
	s.mu.Lock()
	if !s.running {
		s.mu.Unlock()
		s.flush()
		return
	}
	ended := make(chan struct{})
	s.ended = ended
	s.mu.Unlock()
	<-ended
}

// wait parks until an answer is final.
func (s *sender) wait(p *pending) {
	if s.err != nil {
		return
	}
	var err error
	defer func() {
		if err != nil {
			s.fail(err)
		}
	}()
	defer s.c.recovered(p.api, p.version, &err)
	p.reply.wait(s.c.ctx)
}

// encodeReply writes the body of an answer.
func (s *sender) encodeReply(p *pending) (err error) {
	defer s.c.recovered(p.api, p.version, &err)
	return p.reply.encode(&s.out.response)
}

// encode adds an answer to what goes out.
func (s *sender) encode(p pending) {
	if s.err != nil {
		s.c.srv.release(&p)
		return
	}
	p.times.sending = s.c.srv.now()
	s.out.lend(s.c.srv.buffers)
	s.out.begin(p.correlation, p.flexible)
	if err := s.encodeReply(&p); err != nil {
		s.out.drop()
		s.c.srv.release(&p)
		s.flush() // what came before is still owed
		s.fail(err)
		return
	}
	s.out.end()
	s.c.srv.metrics.answered(&p)
	s.sent = append(s.sent, p)
}

// flush writes what goes out and releases the replies.
func (s *sender) flush() {
	if len(s.sent) == 0 {
		return
	}
	var err error
	if s.err == nil && s.out.size() > 0 {
		err = s.c.write(&s.out.response)
	}
	now := s.c.srv.now()
	for i := range s.sent {
		s.c.srv.metrics.sent(&s.sent[i], now)
		s.c.srv.release(&s.sent[i])
	}
	clear(s.sent)
	s.sent = s.sent[:0]
	s.out.free(s.c.srv.buffers)
	s.c.progress.lastActive.Store(int64(now))
	if err != nil && !errors.Is(err, errRecords) {
		err = fmt.Errorf("%w: write: %w", errSilent, err) // the peer is gone
	}
	if err != nil {
		s.fail(err)
	}
}

// fail ends the connection: nothing is sent after this. The reader notices because the connection is closed under it.
func (s *sender) fail(err error) {
	if s.err == nil {
		s.err = err
		s.c.abort()
	}
}

// outgoing is a response whose bytes are on loan.
type outgoing struct {
	response
	loan *buffer
}

func (o *outgoing) lend(p *buffers) {
	if o.loan == nil {
		o.loan = p.get(1)
		o.bytes = o.loan.b
	}
}

// free gives the memory back.
func (o *outgoing) free(p *buffers) {
	if o.loan == nil {
		return
	}
	o.loan.b = o.bytes
	o.reset()
	o.bytes = nil
	p.put(o.loan)
	o.loan = nil
}
