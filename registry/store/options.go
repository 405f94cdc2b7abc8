package store

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Options is all that a store needs. Every field but those that say so must be set.
type Options struct {
	// Bootstrap are the brokers to begin with.
	Bootstrap []string
	// Dial opens a connection to a broker. It may be nil for TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Topic holds the catalog.
	Topic string
	// LedgerTopic holds the ledger, which is written in the same transactions.
	LedgerTopic string
	// KeyTopic holds the keys with which replicas sign what they forward.
	KeyTopic string
	// Group is the consumer group whose members are the replicas.
	Group string
	// Instance tells this replica from all others and is the same after a restart. If it is empty the replica is a
	// different one after each start, and others wait for the session of the last one to end.
	Instance string
	// URL is where other replicas reach this one.
	URL string
	// ReplicationFactor is the one of topics that are made, as far as there are brokers.
	ReplicationFactor int
	// SessionTimeout is how long the group waits for a silent member.
	SessionTimeout time.Duration
	// WriteTimeout bounds one transaction.
	WriteTimeout time.Duration
	// KeyLifetime is how long a signing key is used.
	KeyLifetime time.Duration

	Logger     *slog.Logger
	Registerer prometheus.Registerer // may be nil
}

// maxRecord is the size of records in a topic that is made here: a text of 1 MiB may take six times as many bytes in
// JSON.
const maxRecord = 8 << 20

// clientOptions are those of every client.
func (o *Options) clientOptions() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(o.Bootstrap...),
		kgo.ClientID("moldau-registry"),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.RetryTimeout(10 * time.Second),
		kgo.MaxDecompressBatchBytes(maxDecompressed),
		kgo.DisableClientMetrics(),
	}
	if o.Dial != nil {
		opts = append(opts, kgo.Dialer(func(ctx context.Context, _, addr string) (net.Conn, error) { return o.Dial(ctx, addr) }))
	}
	return opts
}
