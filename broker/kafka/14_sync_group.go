package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// SyncGroup (key 14), versions 0 to 5. 3: instance ids (KIP-345). 4: flexible. 5: protocol type and protocol (KIP-559).

// syncGroup answers with the member's assignment once the leader has brought it.
func (c *conn) syncGroup(_ context.Context, r *request, q *kmsg.SyncGroupRequest) reply {
	ask := &broker.SyncGroupRequest{
		Group: q.Group, Generation: q.Generation, MemberID: q.MemberID, InstanceID: q.InstanceID,
		ProtocolType: q.ProtocolType, Protocol: q.Protocol,
	}
	if len(q.GroupAssignment) > 0 {
		ask.Assignments = make(map[string][]byte, len(q.GroupAssignment))
	}
	for i := range q.GroupAssignment {
		ask.Assignments[q.GroupAssignment[i].MemberID] = owned(q.GroupAssignment[i].MemberAssignment)
	}
	got := c.node.SyncGroup(r.caller, ask)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.SyncGroupResponse)
		s, err := result(got)
		if err == nil {
			err = s.Err
		}
		resp.ErrorCode = code(err)
		resp.MemberAssignment = []byte{}
		if err == nil {
			resp.ProtocolType, resp.Protocol, resp.MemberAssignment = &s.ProtocolType, &s.Protocol, s.Assignment
		}
		return resp
	}, got)
}
