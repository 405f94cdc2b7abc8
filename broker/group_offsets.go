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

// OffsetFetch returns the offsets that a group has committed.
func (n *Node) OffsetFetch(_ *Caller, r *group.FetchRequest) *coordinator.Reply[[]group.FetchedTopic] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]group.FetchedTopic]) {
			topics, err := s.FetchOffsets(r)
			send(t, reply, topics, err)
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
