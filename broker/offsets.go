package broker

import (
	"context"

	"moldau/broker/partition"
)

// Special timestamps of ListOffsets.
const (
	LatestTimestamp                int64 = -1 // the high watermark, or the last stable offset
	EarliestTimestamp              int64 = -2 // the first offset
	MaxTimestamp                   int64 = -3 // the record with the largest timestamp (KIP-734)
	EarliestLocalTimestamp         int64 = -4 // the first offset on this node's disk (KIP-405)
	LatestTieredTimestamp          int64 = -5 // the last offset in tiered storage, -1 without it (KIP-1005)
	EarliestPendingUploadTimestamp int64 = -6 // the first offset not yet tiered, -1 without tiered storage (KIP-1023)
)

// ListOffsetsRequest asks for offsets by time.
type ListOffsetsRequest struct {
	// ReplicaID is the asking replica, -1 for a consumer.
	ReplicaID int32
	// IsolationLevel is ReadUncommitted or ReadCommitted.
	IsolationLevel int8
	Partitions     []ListOffsetsPartition
}

// ListOffsetsPartition asks for one offset.
type ListOffsetsPartition struct {
	Topic              TopicRef
	Partition          int32
	CurrentLeaderEpoch int32 // -1 checks nothing
	Timestamp          int64 // ms since 1970, or one of the special timestamps
}

// ListedOffset answers one ListOffsetsPartition. Without a matching record Offset, Timestamp and LeaderEpoch are -1.
type ListedOffset struct {
	Err         error
	Offset      int64
	Timestamp   int64
	LeaderEpoch int32
}

// ListOffsets answers every partition of the request, in its order. Searching by time reads the log; what ctx ends before
// it was searched is answered with ErrTimedOut.
func (n *Node) ListOffsets(ctx context.Context, c *Caller, req *ListOffsetsRequest) []ListedOffset {
	out := make([]ListedOffset, len(req.Partitions))
	h := horizonOf(req.ReplicaID == consumerReplica, req.IsolationLevel) // others, such as debugging tools with -2, see it all
	for i := range req.Partitions {
		want := &req.Partitions[i]
		t, p, err := n.find(want.Topic, want.Partition)
		if err == nil && ctx.Err() != nil {
			err = ErrTimedOut
		}
		found := partition.Found{Offset: -1, Timestamp: -1, LeaderEpoch: -1}
		if err == nil {
			found, err = listOffset(p, h, want.CurrentLeaderEpoch, want.Timestamp)
		}
		if err != nil && t != nil {
			err = n.dataError(t, want.Partition, err)
		}
		out[i] = ListedOffset{Err: err, Offset: found.Offset, Timestamp: found.Timestamp, LeaderEpoch: found.LeaderEpoch}
	}
	return out
}

func listOffset(p *partition.Partition, h partition.Horizon, epoch int32, timestamp int64) (partition.Found, error) {
	switch timestamp {
	case LatestTimestamp:
		return p.Latest(epoch, h)
	case EarliestTimestamp, EarliestLocalTimestamp:
		return p.Earliest(epoch)
	case MaxTimestamp:
		return p.AtMaxTime(epoch, h)
	case LatestTieredTimestamp, EarliestPendingUploadTimestamp:
		return p.Tiered(epoch)
	}
	if timestamp < 0 {
		return partition.Found{Offset: -1, Timestamp: -1, LeaderEpoch: -1}, ErrUnsupportedVersion
	}
	return p.AtTime(epoch, h, timestamp)
}

// OffsetForLeaderEpochRequest asks where leader epochs end (KIP-279, KIP-320).
type OffsetForLeaderEpochRequest struct {
	// ReplicaID is the asking replica, -1 for a consumer.
	ReplicaID  int32
	Partitions []OffsetForLeaderEpochPartition
}

// OffsetForLeaderEpochPartition asks for the end of one epoch.
type OffsetForLeaderEpochPartition struct {
	Topic              TopicRef
	Partition          int32
	CurrentLeaderEpoch int32 // -1 checks nothing
	LeaderEpoch        int32
}

// LeaderEpochEnd answers one OffsetForLeaderEpochPartition: the largest epoch not above the asked one, and its end.
// Both are -1 when the log knows none.
type LeaderEpochEnd struct {
	Err error
	EpochEnd
}

// OffsetForLeaderEpoch answers every partition of the request, in its order.
func (n *Node) OffsetForLeaderEpoch(c *Caller, req *OffsetForLeaderEpochRequest) []LeaderEpochEnd {
	out := make([]LeaderEpochEnd, len(req.Partitions))
	for i := range req.Partitions {
		want := &req.Partitions[i]
		out[i].Epoch, out[i].EndOffset = -1, -1
		t, p, err := n.find(want.Topic, want.Partition)
		if err == nil {
			out[i].Epoch, out[i].EndOffset, err = p.EndOfEpoch(want.CurrentLeaderEpoch, want.LeaderEpoch)
		}
		if err != nil && t != nil {
			err = n.dataError(t, want.Partition, err)
		}
		out[i].Err = err
	}
	return out
}
