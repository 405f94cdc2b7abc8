package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/configdef"
	"moldau/broker/controller"
	"moldau/broker/metadata"
	"moldau/broker/metadata/embedded"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/broker/storage"
)

// Start opens the metadata and the logs, registers the broker, and returns when partitions can be served. DESIGN.md has
// the order and its reasons.
func Start(ctx context.Context, cfg Config, deps Deps) (*Node, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("broker configuration: %w", err)
	}
	n := &Node{
		cfg: cfg, log: deps.Logger, now: deps.Now, store: deps.Store,
		decompressors: decompressors{ceiling: cfg.MaxDecompressedBatch}, compressor: record.NewCompressor(),
		scratch: sync.Pool{New: func() any { return new([]byte) }},
		sorters: sync.Pool{New: func() any { return new(sorter) }},
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	if n.now == nil {
		n.now = time.Now
	}
	n.validation.validator, n.validation.log = deps.Validator, n.log
	n.admin = newAdmin(&n.cfg, deps.LogLevel, deps.ClientMetrics, n.now)
	n.image.Store(metadata.NewImage())
	if err := n.start(ctx, deps); err != nil {
		n.closing.Store(true)
		return nil, errors.Join(err, n.close(context.WithoutCancel(ctx)))
	}
	return n, nil
}

func (n *Node) start(ctx context.Context, deps Deps) error {
	cluster, err := n.openMetadata(ctx)
	if err != nil {
		return err
	}
	m := newMetrics()
	if err := n.openLogs(ctx, deps, cluster, m); err != nil {
		return err
	}
	if err := n.register(ctx); err != nil {
		return err
	}
	if err := n.openPartitions(ctx); err != nil {
		return err
	}
	n.producerIDs = newProducerIDs(n.producerIDBlock)
	m.node.Store(n)
	return n.publish(deps, m)
}

// opened notes a part that Close has to end.
func (n *Node) opened(part string, end func(context.Context) error) {
	n.closers = append(n.closers, closer{part, end})
}

// openMetadata opens the store and reads the first image.
func (n *Node) openMetadata(ctx context.Context) (metadata.ClusterID, error) {
	if n.store == nil {
		store, err := embedded.Open(n.cfg.metadataDir(), embedded.Options{Logger: n.log})
		if err != nil {
			return "", fmt.Errorf("open metadata in %s: %w", n.cfg.metadataDir(), err)
		}
		n.store = store
		n.opened("metadata", func(context.Context) error { return store.Close() })
	}
	cluster, err := metadata.EnsureClusterID(ctx, n.store, "")
	if err != nil {
		return "", fmt.Errorf("open metadata: %w", err)
	}
	n.loader = metadata.NewLoader(n.store, n.log)
	n.follow()
	if err := n.loader.WaitFor(ctx, 0); err != nil {
		return "", fmt.Errorf("load metadata: %w", err)
	}
	return cluster, nil
}

// follow runs the loader until the node closes.
func (n *Node) follow() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // owned by the node; ends with stopLoader, or when the metadata cannot be read
		defer close(done)
		if err := n.loader.Run(ctx); err != nil {
			n.loading.Store(&err)
			n.log.Error("metadata is not followed any more", "err", err)
		}
	}()
	n.stopLoader = func() {
		stop()
		<-done
	}
	n.opened("metadata loader", func(context.Context) error {
		n.stopLoader()
		return nil
	})
}

// openLogs opens the storage engine, which recovers all logs.
func (n *Node) openLogs(ctx context.Context, deps Deps, cluster metadata.ClusterID, m *metrics) error {
	img := n.loader.Image()
	inForce := configdef.Layers{
		Broker:  img.Config(metadata.BrokerResource, fmt.Sprint(n.cfg.NodeID)),
		Cluster: img.Config(metadata.BrokerResource, ""),
		Static:  n.cfg.Properties,
	}.InForce()
	defaults, err := configdef.ParseTopic(nil, inForce)
	if err != nil {
		return fmt.Errorf("topic defaults: %w", err)
	}
	n.engine, err = storage.Open(ctx, storage.Options{
		FS: deps.FS, Dirs: n.cfg.logDirs(), ClusterID: string(cluster), NodeID: n.cfg.NodeID,
		Durability: n.cfg.storageDurability(), MaxOpenFiles: n.cfg.MaxOpenFiles,
		MinFreeBytes: n.cfg.MinFreeBytes,
		Config: func(tp storage.TopicPartition) storage.Config {
			t, ok := img.Topic(tp.Topic)
			if !ok || len(t.Config) == 0 {
				return defaults.Log
			}
			c, err := configdef.ParseTopic(t.Config, inForce)
			if err != nil {
				return defaults.Log // Manager reports it
			}
			return c.Log
		},
		Logger: n.log, Now: n.now, Metrics: m,
	})
	if err != nil {
		return fmt.Errorf("open logs: %w", err)
	}
	n.opened("logs", n.engine.Close)
	return nil
}

// sessionTTL is how long the cluster takes this broker for alive when nothing is heard of it.
const sessionTTL = 10 * time.Second

// register makes the broker a member of the cluster, finishes what a crash left half done in the metadata, and begins new
// leader epochs for partitions whose logs lost records.
func (n *Node) register(ctx context.Context) error {
	n.controller = controller.New(controller.Options{
		Store: n.store, Loader: n.loader, Logger: n.log,
		Limits: controller.Limits{
			DefaultPartitions: n.cfg.NumPartitions, DefaultReplicationFactor: n.cfg.DefaultReplicationFactor,
			PartitionsPerRequestMax: n.cfg.MaxPartitionsPerRequest, ReplicasPerBrokerMax: n.cfg.MaxPartitions,
		},
	})
	var err error
	if n.session, err = n.store.OpenSession(ctx, sessionTTL); err != nil {
		return fmt.Errorf("register broker: %w", err)
	}
	n.opened("registration", n.session.Close)
	_, err = n.controller.Register(ctx, n.session, controller.Registration{
		ID: n.cfg.NodeID, Rack: n.cfg.Rack, Endpoints: n.cfg.Endpoints, Incarnation: metadata.NewTopicID().String(),
	})
	if err != nil {
		return fmt.Errorf("register broker: %w", err)
	}
	if err := n.controller.Sweep(ctx); err != nil {
		return fmt.Errorf("finish half done topics: %w", err)
	}
	if cut := n.cutPartitions(); len(cut) > 0 {
		if err := n.controller.BumpLeaderEpochs(ctx, cut); err != nil {
			return fmt.Errorf("after recovery: %w", err)
		}
	}
	return nil
}

// cutPartitions returns the partitions led here whose logs recovery had to cut.
func (n *Node) cutPartitions() []controller.TopicPartition {
	var cut []controller.TopicPartition
	for _, l := range n.engine.Logs() {
		tp := l.TopicPartition()
		mp, ok := n.loader.Image().Partition(tp.Topic, tp.Partition)
		if ok && l.Recovered().Cut > 0 && mp.Leader == n.cfg.NodeID {
			cut = append(cut, controller.TopicPartition{Topic: tp.Topic, Partition: tp.Partition})
		}
	}
	return cut
}

// producerIDBlock takes a block of producer ids from the cluster.
func (n *Node) producerIDBlock(ctx context.Context) (int64, int32, error) {
	b, err := n.controller.NextProducerIDBlock(ctx)
	return b.First, b.Len, controllerError(err)
}

// openPartitions gives every replica its place and from then on follows the metadata.
func (n *Node) openPartitions(ctx context.Context) error {
	var err error
	n.partitions, err = partition.NewManager(partition.Options{
		Self: n.cfg.NodeID, Engine: n.engine, Strict: n.cfg.Durability == Strict, Static: n.cfg.Properties,
		RetentionInterval: n.cfg.RetentionCheckInterval, ProducerExpiration: n.cfg.ProducerIDExpiration,
		ProducerCheckInterval: n.cfg.ProducerIDExpirationCheck, Logger: n.log, Now: n.now,
	})
	if err != nil {
		return fmt.Errorf("open partitions: %w", err)
	}
	n.opened("partitions", func(context.Context) error {
		n.stopLoader() // nothing is opened any more
		n.partitions.Close()
		return nil
	})
	if err := n.openGroups(); err != nil {
		return fmt.Errorf("open the group coordinator: %w", err)
	}
	n.openTransactions()
	first := make(chan struct{})
	var once sync.Once
	n.loader.Subscribe(func(_, next *metadata.Image, delta metadata.Delta) {
		n.partitions.Apply(next, &delta)
		n.coordinate(&delta)
		n.image.Store(next)
		once.Do(func() { close(first) })
	})
	select {
	case <-first:
	case <-ctx.Done():
		return fmt.Errorf("open partitions: %w", context.Cause(ctx))
	}
	n.partitions.SetAside()
	return nil
}

// publish registers the metrics.
func (n *Node) publish(deps Deps, m *metrics) error {
	if deps.Registerer == nil {
		return nil
	}
	for _, c := range slices.Concat(m.counters(), n.admin.telemetry.collectors(), []prometheus.Collector{m}) {
		if err := deps.Registerer.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}
