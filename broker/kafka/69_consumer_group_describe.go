package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ConsumerGroupDescribe (key 69), versions 0 and 1 (KIP-848). 1: which protocol a member speaks (KIP-1099).

// The types of members that version 1 tells.
const (
	classicMember  int8 = 0
	consumerMember int8 = 1
)

// consumerGroupDescribe tells the members of groups of the consumer protocol.
func (c *conn) consumerGroupDescribe(_ context.Context, r *request, q *kmsg.ConsumerGroupDescribeRequest) reply {
	found := make([]*broker.CoordinatorReply[broker.ConsumerGroupDescription], len(q.Groups))
	pending := make([]broker.Pending, len(q.Groups))
	for i, id := range q.Groups {
		found[i] = c.node.DescribeConsumerGroup(r.caller, id)
		pending[i] = found[i]
	}
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
		for i, id := range q.Groups {
			d, err := result(found[i])
			resp.Groups = append(resp.Groups, describedConsumerGroup(q, id, &d, err))
		}
		return resp
	}, pending...)
}

func describedConsumerGroup(q *kmsg.ConsumerGroupDescribeRequest, id string, d *broker.ConsumerGroupDescription, err error) kmsg.ConsumerGroupDescribeResponseGroup {
	out := kmsg.NewConsumerGroupDescribeResponseGroup()
	out.Group = id
	switch {
	case errors.Is(err, broker.ErrInvalidGroupID), id == "":
		out.ErrorCode = code(broker.ErrInvalidGroupID)
		return out
	case errors.Is(err, broker.ErrGroupNotFound):
		out.ErrorCode, out.ErrorMessage = code(err), errorMessage(err)
		return out
	case err != nil:
		out.ErrorCode = code(err)
		return out
	}
	out.State, out.Epoch, out.AssignmentEpoch, out.AssignorName = d.State.String(), d.Epoch, d.AssignmentEpoch, d.Assignor
	if q.IncludeAuthorizedOperations {
		out.AuthorizedOperations = groupOperations
	}
	for i := range d.Members {
		out.Members = append(out.Members, describedConsumer(&d.Members[i]))
	}
	return out
}

func describedConsumer(m *broker.ConsumerGroupMember) kmsg.ConsumerGroupDescribeResponseGroupMember {
	out := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	out.MemberID, out.InstanceID, out.RackID = m.ID, optional(m.InstanceID), optional(m.Rack)
	out.MemberEpoch, out.ClientID, out.ClientHost = m.Epoch, m.ClientID, m.ClientHost
	out.SubscribedTopics, out.SubscribedTopicRegex = m.Topics, &m.Regex
	out.MemberType = consumerMember
	if m.Classic {
		out.MemberType = classicMember
	}
	for _, t := range m.Assigned {
		at := kmsg.NewAssignmentTopicPartition()
		at.TopicID, at.Topic, at.Partitions = t.ID, t.Name, t.Partitions
		out.Assignment.TopicPartitions = append(out.Assignment.TopicPartitions, at)
	}
	for _, t := range m.Target {
		at := kmsg.NewAssignmentTopicPartition()
		at.TopicID, at.Topic, at.Partitions = t.ID, t.Name, t.Partitions
		out.TargetAssignment.TopicPartitions = append(out.TargetAssignment.TopicPartitions, at)
	}
	return out
}
