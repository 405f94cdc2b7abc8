package coordinator

import (
	"errors"
	"time"
)

// parked holds answers until their records are committed, in the order of the log.
type parked struct {
	waiting []parkedAnswers // from head on
	head    int
	expired int // of those from head on, how many have been answered because their time was over
}

type parkedAnswers struct {
	commit  Commit
	answers []func(error)
	expires time.Time
}

// add parks answers behind all others.
func (p *parked) add(c Commit, answers []func(error), expires time.Time) {
	p.waiting = append(p.waiting, parkedAnswers{c, answers, expires})
}

// last returns the commit that comes last, or nil if everything is committed.
func (p *parked) last() Commit {
	if p.head == len(p.waiting) {
		return nil
	}
	return p.waiting[len(p.waiting)-1].commit
}

// deadline returns when the next answers have waited long enough.
func (p *parked) deadline() time.Time {
	if at := p.head + p.expired; at < len(p.waiting) {
		return p.waiting[at].expires
	}
	return time.Time{}
}

// release gives the answers whose records are committed, and ErrTimedOut to those that have waited long enough. It returns
// what is closed when it makes sense to call it again, or the error that ends the shard.
func (p *parked) release(now time.Time) (changed <-chan struct{}, err error) {
	for p.head < len(p.waiting) {
		w := &p.waiting[p.head]
		done, err, again := w.commit.Poll()
		if !done {
			changed = again
			break
		}
		if errors.Is(err, ErrNotCoordinator) {
			return nil, err
		}
		if err != nil {
			err = ErrNotAvailable // in the log, and yet not as safe as was asked for
		}
		w.give(err)
		*w = parkedAnswers{}
		p.head++
		p.expired = max(0, p.expired-1)
	}
	if p.head == len(p.waiting) {
		p.waiting, p.head = p.waiting[:0], 0
	} else if p.head >= 64 && p.head > len(p.waiting)/2 {
		n := copy(p.waiting, p.waiting[p.head:])
		clear(p.waiting[n:])
		p.waiting, p.head = p.waiting[:n], 0
	}
	for at := p.head + p.expired; at < len(p.waiting) && !p.waiting[at].expires.After(now); at++ {
		p.waiting[at].give(ErrTimedOut)
		p.expired++
	}
	return changed, nil
}

// fail answers everything with err.
func (p *parked) fail(err error) {
	for i := range p.waiting[p.head:] {
		p.waiting[p.head+i].give(err)
	}
	*p = parked{}
}

func (w *parkedAnswers) give(err error) {
	answers := w.answers
	w.answers = nil
	for _, f := range answers {
		f(err)
	}
}
