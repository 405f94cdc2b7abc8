package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// CreatePartitions (key 37), versions 0 to 3. 2: flexible. 3: the same as 2 (KIP-599: throttling has an error of its own,
// which this broker never sends).

// createPartitions adds partitions to topics.
func (c *conn) createPartitions(ctx context.Context, r *request, q *kmsg.CreatePartitionsRequest) reply {
	topics := make([]broker.NewPartitions, len(q.Topics))
	for i, t := range q.Topics {
		topics[i] = broker.NewPartitions{Topic: t.Topic, Count: t.Count}
		if t.Assignment != nil {
			topics[i].Assignments = make([][]int32, len(t.Assignment))
		}
		for j, a := range t.Assignment {
			topics[i].Assignments[j] = a.Replicas
		}
	}
	ctx, cancel := within(ctx, q.TimeoutMillis)
	defer cancel()
	resp := q.ResponseKind().(*kmsg.CreatePartitionsResponse)
	for _, t := range c.node.CreatePartitions(ctx, r.caller, topics, q.ValidateOnly) {
		out := kmsg.NewCreatePartitionsResponseTopic()
		out.Topic, out.ErrorCode, out.ErrorMessage = t.Topic, code(t.Err), errorMessage(t.Err)
		resp.Topics = append(resp.Topics, out)
	}
	return answer(resp)
}
