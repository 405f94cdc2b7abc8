package broker

import (
	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
)

// What the verbs of groups take and return, for edges, which know this package only.
type (
	// JoinGroupRequest asks to become, or to stay, a member of a group.
	JoinGroupRequest = group.JoinRequest
	// GroupProtocol is a way of assigning that a member supports.
	GroupProtocol = group.Protocol
	// JoinGroupReply tells a member where the group stands.
	JoinGroupReply = group.JoinReply
	// SyncGroupRequest asks for a member's assignment.
	SyncGroupRequest = group.SyncRequest
	// SyncGroupReply is a member's assignment.
	SyncGroupReply = group.SyncReply
	// LeavingMember names a member that leaves a group.
	LeavingMember = group.Leaving
	// OffsetCommitRequest commits offsets.
	OffsetCommitRequest = group.CommitRequest
	// PartitionOffset is an offset to commit.
	PartitionOffset = group.PartitionOffset
	// OffsetFetchRequest asks for committed offsets.
	OffsetFetchRequest = group.FetchRequest
	// OffsetFetchTopic names partitions of a topic.
	OffsetFetchTopic = group.FetchTopic
	// FetchedOffsets is the answer for a topic.
	FetchedOffsets = group.FetchedTopic
	// GroupPartition names a partition whose offset is to be deleted.
	GroupPartition = group.Partition
	// GroupDescription is a group as it stands.
	GroupDescription = group.Description
	// ConsumerGroupHeartbeatRequest is what a member of the consumer protocol says.
	ConsumerGroupHeartbeatRequest = group.ConsumerHeartbeat
	// ConsumerGroupHeartbeatReply tells a member of the consumer protocol what it has.
	ConsumerGroupHeartbeatReply = group.ConsumerHeartbeatReply
	// GroupPartitions are partitions by the ids of their topics.
	GroupPartitions = group.Partitions
	// ConsumerGroupDescription is a group of the consumer protocol as it stands.
	ConsumerGroupDescription = group.ConsumerDescription
	// ConsumerGroupMember is a member of a group of the consumer protocol.
	ConsumerGroupMember = group.ConsumerMemberDescription
	// AssignedTopic is partitions of a topic that a member has, or shall have.
	AssignedTopic = group.AssignedTopic
	// GroupListing is a group in a list.
	GroupListing = group.Listing
	// Producer is a producer id with its epoch.
	Producer = coordinator.Producer
)

// Pending is an answer of a coordinator that is not there yet: what all replies of its verbs have in common.
type Pending interface {
	// Settled tells whether the answer is there.
	Settled() bool
	// Done is closed when the answer is there.
	Done() <-chan struct{}
}

// CoordinatorReply is an answer of a coordinator.
type CoordinatorReply[T any] = coordinator.Reply[T]
