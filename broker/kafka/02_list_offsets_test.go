package kafka

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestListOffsetsInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("times")
	for i := range int64(3) {
		records := newBatch(t, func(o *batchOptions) { o.timestamp = 1_700_000_000_000 + i*1000 }, "x")
		ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "times", id, 0, records))
	}
	list := func(version int16, timestamp int64) kmsg.ListOffsetsResponseTopicPartition {
		q := kmsg.NewPtrListOffsetsRequest()
		q.Version, q.ReplicaID = version, -1
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp = timestamp
		q.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "times", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
		return ask[*kmsg.ListOffsetsResponse](w, q).Topics[0].Partitions[0]
	}
	for version := int16(1); version <= 11; version++ {
		for _, tc := range []struct {
			timestamp int64
			first     int16
			want      int64
		}{
			{-1, 1, 3},
			{-2, 1, 0},
			{-3, 7, 2},
			{-4, 8, 0},
			{-5, 9, -1},
			{-6, 11, -1},
			{0, 1, 0},
			{1_700_000_001_000, 1, 1},
			{1_700_000_001_001, 1, 2},
			{1_700_000_002_001, 1, -1},
		} {
			p := list(version, tc.timestamp)
			if version < tc.first {
				if p.ErrorCode != 35 {
					t.Errorf("version %d, timestamp %d: %+v, want UNSUPPORTED_VERSION", version, tc.timestamp, p)
				}
			} else if p.ErrorCode != 0 || p.Offset != tc.want {
				t.Errorf("version %d, timestamp %d: %+v, want %d", version, tc.timestamp, p, tc.want)
			}
		}
		if p := list(version, -7); p.ErrorCode != 35 {
			t.Errorf("version %d, timestamp -7: %+v", version, p)
		}
	}
}

func TestListOffsetsAnswersEveryPartition(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("there")
	q := kmsg.NewPtrListOffsetsRequest()
	q.Version, q.ReplicaID = 7, -1
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -1
	far := p
	far.Partition = 9
	q.Topics = []kmsg.ListOffsetsRequestTopic{
		{Topic: "nobody", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}},
		{Topic: "there", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p, far, far}},
	}
	resp := ask[*kmsg.ListOffsetsResponse](w, q)
	var got []int16
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			got = append(got, p.ErrorCode)
		}
	}
	if fmt.Sprint(got) != "[3 0 42 42]" {
		t.Errorf("codes %v: unknown topic, good, and one named twice", got)
	}
}
