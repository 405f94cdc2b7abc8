package kafka

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/metadata"
)

// DescribeTopicPartitions (key 75), version 0: Metadata in pages, with eligible leaders (KIP-966).

// describeTopicPartitions describes a page of partitions, of all topics or of those named.
func (c *conn) describeTopicPartitions(_ context.Context, r *request, q *kmsg.DescribeTopicPartitionsRequest) reply {
	resp := q.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	names := make([]string, len(q.Topics))
	for i := range q.Topics {
		names[i] = q.Topics[i].Topic
	}
	if !cursorFits(q.Cursor, names) {
		for _, name := range names {
			t := kmsg.NewDescribeTopicPartitionsResponseTopic()
			t.Topic, t.ErrorCode = &name, kerr.InvalidRequest.Code
			resp.Topics = append(resp.Topics, t)
		}
		return answer(resp)
	}
	var from *broker.PartitionCursor
	if q.Cursor != nil {
		from = &broker.PartitionCursor{Topic: q.Cursor.Topic, Partition: q.Cursor.Partition}
	}
	limit := max(1, min(int(q.ResponsePartitionLimit), c.node.Config().MaxRequestPartitions))
	topics, next := c.node.DescribeTopicPartitions(r.caller, names, from, limit)
	img := c.node.Image()
	for i := range topics {
		resp.Topics = append(resp.Topics, c.pageTopic(img, &topics[i]))
	}
	if next != nil {
		resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: next.Topic, Partition: next.Partition}
	}
	return answer(resp)
}

// cursorFits tells whether the cursor is a place within what is asked for.
func cursorFits(cursor *kmsg.DescribeTopicPartitionsRequestCursor, names []string) bool {
	if cursor == nil {
		return true
	}
	return cursor.Partition >= 0 && (len(names) == 0 || slices.Contains(names, cursor.Topic))
}

func (c *conn) pageTopic(img *metadata.Image, d *broker.DescribedTopic) kmsg.DescribeTopicPartitionsResponseTopic {
	out := kmsg.NewDescribeTopicPartitionsResponseTopic()
	out.Topic, out.ErrorCode, out.TopicID, out.IsInternal = &d.Name, code(d.Err), d.ID, d.Internal
	out.AuthorizedOperations = topicOperations
	for _, p := range d.Partitions {
		m := c.describePartition(img, p)
		out.Partitions = append(out.Partitions, kmsg.DescribeTopicPartitionsResponseTopicPartition{
			ErrorCode: m.ErrorCode, Partition: m.Partition, LeaderID: m.Leader, LeaderEpoch: m.LeaderEpoch, Replicas: m.Replicas, ISR: m.ISR,
			EligibleLeaderReplicas: append([]int32{}, p.ELR...), LastKnownELR: append([]int32{}, p.LastKnownELR...), // never null
			OfflineReplicas: m.OfflineReplicas,
		})
	}
	return out
}
