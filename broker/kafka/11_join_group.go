package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// JoinGroup (key 11), versions 0 to 9.
//
// 1: the rebalance timeout; before, the session timeout stands for it. 4: a new member is given an id and joins again with
// it (KIP-394). 5: instance ids (KIP-345). 6: flexible. 7: the protocol type in the answer (KIP-559). 8: a reason
// (KIP-800). 9: a leader need not assign (KIP-814).

// joinGroup makes the client a member. The answer comes when the rebalance is over.
func (c *conn) joinGroup(_ context.Context, r *request, q *kmsg.JoinGroupRequest) reply {
	ask := &broker.JoinGroupRequest{
		Group: q.Group, MemberID: q.MemberID, InstanceID: q.InstanceID,
		ClientID: r.caller.ClientID, ClientHost: clientHost(r.caller),
		SessionTimeout: millis(q.SessionTimeoutMillis), RebalanceTimeout: millis(q.RebalanceTimeoutMillis),
		ProtocolType: q.ProtocolType, Protocols: make([]broker.GroupProtocol, len(q.Protocols)),
		RequireMemberID: q.Version >= 4, SkipAssignment: q.Version >= 9,
	}
	if q.Version == 0 {
		ask.RebalanceTimeout = ask.SessionTimeout
	}
	for i := range q.Protocols {
		ask.Protocols[i] = broker.GroupProtocol{Name: q.Protocols[i].Name, Metadata: owned(q.Protocols[i].Metadata)}
	}
	got := c.node.JoinGroup(r.caller, ask)
	return await(func() kmsg.Response { return joinResponse(q, got) }, got)
}

func joinResponse(q *kmsg.JoinGroupRequest, got *broker.CoordinatorReply[broker.JoinGroupReply]) kmsg.Response {
	resp := q.ResponseKind().(*kmsg.JoinGroupResponse)
	j, err := result(got)
	if err != nil {
		j = broker.JoinGroupReply{Err: err, MemberID: q.MemberID, Generation: -1}
	}
	resp.ErrorCode, resp.MemberID, resp.Generation = code(j.Err), j.MemberID, j.Generation
	resp.LeaderID, resp.SkipAssignment = j.Leader, j.SkipAssignment
	resp.ProtocolType, resp.Protocol = optional(j.ProtocolType), optional(j.Protocol)
	for _, m := range j.Members {
		out := kmsg.NewJoinGroupResponseMember()
		out.MemberID, out.InstanceID, out.ProtocolMetadata = m.ID, optional(m.InstanceID), m.Metadata
		resp.Members = append(resp.Members, out)
	}
	return resp
}

func millis(ms int32) time.Duration { return time.Duration(ms) * time.Millisecond }

// owned copies bytes that alias the frame.
func owned(b []byte) []byte { return append([]byte{}, b...) }

// clientHost is how Kafka writes where a member comes from.
func clientHost(c *broker.Caller) string {
	if !c.Addr.IsValid() {
		return "/127.0.0.1" // in this process
	}
	return "/" + c.Addr.Unmap().String()
}
