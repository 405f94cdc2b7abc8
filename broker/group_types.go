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
