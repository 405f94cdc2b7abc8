package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ListPartitionReassignments (key 46), version 0.

// listPartitionReassignments lists the reassignments that go on; a null list of topics asks for all.
func (c *conn) listPartitionReassignments(_ context.Context, r *request, q *kmsg.ListPartitionReassignmentsRequest) reply {
	var partitions []broker.TopicPartition
	if q.Topics != nil {
		partitions = []broker.TopicPartition{}
	}
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			partitions = append(partitions, broker.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	resp := q.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	at := map[string]int{}
	for _, p := range c.node.ListPartitionReassignments(r.caller, partitions) {
		i, ok := at[p.Topic.Name]
		if !ok {
			i = len(resp.Topics)
			at[p.Topic.Name] = i
			t := kmsg.NewListPartitionReassignmentsResponseTopic()
			t.Topic = p.Topic.Name
			resp.Topics = append(resp.Topics, t)
		}
		out := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
		out.Partition, out.Replicas, out.AddingReplicas, out.RemovingReplicas = p.Index, p.Replicas, p.Adding, p.Removing
		resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, out)
	}
	return answer(resp)
}
