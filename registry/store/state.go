package store

import (
	"context"
	"fmt"
	"sync/atomic"

	"moldau/registry/catalog"
)

// state is what the tail has published. The tail alone changes it.
type state struct {
	current atomic.Pointer[published]
	metrics *metrics
}

// published is one state. changed is closed when the next one is there.
type published struct {
	catalog *catalog.Catalog
	loaded  bool  // the catalog was as new as the topic once
	exists  bool  // there is a topic
	err     error // what keeps the tail from going on
	changed chan struct{}
}

func newState(m *metrics) *state {
	s := &state{metrics: m}
	s.current.Store(&published{catalog: new(catalog.Catalog), changed: make(chan struct{})})
	return s
}

func (s *state) load() *published { return s.current.Load() }

// publish shows a new state.
func (s *state) publish(p published) {
	p.changed = make(chan struct{})
	old := s.current.Swap(&p)
	s.metrics.published(&p)
	close(old.changed)
}

// wait returns the first state for which ok is true.
func (s *state) wait(ctx context.Context, ok func(*published) bool) (*published, error) {
	for {
		p := s.load()
		if ok(p) {
			return p, nil
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			if p.err != nil {
				return nil, fmt.Errorf("%w: %w", ErrUnavailable, p.err)
			}
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		}
	}
}
