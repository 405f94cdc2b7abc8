package producer

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

const (
	// firstPause and longestPause bound the time between two attempts; it doubles from one to the next.
	firstPause   = 25 * time.Millisecond
	longestPause = time.Second
	// maxUnknown is how often a partition may be unknown, to the broker that leads it or in the metadata, before its records fail: one that was
	// just created may be, for a moment.
	maxUnknown = 6
)

// suspend has a queue wait for the recovery of its topic. trouble says why, if it is known.
func (p *Producer) suspend(q *queue, trouble error) {
	q.troubled = true
	q.tries++
	if trouble != nil {
		q.trouble = trouble
	}
	if t := q.topic; !t.recovering {
		t.recovering = true
		p.running.Add(1)
		go p.recoverTopic(t)
	}
}

// recoverTopic looks for the leaders of a topic until none of its queues has trouble.
func (p *Producer) recoverTopic(t *topic) {
	defer p.running.Done()
	for {
		timer := time.NewTimer(p.pause(t))
		select {
		case <-timer.C:
		case <-p.ctx.Done():
			timer.Stop()
			return // Close has emptied the queues
		}
		known, err := p.cfg.Find(p.ctx, t.name)
		if !p.resume(t, known, err) {
			return
		}
	}
}

// pause is how long to wait before the next attempt.
func (p *Producer) pause(t *topic) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	tries := 1
	for _, q := range t.queues {
		if q.troubled {
			tries = max(tries, q.tries)
		}
	}
	return min(firstPause<<min(tries-1, 10), longestPause)
}

// resume has the queues sent again whose leaders are known, and tells whether there are others.
func (p *Producer) resume(t *topic, known *Topic, err error) bool {
	var out []outcome
	now := time.Now()
	p.mu.Lock()
	if known != nil {
		t.update(known)
	}
	for _, q := range t.queues {
		if !q.troubled {
			continue
		}
		var why error
		if out = q.expire(now, out); len(q.again)+len(q.waiting) > 0 {
			out, why = q.settled(err, out)
		}
		if q.troubled = why != nil; q.troubled {
			q.tries++
			q.trouble = why
			continue
		}
		p.proceed(q, now)
	}
	more := slices.ContainsFunc(t.queues, func(q *queue) bool { return q.troubled })
	t.recovering = more
	p.mu.Unlock()
	settle(out)
	return more
}

// settled tells why the queue must wait on, nil if it need not: because its leader is known, or because all in it has failed. err
// is what the question for the topic ended with.
func (q *queue) settled(err error, out []outcome) (_ []outcome, why error) {
	switch {
	case err == nil && q.leader >= 0:
		return out, nil
	case err == nil && int(q.partition) < len(q.topic.known.Leaders):
		return out, kerr.LeaderNotAvailable
	case err == nil:
		err = kerr.UnknownTopicOrPartition
	}
	if strange(err) {
		if q.unknown++; q.unknown <= maxUnknown {
			return out, err
		}
		return q.failAll(err, out), nil
	}
	switch kindOf(err) {
	case shut:
		return q.failAll(ErrClosed, out), nil
	case failed:
		return q.failAll(err, out), nil
	default:
		return out, err
	}
}
