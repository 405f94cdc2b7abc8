package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/configdef"
)

// CreateTopics (key 19), versions 0 to 7.
//
// 1: validate only, error messages. 4: -1 for the default number of partitions and replicas, which older versions get as
// well. 5: flexible; the answer tells counts and configs (KIP-525). 7: topic ids.

// createTopics makes topics.
func (c *conn) createTopics(ctx context.Context, r *request, q *kmsg.CreateTopicsRequest) reply {
	topics := make([]broker.NewTopic, len(q.Topics))
	for i := range q.Topics {
		topics[i] = newTopic(&q.Topics[i])
	}
	ctx, cancel := within(ctx, q.TimeoutMillis)
	defer cancel()
	resp := q.ResponseKind().(*kmsg.CreateTopicsResponse)
	for _, t := range c.node.CreateTopics(ctx, r.caller, topics, q.ValidateOnly) {
		out := kmsg.NewCreateTopicsResponseTopic()
		out.Topic, out.ErrorCode, out.ErrorMessage = t.Name, code(t.Err), errorMessage(t.Err)
		out.NumPartitions, out.ReplicationFactor, out.TopicID = t.NumPartitions, t.ReplicationFactor, t.ID
		out.ConfigErrorCode = code(t.ConfigsErr)
		out.Configs = make([]kmsg.CreateTopicsResponseTopicConfig, len(t.Configs))
		for i, e := range t.Configs {
			out.Configs[i] = kmsg.CreateTopicsResponseTopicConfig{
				Name: e.Name, Value: e.Value, ReadOnly: e.ReadOnly, Source: int8(e.Source), IsSensitive: e.Sensitive,
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	return answer(resp)
}

func newTopic(q *kmsg.CreateTopicsRequestTopic) broker.NewTopic {
	t := broker.NewTopic{Name: q.Topic, NumPartitions: q.NumPartitions, ReplicationFactor: q.ReplicationFactor}
	for _, a := range q.ReplicaAssignment {
		t.Assignments = append(t.Assignments, broker.Assignment{Partition: a.Partition, Replicas: a.Replicas})
	}
	for _, c := range q.Configs {
		t.Configs = append(t.Configs, configdef.Change{Name: c.Name, Value: c.Value})
	}
	return t
}
