package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ListOffsets (key 2), versions 1 to 11.
//
// 1: one offset per partition. 2: isolation levels. 4: leader epochs (KIP-320). 6: flexible. 7: -3, the record with the
// largest timestamp (KIP-734). 8: -4, the first local offset (KIP-405). 9: -5, the last tiered offset (KIP-1005). 10: a
// timeout (KIP-1075). 11: -6, the first offset that is not tiered yet (KIP-1023).

// firstTimestampVersion is the first version of ListOffsets that knows each special timestamp.
var firstTimestampVersion = map[int64]int16{
	broker.LatestTimestamp:                1,
	broker.EarliestTimestamp:              1,
	broker.MaxTimestamp:                   7,
	broker.EarliestLocalTimestamp:         8,
	broker.LatestTieredTimestamp:          9,
	broker.EarliestPendingUploadTimestamp: 11,
}

// listOffsets finds offsets by time, and the ends of partitions.
func (c *conn) listOffsets(ctx context.Context, r *request, q *kmsg.ListOffsetsRequest) reply {
	if q.Version >= 10 && q.TimeoutMillis > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(q.TimeoutMillis)*time.Millisecond)
		defer cancel()
	}
	refused := refuseListOffsets(q)
	ask := broker.ListOffsetsRequest{ReplicaID: -1, IsolationLevel: q.IsolationLevel}
	for i := range q.Topics {
		for j := range q.Topics[i].Partitions {
			p := &q.Topics[i].Partitions[j]
			if refused(q.Topics[i].Topic, p) == 0 {
				ask.Partitions = append(ask.Partitions, broker.ListOffsetsPartition{
					Topic: broker.TopicRef{Name: q.Topics[i].Topic}, Partition: p.Partition,
					CurrentLeaderEpoch: p.CurrentLeaderEpoch, Timestamp: p.Timestamp,
				})
			}
		}
	}
	found := c.node.ListOffsets(ctx, r.caller, &ask)

	resp := q.ResponseKind().(*kmsg.ListOffsetsResponse)
	for i := range q.Topics {
		out := kmsg.NewListOffsetsResponseTopic()
		out.Topic = q.Topics[i].Topic
		for j := range q.Topics[i].Partitions {
			p := &q.Topics[i].Partitions[j]
			po := kmsg.NewListOffsetsResponseTopicPartition()
			po.Partition = p.Partition
			if po.ErrorCode = refused(out.Topic, p); po.ErrorCode == 0 {
				if po.ErrorCode = code(found[0].Err); po.ErrorCode == 0 {
					po.Offset, po.Timestamp, po.LeaderEpoch = found[0].Offset, found[0].Timestamp, found[0].LeaderEpoch
				}
				found = found[1:]
			}
			out.Partitions = append(out.Partitions, po)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return answer(resp)
}

// refuseListOffsets returns a function that tells the error code of a partition that the broker is not asked about.
func refuseListOffsets(q *kmsg.ListOffsetsRequest) func(topic string, p *kmsg.ListOffsetsRequestTopicPartition) int16 {
	repeated := repeatedListOffsets(q)
	return func(topic string, p *kmsg.ListOffsetsRequestTopicPartition) int16 {
		switch {
		case q.ReplicaID >= 0:
			return code(errForgedReplica)
		case repeated[topicPartition{topic, p.Partition}]:
			return kerr.InvalidRequest.Code
		case !timestampKnown(p.Timestamp, q.Version):
			return kerr.UnsupportedVersion.Code
		default:
			return 0
		}
	}
}

// topicPartition names a partition by its topic's name.
type topicPartition struct {
	topic     string
	partition int32
}

// repeatedListOffsets finds the partitions that a request names more than once; Kafka answers INVALID_REQUEST for them.
func repeatedListOffsets(q *kmsg.ListOffsetsRequest) map[topicPartition]bool {
	seen := make(map[topicPartition]bool)
	for i := range q.Topics {
		for j := range q.Topics[i].Partitions {
			tp := topicPartition{q.Topics[i].Topic, q.Topics[i].Partitions[j].Partition}
			_, again := seen[tp]
			seen[tp] = again
		}
	}
	return seen
}

// timestampKnown tells whether a version may ask for a timestamp. Those from 0 on are times.
func timestampKnown(timestamp int64, version int16) bool {
	first, special := firstTimestampVersion[timestamp]
	return timestamp >= 0 || special && version >= first
}
