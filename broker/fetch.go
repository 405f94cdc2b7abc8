package broker

import (
	"time"

	"moldau/broker/storage"
)

// Isolation levels of Fetch and ListOffsets.
const (
	ReadUncommitted int8 = 0
	ReadCommitted   int8 = 1
)

// FetchRequest asks for records of several partitions.
type FetchRequest struct {
	// MaxWait is how long the request may park while fewer than MinBytes are there.
	MaxWait time.Duration
	// MinBytes are enough to answer at once; 0 always answers at once.
	MinBytes int
	// MaxBytes bounds the sum over all partitions, except that the first batch found is returned whole (KIP-74).
	MaxBytes int
	// IsolationLevel is ReadUncommitted or ReadCommitted.
	IsolationLevel int8
	// Rack is the consumer's rack (KIP-392); empty when unknown.
	Rack string
	// ReplicaID is the fetching replica, -1 for a consumer.
	ReplicaID int32
	// Partitions are read in this order. The limits favour the first ones, so the caller moves those that had records to
	// the end, as fetch sessions do, or none of the others ever gets its turn.
	Partitions []FetchPartition
}

// FetchPartition asks for records of one partition.
type FetchPartition struct {
	Topic     TopicRef
	Partition int32
	// CurrentLeaderEpoch fences callers with old or new metadata (KIP-320); -1 checks nothing.
	CurrentLeaderEpoch int32
	// LastFetchedEpoch is the epoch of the record before FetchOffset (KIP-595); -1 checks nothing.
	LastFetchedEpoch int32
	// FetchOffset is the first offset wanted; the batch that contains it is returned whole.
	FetchOffset int64
	// LogStartOffset is the follower's; -1 for consumers.
	LogStartOffset int64
	// MaxBytes bounds this partition.
	MaxBytes int
}

// AbortedTxn is an aborted transaction, as readers need it.
type AbortedTxn = storage.AbortedTxn

// FetchedPartition is the answer for one partition.
type FetchedPartition struct {
	// Err is nil or one of the sentinels of this package.
	Err error
	// HighWatermark, LastStableOffset and LogStartOffset are -1 with most errors.
	HighWatermark, LastStableOffset, LogStartOffset int64
	// Diverging is the largest epoch and its end that the leader and the caller can have in common; Epoch is -1 when
	// there is no divergence.
	Diverging EpochEnd
	// PreferredReadReplica is the replica to read from instead (KIP-392), or -1.
	PreferredReadReplica int32
	// Leader is set with ErrNotLeader and ErrFencedLeaderEpoch (KIP-951), else {-1, -1}.
	Leader LeaderHint
	// Records holds whole batches. FetchOp.Release gives it back.
	Records storage.Slice
	// Aborted names the transactions, by first offset, whose records among Records a reader of committed ones passes over. It
	// is filled for ReadCommitted only.
	Aborted []AbortedTxn
}
