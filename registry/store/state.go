package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"moldau/registry/catalog"
)

// value is what a topic holds, as an immutable value: *catalog.Catalog or *catalog.Ledger.
type value[V any] interface {
	*V
	Apply(r catalog.Record) (*V, error)
	At(offset int64) *V
	Offset() int64
	Generation() int64
	Commit() int64
	Size() int
}

// state is what the catalog's tail has published, ledgerState what the ledger's has.
type (
	state       = stateOf[catalog.Catalog, *catalog.Catalog]
	published   = publishedOf[catalog.Catalog, *catalog.Catalog]
	ledgerState = stateOf[catalog.Ledger, *catalog.Ledger]
)

// stateOf is what a tail has published. The tail alone changes it.
type stateOf[V any, P value[V]] struct {
	current atomic.Pointer[publishedOf[V, P]]
	observe func(*publishedOf[V, P])
}

// publishedOf is one state. changed is closed when the next one is there.
type publishedOf[V any, P value[V]] struct {
	catalog P     // what the topic holds
	loaded  bool  // the catalog was as new as the topic once
	exists  bool  // there is a topic
	err     error // what keeps the tail from going on
	changed chan struct{}
}

func newState(m *metrics) *state { return newStateOf(m.published) }

func newLedgerState(m *metrics) *ledgerState { return newStateOf(m.publishedLedger) }

func newStateOf[V any, P value[V]](observe func(*publishedOf[V, P])) *stateOf[V, P] {
	s := &stateOf[V, P]{observe: observe}
	s.current.Store(&publishedOf[V, P]{catalog: P(new(V)), changed: make(chan struct{})})
	return s
}

func (s *stateOf[V, P]) load() *publishedOf[V, P] { return s.current.Load() }

// publish shows a new state.
func (s *stateOf[V, P]) publish(p publishedOf[V, P]) {
	p.changed = make(chan struct{})
	old := s.current.Swap(&p)
	s.observe(&p)
	close(old.changed)
}

// wait returns the first state for which ok is true. It does not wait for an operator to mend the topic.
func (s *stateOf[V, P]) wait(ctx context.Context, ok func(*publishedOf[V, P]) bool) (*publishedOf[V, P], error) {
	for {
		p := s.load()
		if ok(p) {
			return p, nil
		}
		if errors.Is(p.err, ErrTopic) {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, p.err)
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
