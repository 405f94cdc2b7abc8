package kafka

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ConsumerGroupHeartbeat (key 68), versions 0 and 1 (KIP-848). 1: regular expressions, and member ids that clients choose
// (KIP-1082).

// consumerGroupHeartbeat takes a member in, keeps it alive, tells it what it has, or lets it go.
func (c *conn) consumerGroupHeartbeat(_ context.Context, r *request, q *kmsg.ConsumerGroupHeartbeatRequest) reply {
	ask := &broker.ConsumerGroupHeartbeatRequest{
		Group: q.Group, MemberID: q.MemberID, MemberIDRequired: q.Version >= 1, MemberEpoch: q.MemberEpoch,
		InstanceID: q.InstanceID, Rack: q.RackID, RebalanceTimeout: q.RebalanceTimeoutMillis,
		ClientID: r.caller.ClientID, ClientHost: clientHost(r.caller),
		Topics: q.SubscribedTopicNames, Assignor: q.ServerAssignor,
	}
	if q.Version >= 1 {
		ask.Regex = q.SubscribedTopicRegex
	}
	if q.Topics != nil {
		ask.Owned = make(broker.GroupPartitions, len(q.Topics))
	}
	for _, t := range q.Topics {
		ask.Owned[t.TopicID] = append(ask.Owned[t.TopicID], t.Partitions...)
	}
	got := c.node.ConsumerGroupHeartbeat(r.caller, ask)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
		v, err := result(got)
		if resp.ErrorCode, resp.ErrorMessage = code(err), errorMessage(err); err != nil {
			return resp
		}
		resp.MemberID, resp.MemberEpoch, resp.HeartbeatIntervalMillis = &v.MemberID, v.Epoch, int32(v.Interval.Milliseconds())
		if v.Assigned != nil {
			resp.Assignment = heartbeatAssignment(v.Assigned)
		}
		return resp
	}, got)
}

func heartbeatAssignment(assigned broker.GroupPartitions) *kmsg.ConsumerGroupHeartbeatResponseAssignment {
	out := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
	for _, id := range assigned.Topics() {
		t := kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
		t.TopicID, t.Partitions = id, slices.Clone(assigned[id])
		out.Topics = append(out.Topics, t)
	}
	return &out
}
