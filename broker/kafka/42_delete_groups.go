package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// DeleteGroups (key 42), versions 0 to 3. 2: flexible. 3: messages.

// deleteGroups removes groups without members.
func (c *conn) deleteGroups(_ context.Context, r *request, q *kmsg.DeleteGroupsRequest) reply {
	done := make([]*broker.CoordinatorReply[struct{}], len(q.Groups))
	pending := make([]broker.Pending, len(q.Groups))
	for i, id := range q.Groups {
		done[i] = c.node.DeleteGroup(r.caller, id)
		pending[i] = done[i]
	}
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.DeleteGroupsResponse)
		for i, id := range q.Groups {
			out := kmsg.NewDeleteGroupsResponseGroup()
			_, err := result(done[i])
			out.Group, out.ErrorCode = id, code(err)
			resp.Groups = append(resp.Groups, out)
		}
		return resp
	}, pending...)
}
