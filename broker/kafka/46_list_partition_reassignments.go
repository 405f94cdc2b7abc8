package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListPartitionReassignments (key 46), version 0.

// listPartitionReassignments lists the reassignments that go on; a null list of topics asks for all.
func (c *conn) listPartitionReassignments(_ context.Context, r *request, q *kmsg.ListPartitionReassignmentsRequest) reply {
	partitions := chosen(q.Topics, func(t kmsg.ListPartitionReassignmentsRequestTopic) (string, []int32) { return t.Topic, t.Partitions })
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
