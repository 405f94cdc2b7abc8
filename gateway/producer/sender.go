package producer

import (
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxInFlight is how many requests a broker gets at a time.
	maxInFlight = 5
	// maxRequestBytes is from where on a request takes no more batches.
	maxRequestBytes = 8 << 20
)

// sender is what one broker is to get. Its goroutines send one request each and wait for the answer. Only one at a time makes a request and hands it to the
// connection, so that the requests leave in the order in which batches were taken.
type sender struct {
	broker int32
	ready  []*queue
	active int  // goroutines
	making bool // one of them makes a request
}

// list has the broker that leads a partition get what is in its queue.
func (p *Producer) list(q *queue) {
	s := p.senders[q.leader]
	if s == nil {
		s = &sender{broker: q.leader}
		p.senders[q.leader] = s
	}
	q.listed = true
	s.ready = append(s.ready, q)
	p.employ(s)
}

// employ starts a goroutine for what is ready, if there is need and room for one.
func (p *Producer) employ(s *sender) {
	if len(s.ready) > 0 && !s.making && s.active < maxInFlight {
		s.making = true
		s.active++
		p.running.Add(1)
		go p.send(s)
	}
}

// send sends what is ready until there is no more, or another goroutine does it.
func (p *Producer) send(s *sender) {
	defer p.running.Done()
	for {
		batches, late := p.take(s)
		settle(late)
		if len(batches) == 0 {
			return
		}
		p.deliver(s, batches)
		p.conclude(batches)
		if !p.goOn(s) {
			return
		}
	}
}

// take returns a batch of each queue that is ready, as far as they fit into one request. When there is none the goroutine is over.
func (p *Producer) take(s *sender) (batches []*batch, late []outcome) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	size := 0
	for n := len(s.ready); n > 0 && size < maxRequestBytes; n-- {
		q := s.ready[0]
		s.ready[0] = nil
		s.ready = s.ready[1:]
		q.listed = false
		if q.leader != s.broker || q.troubled || q.draining || !p.mayFly(q) {
			p.proceed(q, now)
			continue
		}
		var b *batch
		if b, late = q.next(now, late); b == nil {
			continue
		}
		b.answered, b.topicID = false, q.topic.known.ID
		q.flying, q.flyingTo = append(q.flying, b), s.broker
		if b.numbered = b.unsure || q.id.known() || p.cfg.Acks != acksAll; b.numbered {
			q.number(b)
		}
		size += b.size
		batches = append(batches, b)
	}
	for _, b := range batches {
		p.proceed(b.queue, now) // with the next request
	}
	if len(batches) == 0 {
		s.making = false
		p.leave(s)
	}
	return batches, late
}

// made says that a request is on its way, so that another can be made.
func (p *Producer) made(s *sender) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.making = false
	p.employ(s)
}

// goOn tells whether a goroutine whose request is answered makes another one.
func (p *Producer) goOn(s *sender) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(s.ready) == 0 || s.making {
		p.leave(s)
		return false
	}
	s.making = true
	return true
}

// leave ends a goroutine.
func (p *Producer) leave(s *sender) {
	s.active--
	p.employ(s)
	if s.active == 0 {
		delete(p.senders, s.broker)
	}
}

// deliver sends batches in one request and notes the answers.
func (p *Producer) deliver(s *sender, batches []*batch) {
	if len(batches) > 1 { // those of a topic stand together in a request
		slices.SortFunc(batches, func(a, b *batch) int { return strings.Compare(a.queue.topic.name, b.queue.topic.name) })
	}
	err := p.identify(batches)
	for _, b := range batches {
		b.verdict = verdict{}
		if !b.numbered {
			b.verdict = verdict{kind: kindOf(err), err: err}
		} else if err := b.encode(p); err != nil {
			b.verdict = verdict{kind: failed, err: err}
		}
	}
	made := sync.OnceFunc(func() { p.made(s) })
	p.request(s.broker, batches, made)
	made()
}

// identify gets a producer id for the partitions that have none, and numbers their batches. A partition without an id has one batch under way.
func (p *Producer) identify(batches []*batch) error {
	for _, b := range batches {
		if b.numbered {
			continue
		}
		q := b.queue
		id, err := p.ids.get(p.ctx, q.spent) // which changes with a batch under way only
		if err != nil {
			return err
		}
		p.mu.Lock()
		q.id, q.sequence, b.numbered = id, 0, true
		q.number(b)
		p.mu.Unlock()
	}
	return nil
}
