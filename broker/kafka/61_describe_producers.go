package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// DescribeProducers (key 61), version 0 (KIP-664): the idempotent producers that partitions remember.

// describeProducers lists producers by partition.
func (c *conn) describeProducers(_ context.Context, r *request, q *kmsg.DescribeProducersRequest) reply {
	resp := q.ResponseKind().(*kmsg.DescribeProducersResponse)
	for i := range q.Topics {
		out := kmsg.NewDescribeProducersResponseTopic()
		out.Topic = q.Topics[i].Topic
		for _, index := range q.Topics[i].Partitions {
			out.Partitions = append(out.Partitions, c.describePartitionProducers(r, out.Topic, index))
		}
		resp.Topics = append(resp.Topics, out)
	}
	return answer(resp)
}

func (c *conn) describePartitionProducers(r *request, topic string, index int32) kmsg.DescribeProducersResponseTopicPartition {
	out := kmsg.NewDescribeProducersResponseTopicPartition()
	out.Partition = index
	active, err := c.node.DescribeProducers(r.caller, broker.TopicRef{Name: topic}, index)
	out.ErrorCode, out.ErrorMessage = code(err), errorMessage(err)
	for i := range active {
		p := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		p.ProducerID, p.ProducerEpoch = active[i].ProducerID, active[i].ProducerEpoch
		p.LastSequence, p.LastTimestamp = active[i].LastSequence, active[i].LastTimestamp
		p.CoordinatorEpoch, p.CurrentTxnStartOffset = active[i].CoordinatorEpoch, active[i].CurrentTxnStartOffset
		out.ActiveProducers = append(out.ActiveProducers, p)
	}
	return out
}
