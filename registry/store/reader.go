package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/catalog"
)

// Reader keeps up with a catalog's topic and never writes. Its methods may be called concurrently.
type Reader struct {
	admin *admin
	state *state
	tail  *tail

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// OpenReader returns a reader and begins to read the topic. Of the options it needs Bootstrap, Dial, Topic and Logger.
func OpenReader(o Options) (*Reader, error) {
	client, err := kgo.NewClient(o.clientOptions()...)
	if err != nil {
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	second, err := kgo.NewClient(o.clientOptions()...) // see Open
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	m := newMetrics(nil)
	r := &Reader{admin: &admin{client}, state: newState(m)}
	r.tail = &tail{admin: &admin{second}, topic: o.Topic, state: r.state, log: o.Logger, metrics: m, kick: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.wg.Go(func() { r.tail.run(ctx) })
	return r, nil
}

// Catalog is the newest catalog. Until Wait has returned it may be older than the topic.
func (r *Reader) Catalog() *catalog.Catalog { return r.state.load().catalog }

// Wait waits until the catalog has been loaded. The error tells what stands in the way when ctx ends.
func (r *Reader) Wait(ctx context.Context) error {
	_, err := r.state.wait(ctx, func(p *published) bool { return p.loaded })
	return err
}

// Current waits until the catalog holds all that was committed when it was called.
func (r *Reader) Current(ctx context.Context) error { return current(ctx, r.admin, r.tail) }

// Close ends the reader.
func (r *Reader) Close() {
	r.cancel()
	r.wg.Wait()
	r.tail.admin.client.Close()
	r.admin.client.Close()
}

// Current waits until the catalog holds all that was committed when it was called.
func (s *Store) Current(ctx context.Context) error { return current(ctx, s.admin, s.tail) }

// current asks where the topic ends and waits until its tail is there.
func current(ctx context.Context, a *admin, t *tail) error {
	at, err := a.find(ctx, t.topic)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		_, err := t.state.wait(ctx, func(p *published) bool { return p.loaded })
		return err // there is nothing that it could lack
	}
	if err != nil {
		return err
	}
	end, err := a.offset(ctx, t.topic, at, latest, true)
	if err != nil {
		return err
	}
	if !t.state.load().exists {
		t.wake()
	}
	_, err = t.state.wait(ctx, func(p *published) bool { return p.loaded && p.catalog.Offset() >= end })
	return err
}
