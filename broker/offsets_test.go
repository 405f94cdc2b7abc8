package broker

import (
	"context"
	"errors"
	"testing"

	"moldau/broker/record"
)

func TestListOffsets(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 2)
	image, _ := n.Image().Topic("events")
	epoch := image.Partitions[0].LeaderEpoch
	start := testStart.UnixMilli()
	n.mustProduce(topic, 0, plain(t, "a", "b", "c"))
	n.mustProduce(topic, 0, batchOf(t, record.NewOptions(record.Zstd), "d", "e")) // with the timestamps of the first two
	for _, c := range []struct {
		name      string
		partition int32
		epoch     int32
		timestamp int64
		want      ListedOffset
	}{
		{"latest", 0, -1, LatestTimestamp, ListedOffset{nil, 5, -1, epoch}},
		{"earliest", 0, -1, EarliestTimestamp, ListedOffset{nil, 0, -1, epoch}},
		{"earliest local", 0, -1, EarliestLocalTimestamp, ListedOffset{nil, 0, -1, epoch}},
		{"largest timestamp", 0, -1, MaxTimestamp, ListedOffset{nil, 2, start + 2, epoch}},
		{"latest tiered", 0, -1, LatestTieredTimestamp, ListedOffset{nil, -1, -1, -1}},
		{"earliest not yet tiered", 0, -1, EarliestPendingUploadTimestamp, ListedOffset{nil, -1, -1, -1}},
		{"long ago", 0, -1, 0, ListedOffset{nil, 0, start, epoch}},
		{"inside of a batch", 0, -1, start + 1, ListedOffset{nil, 1, start + 1, epoch}},
		{"in the future", 0, -1, start + 3, ListedOffset{nil, -1, -1, -1}},
		{"an empty partition, latest", 1, -1, LatestTimestamp, ListedOffset{nil, 0, -1, epoch}},
		{"an empty partition, earliest", 1, -1, EarliestTimestamp, ListedOffset{nil, 0, -1, epoch}},
		{"an empty partition, largest timestamp", 1, -1, MaxTimestamp, ListedOffset{nil, -1, -1, -1}},
		{"an empty partition, by time", 1, -1, start, ListedOffset{nil, -1, -1, -1}},
		{"the current epoch", 0, epoch, LatestTimestamp, ListedOffset{nil, 5, -1, epoch}},
		{"a newer epoch", 0, epoch + 1, LatestTimestamp, ListedOffset{ErrUnknownLeaderEpoch, -1, -1, -1}},
		{"an unknown special offset", 0, -1, -7, ListedOffset{ErrUnsupportedVersion, -1, -1, -1}},
		{"an unknown partition", 2, -1, LatestTimestamp, ListedOffset{ErrUnknownTopicOrPartition, -1, -1, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := ListOffsetsRequest{ReplicaID: -1, Partitions: []ListOffsetsPartition{
				{Topic: topic, Partition: c.partition, CurrentLeaderEpoch: c.epoch, Timestamp: c.timestamp},
			}}
			got := n.ListOffsets(t.Context(), testCaller, &req)[0]
			if !errors.Is(got.Err, c.want.Err) {
				t.Fatalf("error %v, want %v", got.Err, c.want.Err)
			}
			if got.Err, c.want.Err = nil, nil; got != c.want {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := ListOffsetsRequest{ReplicaID: -1, Partitions: []ListOffsetsPartition{{Topic: topic, CurrentLeaderEpoch: -1, Timestamp: start}}}
	if got := n.ListOffsets(ctx, testCaller, &req)[0]; !errors.Is(got.Err, ErrTimedOut) {
		t.Fatalf("after its caller had gone: %+v", got)
	}
}

func TestOffsetForLeaderEpoch(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	image, _ := n.Image().Topic("events")
	epoch := image.Partitions[0].LeaderEpoch
	n.mustProduce(topic, 0, plain(t, "a", "b", "c"))
	ask := func(partition, current, asked int32) LeaderEpochEnd {
		return n.OffsetForLeaderEpoch(testCaller, &OffsetForLeaderEpochRequest{ReplicaID: -1, Partitions: []OffsetForLeaderEpochPartition{
			{Topic: topic, Partition: partition, CurrentLeaderEpoch: current, LeaderEpoch: asked},
		}})[0]
	}
	if got := ask(0, epoch, epoch); got != (LeaderEpochEnd{EpochEnd: EpochEnd{epoch, 3}}) {
		t.Errorf("the current epoch: %+v", got)
	}
	if got := ask(0, -1, epoch+4); got != (LeaderEpochEnd{EpochEnd: EpochEnd{-1, -1}}) {
		t.Errorf("a future epoch: %+v", got)
	}
	if got := ask(0, epoch+1, epoch); !errors.Is(got.Err, ErrUnknownLeaderEpoch) || got.Epoch != -1 || got.EndOffset != -1 {
		t.Errorf("from newer metadata: %+v", got)
	}
	if got := ask(9, -1, epoch); !errors.Is(got.Err, ErrUnknownTopicOrPartition) {
		t.Errorf("unknown partition: %+v", got)
	}
}
