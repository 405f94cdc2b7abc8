package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
)

// Owner is the replica that writes.
type Owner struct {
	URL  string // where it is reached
	Self bool   // it is this one
}

// seat is what this replica knows of who owns the topic. The group's client writes it, everybody reads it.
type seat struct {
	id, url string // of this replica
	static  bool   // the id outlives the process

	mu      sync.Mutex
	holder  member
	known   bool
	members int
	turn    int   // how often the group has spoken
	since   int64 // the generation of the group in which this replica became the owner; 0 when it is not
	err     error // why there is no election
	changed chan struct{}
}

func newSeat(o Options) *seat {
	s := &seat{id: o.Instance, url: o.URL, static: o.Instance != "", changed: make(chan struct{})}
	if !s.static {
		s.id = rand.Text()
	}
	return s
}

// owner returns the owner if it is known.
func (s *seat) owner() (Owner, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Owner{URL: s.holder.URL, Self: s.holder.ID == s.id}, s.known
}

// view is the seat at a moment, for the manager.
type view struct {
	self, known, moved bool // moved: the owner is this replica, but at an address it no longer has
	turn, members      int
	changed            <-chan struct{}
}

func (s *seat) look() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	self := s.known && s.holder.ID == s.id
	return view{self, s.known, self && s.holder.URL != s.url, s.turn, s.members, s.changed}
}

// wait waits until the owner is known.
func (s *seat) wait(ctx context.Context) (Owner, error) {
	for {
		s.mu.Lock()
		o, known, err, changed := Owner{s.holder.URL, s.holder.ID == s.id}, s.known, s.err, s.changed
		s.mu.Unlock()
		if known {
			return o, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if err == nil {
				err = ctx.Err()
			}
			return Owner{}, fmt.Errorf("%w: no replica was elected: %w", ErrNotOwner, err)
		}
	}
}

// assign notes what the group says.
func (s *seat) assign(holder member, members int, generation int64) {
	s.update(func() {
		s.holder, s.known, s.members, s.err = holder, holder.ID != "", members, nil
		s.turn++
		switch {
		case holder.ID != s.id:
			s.since = 0
		case s.since == 0:
			s.since = max(generation, 1)
		}
	})
}

// vacate notes that the owner is not known. err tells why, and may be nil.
func (s *seat) vacate(err error) {
	s.update(func() { s.known, s.since, s.err = false, 0, err })
}

func (s *seat) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// self is what this replica tells the group about itself.
func (s *seat) self() member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return member{ID: s.id, URL: s.url, Since: s.since}
}
