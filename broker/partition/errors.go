package partition

import "errors"

// Errors of the partition room. They carry no text about the partition: the caller knows which one it asked.
var (
	// ErrUnknown says that this node holds no such partition.
	ErrUnknown = errors.New("this node holds no such topic or partition")
	// ErrClosed says that the node is stopping.
	ErrClosed = errors.New("the node is closing")
	// ErrNotLeader says that this node does not lead the partition (any more).
	ErrNotLeader = errors.New("this node does not lead the partition")
	// ErrFencedLeaderEpoch says that the caller's leader epoch is older than the partition's.
	ErrFencedLeaderEpoch = errors.New("the leader epoch is older than the partition's")
	// ErrUnknownLeaderEpoch says that the caller's leader epoch is newer than the partition's.
	ErrUnknownLeaderEpoch = errors.New("the leader epoch is newer than the partition's")
	// ErrOffsetNotAvailable says that the high watermark is still below the start of the leader's epoch.
	ErrOffsetNotAvailable = errors.New("the high watermark has not reached the leader's epoch yet")
	// ErrNotEnoughReplicas says that fewer replicas are in sync than min.insync.replicas asks; nothing was appended.
	ErrNotEnoughReplicas = errors.New("fewer replicas are in sync than min.insync.replicas asks")
	// ErrNotEnoughReplicasAfterAppend says that replicas fell out of sync after the append.
	ErrNotEnoughReplicasAfterAppend = errors.New("the records were appended, but fewer replicas are in sync than min.insync.replicas asks")
)
