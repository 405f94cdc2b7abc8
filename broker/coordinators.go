package broker

import (
	"context"
	"errors"
	"maps"
	"time"

	"moldau/broker/controller"
	"moldau/broker/coordinator"
	"moldau/broker/metadata"
	"moldau/broker/partition"
)

// coordinators is a runtime, as the node steers it.
type coordinators interface {
	Elect(partition, epoch int32, log coordinator.Log)
	Resign(partition, epoch int32)
	Close()
}

// coordinatorTopic joins an internal topic with the runtime whose state it holds.
type coordinatorTopic struct {
	n          *Node
	name       string
	partitions int32             // when it is made
	replicas   int16             // when it is made, at most
	config     map[string]string // when it is made
	runtime    coordinators
}

// The settings of coordinators that have no key in Kafka.
const (
	coordinatorLoadParallel = 4
	coordinatorLoadRetry    = time.Second
)

// coordinate lets the coordinators follow an image: it is called for every one, in their order, after the partitions have
// applied it and before it is shown.
func (n *Node) coordinate(delta *metadata.Delta) {
	for _, t := range n.coordinated {
		t.follow(delta)
	}
	n.forgetTopics(delta)
}

// follow elects and resigns as an image says.
func (t *coordinatorTopic) follow(delta *metadata.Delta) {
	for i := range delta.Topics {
		c := &delta.Topics[i]
		if c.Prev != nil && c.Prev.Name != t.name || c.Next != nil && c.Next.Name != t.name {
			continue
		}
		for j := range c.Partitions {
			t.followPartition(c.Next, &c.Partitions[j])
		}
	}
}

func (t *coordinatorTopic) followPartition(topic *metadata.Topic, c *metadata.PartitionChange) {
	switch {
	case c.Next == nil:
		t.runtime.Resign(c.Prev.Index, c.Prev.LeaderEpoch)
	case c.Next.Leader != t.n.cfg.NodeID:
		t.runtime.Resign(c.Next.Index, c.Next.LeaderEpoch)
	default:
		held, ok := t.n.partitions.TopicByID(topic.ID)
		if !ok {
			return
		}
		if p := held.Partition(c.Next.Index); p != nil && p.Log() != nil {
			t.elect(p, c.Next)
		}
	}
}

// elect makes this node the coordinator of a partition, unless its log is damaged: what can still be read of it must not pass
// for all there is, or groups would be told that they have no offsets.
func (t *coordinatorTopic) elect(p *partition.Partition, next *metadata.Partition) {
	if err := p.Log().Err(); err != nil {
		t.n.log.Error("a damaged log has no coordinator", "topic", t.name, "partition", next.Index, "err", err)
		t.runtime.Resign(next.Index, next.LeaderEpoch)
		return
	}
	t.runtime.Elect(next.Index, next.LeaderEpoch, coordinatorLog{p, next.LeaderEpoch})
}

// count returns how many partitions the topic has, or will have.
func (t *coordinatorTopic) count() int32 {
	if topic, ok := t.n.Image().Topic(t.name); ok {
		return int32(len(topic.Partitions))
	}
	return t.partitions
}

// partitionOf returns the partition that coordinates an id.
func (t *coordinatorTopic) partitionOf(id string) int32 {
	return coordinator.PartitionFor(id, t.count())
}

// leaderOf returns the broker that coordinates an id. The topic is made if it isn't there: absence is emptiness, and a node
// that serves no groups writes nothing.
func (t *coordinatorTopic) leaderOf(ctx context.Context, id string) (*metadata.Broker, error) {
	if err := t.ensure(ctx); err != nil {
		return nil, err
	}
	img := t.n.Image()
	p, ok := img.Partition(t.name, t.partitionOf(id))
	if !ok || p.Leader == metadata.NoLeader {
		return nil, coordinator.ErrNotAvailable
	}
	b, ok := img.Broker(p.Leader)
	if !ok {
		return nil, coordinator.ErrNotAvailable
	}
	return b, nil
}

// ensure makes the topic if it isn't there. Callers that ask at the same time share one creation.
func (t *coordinatorTopic) ensure(ctx context.Context) error {
	if _, ok := t.n.Image().Topic(t.name); ok {
		return nil
	}
	creation, mine := t.n.autoCreations.join(t.name)
	if mine {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), autoCreateTimeout)
		defer cancel()
		t.n.autoCreations.finish(t.name, creation, t.create(ctx))
	}
	select {
	case <-creation.done:
		return creation.err
	case <-ctx.Done():
		return coordinator.ErrNotAvailable
	}
}

func (t *coordinatorTopic) create(ctx context.Context) error {
	replicas := min(int(t.replicas), len(t.n.Image().Brokers()))
	_, err := t.n.controller.CreateTopic(ctx, controller.TopicSpec{
		Name: t.name, Partitions: t.partitions, ReplicationFactor: int16(max(1, replicas)), Config: maps.Clone(t.config), Internal: true,
	})
	if err == nil {
		t.n.log.Info("internal topic was made", "topic", t.name, "partitions", t.partitions)
		return nil
	}
	if errors.Is(err, ErrTopicExists) {
		return nil
	}
	t.n.log.Error("internal topic cannot be made", "topic", t.name, "err", err)
	return coordinator.ErrNotAvailable
}
