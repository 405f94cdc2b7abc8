package broker

import (
	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
)

// OffsetCommit commits offsets of a group. The reply has an error for each.
func (n *Node) OffsetCommit(_ *Caller, r *group.CommitRequest) *coordinator.Reply[[]error] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]error]) {
			errs, err := s.CommitOffsets(t, r)
			send(t, reply, errs, err)
		})
}

// TxnOffsetCommit commits offsets of a group as part of a producer's transaction. The reply has an error for each.
func (n *Node) TxnOffsetCommit(_ *Caller, p coordinator.Producer, r *group.CommitRequest) *coordinator.Reply[[]error] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]error]) {
			errs, err := s.CommitTxnOffsets(t, p, r)
			send(t, reply, errs, err)
		})
}

// EndTxnOffsets ends a producer's transaction in one partition of __consumer_offsets: what TxnOffsetCommit brought counts
// from now on, or never did.
func (n *Node) EndTxnOffsets(partition int32, m coordinator.Marker) *coordinator.Reply[struct{}] {
	return coordinator.Ask(n.groups, partition,
		func(t *coordinator.Turn, _ *group.Shard, reply *coordinator.Reply[struct{}]) {
			t.End(m)
			reply.Send(t, struct{}{})
		})
}

// OffsetFetch returns the offsets that a group has committed.
func (n *Node) OffsetFetch(_ *Caller, r *group.FetchRequest) *coordinator.Reply[[]group.FetchedTopic] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]group.FetchedTopic]) {
			reply.Send(t, s.FetchOffsets(r))
		})
}

// OffsetDelete removes offsets of a group. The reply has an error for each.
func (n *Node) OffsetDelete(_ *Caller, groupID string, partitions []group.Partition) *coordinator.Reply[[]error] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(groupID),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]error]) {
			errs, err := s.DeleteOffsets(t, groupID, partitions)
			send(t, reply, errs, err)
		})
}
