package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// OffsetDelete (key 47), version 0 (KIP-496).

// offsetDelete removes offsets of partitions that no member of the group subscribes to.
func (c *conn) offsetDelete(_ context.Context, r *request, q *kmsg.OffsetDeleteRequest) reply {
	resp := q.ResponseKind().(*kmsg.OffsetDeleteResponse)
	var partitions []broker.GroupPartition
	var slots []*kmsg.OffsetDeleteResponseTopicPartition // of partitions
	for i := range q.Topics {
		t := &q.Topics[i]
		out := kmsg.NewOffsetDeleteResponseTopic()
		out.Topic = t.Topic
		out.Partitions = make([]kmsg.OffsetDeleteResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			po := &out.Partitions[j]
			po.Partition = t.Partitions[j].Partition
			if _, ok := c.node.Image().Partition(t.Topic, po.Partition); !ok {
				po.ErrorCode = code(broker.ErrUnknownTopicOrPartition)
				continue
			}
			partitions = append(partitions, broker.GroupPartition{Topic: t.Topic, Partition: po.Partition})
			slots = append(slots, po)
		}
		resp.Topics = append(resp.Topics, out)
	}
	got := c.node.OffsetDelete(r.caller, q.Group, partitions)
	return await(func() kmsg.Response {
		errs, err := result(got)
		if err != nil {
			resp.ErrorCode, resp.Topics = code(err), nil
			return resp
		}
		for i, slot := range slots {
			slot.ErrorCode = code(errs[i])
		}
		return resp
	}, got)
}
