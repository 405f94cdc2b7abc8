package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// DeleteRecords (key 21), versions 0 to 2. 2: flexible.

// deleteRecords deletes the first records of partitions.
func (c *conn) deleteRecords(_ context.Context, r *request, q *kmsg.DeleteRecordsRequest) reply {
	var partitions []broker.RecordsBefore
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			partitions = append(partitions, broker.RecordsBefore{Topic: broker.TopicRef{Name: t.Topic}, Partition: p.Partition, Offset: p.Offset})
		}
	}
	deleted := c.node.DeleteRecords(r.caller, partitions)
	resp := q.ResponseKind().(*kmsg.DeleteRecordsResponse)
	for _, t := range q.Topics {
		topic := kmsg.NewDeleteRecordsResponseTopic()
		topic.Topic = t.Topic
		for i, p := range t.Partitions {
			out := kmsg.NewDeleteRecordsResponseTopicPartition()
			out.Partition, out.LowWatermark, out.ErrorCode = p.Partition, deleted[i].LogStartOffset, code(deleted[i].Err)
			topic.Partitions = append(topic.Partitions, out)
		}
		deleted = deleted[len(t.Partitions):]
		resp.Topics = append(resp.Topics, topic)
	}
	return answer(resp)
}
