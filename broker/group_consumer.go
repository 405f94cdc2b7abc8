package broker

import (
	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
)

// ConsumerGroupHeartbeat takes a member of the consumer protocol (KIP-848) into a group, keeps it alive, takes it towards its
// target, or lets it go.
func (n *Node) ConsumerGroupHeartbeat(_ *Caller, r *group.ConsumerHeartbeat) *coordinator.Reply[group.ConsumerHeartbeatReply] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(r.Group),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[group.ConsumerHeartbeatReply]) {
			v, err := s.ConsumerHeartbeat(t, r)
			send(t, reply, v, err)
		})
}

// DescribeConsumerGroup returns a group of the consumer protocol as it stands.
func (n *Node) DescribeConsumerGroup(_ *Caller, groupID string) *coordinator.Reply[group.ConsumerDescription] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(groupID),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[group.ConsumerDescription]) {
			d, err := s.DescribeConsumer(groupID)
			send(t, reply, d, err)
		})
}
