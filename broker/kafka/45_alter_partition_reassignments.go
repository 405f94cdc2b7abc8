package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// AlterPartitionReassignments (key 45), versions 0 and 1. 1: the client may forbid a change of the replication factor
// (KIP-860).

// alterPartitionReassignments begins, changes and cancels reassignments; a null list of replicas cancels.
func (c *conn) alterPartitionReassignments(ctx context.Context, r *request, q *kmsg.AlterPartitionAssignmentsRequest) reply {
	var reassignments []broker.Reassignment
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			reassignments = append(reassignments, broker.Reassignment{
				TopicPartition: broker.TopicPartition{Topic: t.Topic, Partition: p.Partition}, Replicas: p.Replicas,
			})
		}
	}
	ctx, cancel := within(ctx, q.TimeoutMillis)
	defer cancel()
	outcomes := c.node.AlterPartitionReassignments(ctx, r.caller, reassignments, q.AllowReplicationFactorChange)
	resp := q.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	resp.AllowReplicationFactorChange = q.AllowReplicationFactorChange
	for _, t := range q.Topics {
		topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		topic.Topic = t.Topic
		for i, p := range t.Partitions {
			out := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			out.Partition, out.ErrorCode, out.ErrorMessage = p.Partition, code(outcomes[i].Err), errorMessage(outcomes[i].Err)
			topic.Partitions = append(topic.Partitions, out)
		}
		outcomes = outcomes[len(t.Partitions):]
		resp.Topics = append(resp.Topics, topic)
	}
	return answer(resp)
}
