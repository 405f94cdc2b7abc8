package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// LeaveGroup (key 13), versions 0 to 5. 3: several members, also by instance id (KIP-345). 4: flexible. 5: a reason
// (KIP-800).

// leaveGroup removes members.
func (c *conn) leaveGroup(_ context.Context, r *request, q *kmsg.LeaveGroupRequest) reply {
	var members []broker.LeavingMember
	if q.Version < 3 {
		members = []broker.LeavingMember{{MemberID: q.MemberID}}
	}
	for i := range q.Members {
		members = append(members, broker.LeavingMember{MemberID: q.Members[i].MemberID, InstanceID: q.Members[i].InstanceID})
	}
	got := c.node.LeaveGroup(r.caller, q.Group, members)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.LeaveGroupResponse)
		errs, err := result(got)
		resp.ErrorCode = code(err)
		if err != nil {
			return resp
		}
		if q.Version < 3 {
			resp.ErrorCode = code(errs[0])
			return resp
		}
		for i, m := range members {
			out := kmsg.NewLeaveGroupResponseMember()
			out.MemberID, out.InstanceID, out.ErrorCode = m.MemberID, m.InstanceID, code(errs[i])
			resp.Members = append(resp.Members, out)
		}
		return resp
	}, got)
}
