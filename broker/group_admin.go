package broker

import (
	"context"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
	"moldau/broker/metadata"
)

// GroupCoordinator returns the broker that coordinates a group. The topic that keeps groups is made if it isn't there.
func (n *Node) GroupCoordinator(ctx context.Context, _ *Caller, groupID string) (*metadata.Broker, error) {
	return n.offsetsTopic.leaderOf(ctx, groupID)
}

// DescribeGroup returns a group as it stands.
func (n *Node) DescribeGroup(_ *Caller, groupID string) *coordinator.Reply[group.Description] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(groupID),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[group.Description]) {
			d, err := s.Describe(groupID)
			send(t, reply, d, err)
		})
}

// DeleteGroup removes a group without members, with its offsets.
func (n *Node) DeleteGroup(_ *Caller, groupID string) *coordinator.Reply[struct{}] {
	return coordinator.Ask(n.groups, n.offsetsTopic.partitionOf(groupID),
		func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[struct{}]) {
			send(t, reply, struct{}{}, s.Delete(t, groupID))
		})
}

// ListGroups returns the groups that this node coordinates. Where a partition cannot answer, ErrCoordinatorLoading or the
// like comes with the groups of the others.
func (n *Node) ListGroups(ctx context.Context, _ *Caller) ([]group.Listing, error) {
	var replies []*coordinator.Reply[[]group.Listing]
	for _, p := range n.groups.Partitions() {
		replies = append(replies, coordinator.Ask(n.groups, p,
			func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]group.Listing]) {
				reply.Send(t, s.List())
			}))
	}
	var out []group.Listing
	var failed error
	for _, r := range replies {
		l, err := r.Wait(ctx)
		if err != nil {
			failed = err
		}
		out = append(out, l...)
	}
	return out, failed
}
