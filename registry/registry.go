package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sort"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/store"
)

// Deps is what the registry is made with.
type Deps struct {
	// Formats are the schema languages.
	Formats []format.Format
	// Dial opens connections to brokers on behalf of a principal. It may be nil for TCP.
	Dial func(ctx context.Context, principal, addr string) (net.Conn, error)
	// Authorizer decides who may do what. It may be nil: then all may.
	Authorizer Authorizer
	Logger     *slog.Logger
	Registerer prometheus.Registerer // may be nil
}

// Registry is the schema registry. Its methods may be called concurrently.
type Registry struct {
	cfg        Config
	store      *store.Store
	parser     *parser
	authorizer Authorizer
	log        *slog.Logger
	metrics    *metrics
	fallback   *catalog.Config // where nothing is configured
}

// New returns a registry, which begins to load its topic. It does not wait for the cluster.
func New(cfg Config, d Deps) (*Registry, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	if len(cfg.BootstrapServers) == 0 {
		if d.Dial == nil {
			return nil, errors.New("registry: bootstrap.servers is empty and there is no broker in this process")
		}
		cfg.BootstrapServers = []string{"localhost:9092"} // the dialer decides where that is
	}
	if d.Authorizer == nil {
		d.Authorizer = AllowAll{}
	}
	m := newMetrics(d.Registerer)
	o := store.Options{
		Bootstrap: cfg.BootstrapServers, Topic: cfg.Topic, LedgerTopic: cfg.ModulesTopic, KeyTopic: keyTopic, Group: cfg.Group,
		Instance: cfg.Instance, URL: cfg.AdvertisedURL, ReplicationFactor: cfg.ReplicationFactor,
		SessionTimeout: cfg.SessionTimeout, WriteTimeout: cfg.WriteTimeout, KeyLifetime: cfg.KeyLifetime,
		Logger: d.Logger, Registerer: d.Registerer,
	}
	if d.Dial != nil {
		o.Dial = func(ctx context.Context, addr string) (net.Conn, error) { return d.Dial(ctx, cfg.Principal, addr) }
	}
	s, err := store.Open(o)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	return &Registry{
		cfg: cfg, store: s, parser: newParser(cfg, d.Formats, m), authorizer: d.Authorizer, log: d.Logger, metrics: m,
		fallback: &catalog.Config{CompatibilityLevel: cfg.Level},
	}, nil
}

// Config returns the configuration.
func (r *Registry) Config() Config { return r.cfg }

// Wait waits until the topic is loaded.
func (r *Registry) Wait(ctx context.Context) error { return r.store.Wait(ctx) }

// Position is how far a replica has read: the offsets of both topics up to which it knows everything.
type Position struct{ Catalog, Ledger int64 }

// Position is how far this replica has read.
func (r *Registry) Position() Position {
	return Position{r.store.Catalog().Offset(), r.store.Ledger().Offset()}
}

// Reach waits until this replica has read as far as another one.
func (r *Registry) Reach(ctx context.Context, p Position) error {
	if err := r.store.WaitFor(ctx, p.Catalog); err != nil || p.Ledger == 0 {
		return err
	}
	return r.store.WaitLedger(ctx, p.Ledger)
}

// Ready answers nil when the topic is loaded and can be read, for /readyz.
func (r *Registry) Ready(ctx context.Context) error { return r.store.Ready(ctx) }

// ClusterID is the id of the Kafka cluster, Group the group of the replicas.
func (r *Registry) ClusterID(ctx context.Context) (string, error) { return r.store.ClusterID(ctx) }

// Group is the consumer group in which the replicas elect the one that writes.
func (r *Registry) Group() string { return r.store.Group() }

// Sign signs a message for another replica.
func (r *Registry) Sign(ctx context.Context, message []byte) (name string, proof []byte, err error) {
	return r.store.Sign(ctx, message)
}

// Verify checks that another replica signed a message.
func (r *Registry) Verify(ctx context.Context, name string, proof, message []byte) error {
	return r.store.Verify(ctx, name, proof, message)
}

// OwnedBy returns a context that ends when the replica at a URL is no longer known to be the one that writes. The caller
// cancels it.
func (r *Registry) OwnedBy(ctx context.Context, url string) (context.Context, context.CancelFunc) {
	return r.store.OwnedBy(ctx, url)
}

// Types are the names of the schema languages.
func (r *Registry) Types() []string {
	out := make([]string, 0, len(r.parser.formats))
	for name := range r.parser.formats {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Close ends the registry. Calls under way fail.
func (r *Registry) Close(ctx context.Context) error { return r.store.Close(ctx) }

// Catalog is the newest state of all subjects. Whoever tells callers of it asks Allow first.
func (r *Registry) Catalog() *catalog.Catalog { return r.catalog() }

// catalog is the newest state of all.
func (r *Registry) catalog() *catalog.Catalog { return r.store.Catalog() }

// commit carries out a decision if this replica is the one that writes.
func (r *Registry) commit(ctx context.Context, decide store.Decide) error {
	return r.commitBoth(ctx, func(c *catalog.Catalog, _ *catalog.Ledger) (store.Changes, error) {
		changes, err := decide(c)
		return store.Changes{Catalog: changes}, err
	})
}

// commitBoth carries out a decision on catalog and ledger if this replica is the one that writes.
func (r *Registry) commitBoth(ctx context.Context, decide store.DecideBoth) error {
	for {
		o, err := r.store.Owner(ctx)
		if err != nil {
			return err
		}
		if !o.Self {
			return &ElsewhereError{o.URL}
		}
		_, err = r.store.CommitBoth(ctx, decide)
		switch {
		case errors.Is(err, store.ErrNotOwner) && ctx.Err() == nil:
			continue // nothing was written, and the group is asked who the owner is now
		case errors.Is(err, store.ErrTooLarge):
			return refuse(ErrTooLarge, err.Error())
		}
		return err
	}
}
