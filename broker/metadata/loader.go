package metadata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"moldau/internal/invariant"
)

// Subscriber is told of every new image. Calls come one at a time, in order, from the goroutine of Loader.Run; the first
// has the empty image as prev and everything that exists in the delta. A subscriber may take its time (it holds back
// WaitFor, not the store), but must not wait for the loader.
type Subscriber func(prev, next *Image, delta Delta)

// Loader keeps an image up to date with a store.
type Loader struct {
	store  Store
	logger *slog.Logger
	image  atomic.Pointer[Image]
	wake   chan struct{} // capacity 1: there are new subscribers
	done   chan struct{} // closed when Run returns

	active []Subscriber // of Run's goroutine only

	mu      sync.Mutex
	pending []Subscriber  // not yet called for the first time
	applied Rev           // all subscribers have returned from this revision; -1 before the first image
	changed chan struct{} // closed and replaced when applied grows
	err     error         // why Run returned, set before done is closed
}

// NewLoader returns a loader for a store. It does nothing until Run is called.
func NewLoader(store Store, logger *slog.Logger) *Loader {
	l := &Loader{
		store:   store,
		logger:  logger,
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		applied: -1,
		changed: make(chan struct{}),
	}
	l.image.Store(NewImage())
	return l
}

// Image returns the newest image. Before the first load it is empty, with revision 0.
func (l *Loader) Image() *Image { return l.image.Load() }

// Subscribe adds a subscriber. It may be called at any time, before Run too; the first call of s comes from Run's
// goroutine, so it may come after Subscribe has returned.
func (l *Loader) Subscribe(s Subscriber) {
	l.mu.Lock()
	l.pending = append(l.pending, s)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// WaitFor returns once the image has reached a revision and all subscribers have returned from it. Revision 0 waits for
// the first load. The error is that of ctx, or why Run ended.
func (l *Loader) WaitFor(ctx context.Context, rev Rev) error {
	for {
		l.mu.Lock()
		reached, changed := l.applied >= rev, l.changed
		l.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-changed:
		case <-l.done:
			return l.ended(rev)
		case <-ctx.Done():
			return fmt.Errorf("wait for metadata revision %d: %w", rev, context.Cause(ctx))
		}
	}
}

func (l *Loader) ended(rev Rev) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.applied >= rev {
		return nil
	}
	return fmt.Errorf("wait for metadata revision %d: %w", rev, l.err)
}

// retryDelay is how long Run waits after a read of the store has failed.
const retryDelay = 200 * time.Millisecond

// Run follows the store until ctx ends (the error is nil then), the store is closed (ErrClosed), or something is stored
// that this version cannot understand (ErrCorrupt, ErrNewerFormat). It must be called once.
func (l *Loader) Run(ctx context.Context) error {
	err := l.run(ctx)
	l.mu.Lock()
	l.err = err
	if err == nil {
		l.err = ErrClosed
	}
	l.mu.Unlock()
	close(l.done)
	return err
}

func (l *Loader) run(ctx context.Context) error {
	for {
		err := l.follow(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // that is how Run is stopped
		case errors.Is(err, ErrClosed), errors.Is(err, ErrCorrupt), errors.Is(err, ErrNewerFormat):
			return fmt.Errorf("load metadata: %w", err)
		case errors.Is(err, ErrCompacted):
			l.logger.Info("metadata watch fell behind, reading everything again", "rev", l.Image().Rev())
			continue
		}
		l.logger.Warn("metadata cannot be read, trying again", "rev", l.Image().Rev(), "delay", retryDelay, "error", err)
		timer := time.NewTimer(retryDelay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// follow reads everything once and then applies changes until the watch ends.
func (l *Loader) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	kvs, rev, err := l.store.List(ctx, "")
	if err != nil {
		return err
	}
	img, err := BuildImage(rev, kvs)
	if err != nil {
		return err
	}
	l.publish(img, diff(l.Image(), img))
	batches, err := l.store.Watch(ctx, "", rev)
	if err != nil {
		return err
	}
	for {
		select {
		case batch, ok := <-batches:
			if !ok {
				return ErrClosed // or ctx has ended, which run looks at first
			}
			if err := l.apply(batch); err != nil {
				return err
			}
		case <-l.wake:
			l.greet()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *Loader) apply(batch Batch) error {
	if batch.Err != nil {
		return batch.Err
	}
	next, delta, err := l.Image().Apply(batch.Rev, batch.Events)
	if err != nil {
		return err
	}
	l.publish(next, delta)
	return nil
}

// publish makes next the image, tells the subscribers and then the waiters.
func (l *Loader) publish(next *Image, delta Delta) {
	prev := l.image.Swap(next)
	invariant.Check(prev.rev <= next.rev, "image of revision %d follows %d", next.rev, prev.rev)
	for _, s := range l.active {
		s(prev, next, delta)
	}
	l.greet()
	l.mu.Lock()
	l.applied = next.rev
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
}

// greet calls new subscribers for the first time.
func (l *Loader) greet() {
	l.mu.Lock()
	fresh := l.pending
	l.pending = nil
	l.mu.Unlock()
	for _, s := range fresh {
		empty, now := NewImage(), l.Image()
		s(empty, now, diff(empty, now))
		l.active = append(l.active, s)
	}
}
