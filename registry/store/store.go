package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/catalog"
)

// Store is a catalog in a topic. Its methods may be called concurrently.
type Store struct {
	opts    Options
	admin   *admin
	state   *state
	tail    *tail
	ledger  *ledgerTail
	seat    *seat
	manager *manager
	keys    *keyring

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Open returns a store and begins to read the topic. It does not wait for the cluster: Wait does.
func Open(o Options) (*Store, error) {
	client, err := kgo.NewClient(append(o.clientOptions(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), // keys of replicas, to partition 0
		kgo.RecordDeliveryTimeout(o.WriteTimeout),
	)...)
	if err != nil {
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	// A fetch that waits holds up what is behind it on its connection, so the tail has a client of its own.
	reader, err := kgo.NewClient(o.clientOptions()...)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	// Likewise the ledger's.
	second, err := kgo.NewClient(o.clientOptions()...)
	if err != nil {
		client.Close()
		reader.Close()
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	m := newMetrics(o.Registerer)
	s := &Store{opts: o, admin: &admin{client}, state: newState(m), seat: newSeat(o)}
	s.tail = &tail{admin: &admin{reader}, topic: o.Topic, state: s.state, log: o.Logger, metrics: m, kick: make(chan struct{}, 1)}
	s.ledger = &ledgerTail{
		admin: &admin{second}, topic: o.LedgerTopic, state: newLedgerState(m), log: o.Logger, metrics: m, kick: make(chan struct{}, 1),
	}
	s.keys = &keyring{
		admin: s.admin, topic: o.KeyTopic, self: s.seat.id, lifetime: o.KeyLifetime, replicas: o.ReplicationFactor,
		turn: make(chan struct{}, 1),
	}
	s.manager = &manager{
		opts: o, admin: s.admin, state: s.state, tail: s.tail, ledger: s.ledger, seat: s.seat, metrics: m,
		requests: make(chan *request), join: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.wg.Go(func() { s.tail.run(ctx) })
	s.wg.Go(func() { s.ledger.run(ctx) })
	s.wg.Go(func() { s.manager.run(ctx) })
	return s, nil
}

// Catalog is the newest catalog. Until Wait has returned it may be older than the topic.
func (s *Store) Catalog() *catalog.Catalog { return s.state.load().catalog }

// Ledger is the newest ledger. Until WaitLedger has returned it may be older than its topic. It is kept apart from the
// catalog: what one transaction wrote to both may be seen in one of them a moment before it is in the other.
func (s *Store) Ledger() *catalog.Ledger { return s.ledger.state.load().catalog }

// Wait waits until the catalog has been loaded. The error tells what stands in the way when ctx ends.
func (s *Store) Wait(ctx context.Context) error {
	_, err := s.state.wait(ctx, func(p *published) bool { return p.loaded })
	return err
}

// WaitLedger waits until the ledger has been loaded and holds everything before an offset.
func (s *Store) WaitLedger(ctx context.Context, offset int64) error {
	_, err := s.ledger.state.wait(ctx, func(p *publishedOf[catalog.Ledger, *catalog.Ledger]) bool {
		return p.loaded && p.catalog.Offset() >= offset
	})
	return err
}

// WaitFor waits until the catalog holds everything before an offset.
func (s *Store) WaitFor(ctx context.Context, offset int64) error {
	_, err := s.state.wait(ctx, func(p *published) bool { return p.loaded && p.catalog.Offset() >= offset })
	return err
}

// Ready answers nil when the catalog is loaded and the topic can be read.
func (s *Store) Ready(context.Context) error {
	p, l := s.state.load(), s.ledger.state.load()
	switch {
	case p.err != nil:
		return p.err
	case !p.loaded:
		return fmt.Errorf("%d subjects loaded so far", p.catalog.Size())
	case l.err != nil:
		return l.err
	case !l.loaded:
		return fmt.Errorf("%d records of modules loaded so far", l.catalog.Size())
	}
	return nil
}

// Owner tells which replica writes. It waits until one is elected, and takes part in the election, for which it makes
// the topic if there is none.
func (s *Store) Owner(ctx context.Context) (Owner, error) {
	if o, ok := s.seat.owner(); ok {
		return o, nil
	}
	s.manager.wantSeat()
	return s.seat.wait(ctx)
}

// OwnedBy returns a context that ends when the replica at a URL is no longer known to be the owner. The caller cancels it.
func (s *Store) OwnedBy(ctx context.Context, url string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with the context, which the caller cancels
		for {
			s.seat.mu.Lock()
			owned, changed := s.seat.known && s.seat.holder.URL == url, s.seat.changed
			s.seat.mu.Unlock()
			if !owned {
				cancel(ErrNotOwner)
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Decide makes a decision on a catalog. It returns the changes that carry it out, none when there is nothing to change.
// It may be called several times, by one goroutine after the other; the last call counts. None is made after Commit has returned.
type Decide func(*catalog.Catalog) ([]catalog.Change, error)

// Commit carries out a decision. It returns the decision's own error, or one of those of this package. The offset is
// that behind the decision: a catalog that has reached it shows it.
func (s *Store) Commit(ctx context.Context, decide Decide) (offset int64, err error) {
	return s.CommitBoth(ctx, func(c *catalog.Catalog, _ *catalog.Ledger) (Changes, error) {
		changes, err := decide(c)
		return Changes{Catalog: changes}, err
	})
}

// Changes are what a decision wants changed, in the catalog and in the ledger.
type Changes struct{ Catalog, Ledger []catalog.Change }

func (c Changes) none() bool { return len(c.Catalog) == 0 && len(c.Ledger) == 0 }

// DecideBoth makes a decision on the catalog and the ledger, as Decide does on the catalog.
type DecideBoth func(*catalog.Catalog, *catalog.Ledger) (Changes, error)

// CommitBoth carries out a decision on the catalog and the ledger in one transaction. When it returns nil both show it.
// Errors and the offset, which is the catalog's, are as with Commit.
func (s *Store) CommitBoth(ctx context.Context, decide DecideBoth) (offset int64, err error) {
	// A decision that comes to nothing needs no writer, and the costly part of any other is in caches afterwards.
	c := s.Catalog()
	if changes, err := decide(c, s.Ledger()); err != nil || changes.none() {
		return c.Offset(), err
	}
	r := newRequest(decide)
	select {
	case s.manager.requests <- r:
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: nothing was written: %w", ErrUnavailable, ctx.Err())
	case <-s.manager.stopped():
		return 0, ErrClosed
	}
	select {
	case res := <-r.done:
		return res.offset, res.err
	case <-ctx.Done():
		<-r.decided // a decision may leave something for the caller, who looks at it when this has returned
		return 0, fmt.Errorf("%w: the write is under way: %w", ErrUnavailable, ctx.Err())
	}
}

// ClusterID is the id of the Kafka cluster.
func (s *Store) ClusterID(ctx context.Context) (string, error) { return s.admin.clusterID(ctx) }

// Group is the consumer group of the replicas.
func (s *Store) Group() string { return s.opts.Group }

// Sign signs a message for other replicas. It returns the name and the proof to send along.
func (s *Store) Sign(ctx context.Context, message []byte) (name string, proof []byte, err error) {
	return s.keys.sign(ctx, message)
}

// Verify checks that a replica of this registry signed a message. Errors wrap ErrSignature, or say why it can't be told.
func (s *Store) Verify(ctx context.Context, name string, proof, message []byte) error {
	return s.keys.verify(ctx, name, proof, message)
}

// Close ends everything. Writes under way are finished or fail.
func (s *Store) Close(ctx context.Context) error {
	s.manager.leave(ctx)
	s.cancel()
	done := make(chan struct{})
	go func() { // ends with the goroutines of the store, which the cancelled context ends
		s.wg.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = fmt.Errorf("close the registry's store: %w", ctx.Err())
	}
	s.tail.admin.client.Close()
	s.ledger.admin.client.Close()
	s.admin.client.Close()
	return err
}

// ended tells whether an error is only that of a context.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
