package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/clientmetrics"
	"moldau/broker/controller"
	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
	"moldau/broker/coordinator/txn"
	"moldau/broker/metadata"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/broker/storage"
	"moldau/internal/vfs"
)

// Deps is what a node is given by its maker.
type Deps struct {
	// Logger takes the node's log; nil discards it.
	Logger *slog.Logger
	// LogLevel is the level that Logger obeys, for clients that change it; nil keeps it from them.
	LogLevel *slog.LevelVar
	// ClientMetrics takes what clients push of their own metrics (KIP-714); nil only counts it.
	ClientMetrics clientmetrics.Sink
	// Registerer takes the node's metrics; nil keeps none.
	Registerer prometheus.Registerer
	// Validator judges records of topics that ask for it; nil makes such topics take none.
	Validator Validator
	// FS is where logs are kept; nil is the operating system's file system.
	FS vfs.FS
	// Store holds the metadata; nil opens the embedded one in the metadata directory. A given store is not closed.
	Store metadata.Store
	// Now is the clock of records and retention; nil is time.Now.
	Now func() time.Time
}

// Node is a running broker without its doors. All methods may be called from any goroutine.
type Node struct {
	cfg Config
	log *slog.Logger
	now func() time.Time

	store      metadata.Store
	session    metadata.Session // proof of life of the registration
	loader     *metadata.Loader
	controller *controller.Controller
	engine     *storage.Engine
	partitions *partition.Manager
	image      atomic.Pointer[metadata.Image] // the last one that the partitions have applied

	decompressors decompressors
	compressor    *record.Compressor
	validation    validation
	scratch       sync.Pool // of *[]byte: batches that are made anew
	sorters       sync.Pool // of *sorter
	producerIDs   *producerIDs
	groups        *coordinator.Runtime[*group.Shard]
	offsetsTopic  *coordinatorTopic   // whose partitions hold groups' state
	coordinated   []*coordinatorTopic // the topics of all coordinators
	txns          *coordinator.Runtime[*txn.Shard]
	txnTopic      *coordinatorTopic // whose partitions hold transactional ids
	markers       *markerWriters

	offsetVerifications offsetVerifications

	autoCreations autoCreations
	admin         admin

	closers    []closer // in the order in which parts were opened
	stopLoader func()
	closing    atomic.Bool
	loading    atomic.Pointer[error] // why the metadata is no longer followed, once it isn't
}

// closer ends one part of a node.
type closer struct {
	part string
	end  func(context.Context) error
}

// Close stops the node: it ends all waits, flushes the logs and marks the stop as clean. Doors must be closed before.
func (n *Node) Close(ctx context.Context) error {
	if n.closing.Swap(true) {
		return nil
	}
	return n.close(ctx)
}

// close ends the parts in the opposite order of their opening.
func (n *Node) close(ctx context.Context) error {
	var errs []error
	for i := len(n.closers) - 1; i >= 0; i-- {
		if err := n.closers[i].end(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", n.closers[i].part, err))
		}
	}
	return errors.Join(errs...)
}

// Image returns the metadata as this node knows it now: every topic in it is served here, as far as this node has a
// replica. It never changes; take a new one for each request.
func (n *Node) Image() *metadata.Image { return n.image.Load() }

// Config returns what the node was started with.
func (n *Node) Config() Config { return n.cfg }

// Ready returns nil when the node serves: logs are recovered and the metadata is caught up.
func (n *Node) Ready() error {
	if n.closing.Load() {
		return ErrClosed
	}
	if err := n.loading.Load(); err != nil {
		return fmt.Errorf("the metadata is not followed any more: %w", *err)
	}
	select {
	case <-n.session.Lost():
		return fmt.Errorf("the registration of the broker is lost: %w", metadata.ErrSessionLost)
	default:
		return nil
	}
}
