package broker

import (
	"context"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
	"moldau/broker/metadata"
)

// offsetsTopicName is where groups and their offsets are kept.
const offsetsTopicName = "__consumer_offsets"

// openGroups makes the group coordinator. It is loaded as the metadata shows its partitions.
func (n *Node) openGroups() error {
	c := &n.cfg.Groups
	core, err := c.core(n.Image)
	if err != nil {
		return err
	}
	core.Skipped = func(key []byte, err error) {
		n.log.Warn("a record of __consumer_offsets is skipped", "component", "coordinator", "key_bytes", len(key), "err", err)
	}
	n.groups = coordinator.New(coordinator.Options[*group.Shard]{
		Kind:          "group",
		NewShard:      func(int32) *group.Shard { return group.NewShard(core) },
		CommitTimeout: c.OffsetsCommitTimeout,
		LoadParallel:  coordinatorLoadParallel, LoadRetry: coordinatorLoadRetry,
		Decompressor: n.decompressors.upTo(n.cfg.MaxDecompressedBatch),
		Logger:       n.log, Now: n.now,
	})
	n.offsetsTopic = &coordinatorTopic{
		n: n, name: offsetsTopicName, partitions: c.OffsetsTopicPartitions, replicas: c.OffsetsTopicReplication,
		config: c.topicConfig(), runtime: n.groups,
	}
	n.coordinated = append(n.coordinated, n.offsetsTopic)
	n.opened("group coordinator", func(context.Context) error {
		n.groups.Close()
		return nil
	})
	return nil
}

// forgetTopics removes the offsets of topics that were deleted.
func (n *Node) forgetTopics(delta *metadata.Delta) {
	gone := make(map[string]struct{})
	for i := range delta.Topics {
		if c := &delta.Topics[i]; c.Next == nil {
			gone[c.Prev.Name] = struct{}{}
		}
	}
	if len(gone) == 0 {
		return
	}
	for _, p := range n.groups.Partitions() {
		n.groups.Do(p, func(t *coordinator.Turn, s *group.Shard) { s.DeleteTopics(t, gone) }, func(error) {})
	}
}

// The verbs of groups return at once; what they return is settled by the group's coordinator.

// JoinGroup lets a member take part in a group's next generation. The reply comes when the rebalance is over.
func (n *Node) JoinGroup(_ *Caller, r *group.JoinRequest) *coordinator.Reply[group.JoinReply] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[group.JoinReply]) {
			s.Join(t, r, reply)
		})
}

// SyncGroup returns a member's assignment, once the leader has brought it.
func (n *Node) SyncGroup(_ *Caller, r *group.SyncRequest) *coordinator.Reply[group.SyncReply] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[group.SyncReply]) {
			s.Sync(t, r, reply)
		})
}

// Heartbeat notes that a member is alive.
func (n *Node) Heartbeat(_ *Caller, groupID, memberID string, instanceID *string, generation int32) *coordinator.Reply[error] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(groupID),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[error]) {
			reply.SendNow(s.Heartbeat(t, groupID, memberID, instanceID, generation))
		})
}

// LeaveGroup removes members from a group. The reply has an error for each.
func (n *Node) LeaveGroup(_ *Caller, groupID string, members []group.Leaving) *coordinator.Reply[[]error] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(groupID),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]error]) {
			errs, err := s.Leave(t, groupID, members)
			send(t, reply, errs, err)
		})
}

// send answers with a value once it is committed, or with an error at once.
func send[T any](t *coordinator.Turn, reply *coordinator.Reply[T], v T, err error) {
	if err != nil {
		reply.Fail(err)
		return
	}
	reply.Send(t, v)
}
