package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ElectLeaders (key 43), versions 0 to 2. 1: unclean elections, an error of the whole answer (KIP-460). 2: flexible.

// electLeaders holds elections; a null list of topics is for all partitions.
func (c *conn) electLeaders(ctx context.Context, r *request, q *kmsg.ElectLeadersRequest) reply {
	partitions := chosen(q.Topics, func(t kmsg.ElectLeadersRequestTopic) (string, []int32) { return t.Topic, t.Partitions })
	ctx, cancel := within(ctx, q.TimeoutMillis)
	defer cancel()
	outcomes := c.node.ElectLeaders(ctx, r.caller, q.ElectionType, partitions)
	resp := q.ResponseKind().(*kmsg.ElectLeadersResponse)
	resp.ErrorCode = code(broker.CheckElection(q.ElectionType))
	asked := q.Topics
	if asked == nil {
		asked = c.allTopics(outcomes)
	}
	for _, t := range asked {
		topic := kmsg.NewElectLeadersResponseTopic()
		topic.Topic = t.Topic
		for i := range t.Partitions {
			out := kmsg.NewElectLeadersResponseTopicPartition()
			out.Partition, out.ErrorCode, out.ErrorMessage = outcomes[i].Partition, code(outcomes[i].Err), errorMessage(outcomes[i].Err)
			topic.Partitions = append(topic.Partitions, out)
		}
		outcomes = outcomes[len(t.Partitions):]
		resp.Topics = append(resp.Topics, topic)
	}
	return answer(resp)
}

// allTopics is what a request for everything asked for, as far as there were elections: every topic, as Kafka has it, with
// the partitions of the outcomes, which are in the order of topics.
func (c *conn) allTopics(outcomes []broker.PartitionOutcome) []kmsg.ElectLeadersRequestTopic {
	var topics []kmsg.ElectLeadersRequestTopic
	for _, o := range outcomes {
		if n := len(topics); n == 0 || topics[n-1].Topic != o.Topic {
			topics = append(topics, kmsg.ElectLeadersRequestTopic{Topic: o.Topic})
		}
		last := &topics[len(topics)-1]
		last.Partitions = append(last.Partitions, o.Partition)
	}
	held := make(map[string]bool, len(topics))
	for _, t := range topics {
		held[t.Topic] = true
	}
	for t := range c.node.Image().Topics() {
		if !held[t.Name] {
			topics = append(topics, kmsg.ElectLeadersRequestTopic{Topic: t.Name})
		}
	}
	return topics
}
