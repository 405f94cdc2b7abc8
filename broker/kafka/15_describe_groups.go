package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// DescribeGroups (key 15), versions 0 to 6. 3: authorized operations (KIP-430). 4: instance ids (KIP-345). 5: flexible.
// 6: GROUP_ID_NOT_FOUND, and messages (KIP-1043); before, a group that does not exist is called Dead.

// groupOperations are the operations that there are on groups: all of them are permitted, as there is no authorizer.
const groupOperations int32 = opRead | opDelete | opDescribe | opDescribeConfigs | opAlterConfigs

// describeGroups tells the members of classic groups.
func (c *conn) describeGroups(_ context.Context, r *request, q *kmsg.DescribeGroupsRequest) reply {
	found := make([]*broker.CoordinatorReply[broker.GroupDescription], len(q.Groups))
	pending := make([]broker.Pending, len(q.Groups))
	for i, id := range q.Groups {
		found[i] = c.node.DescribeGroup(r.caller, id)
		pending[i] = found[i]
	}
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for i, id := range q.Groups {
			d, err := result(found[i])
			resp.Groups = append(resp.Groups, describedGroup(q, id, &d, err))
		}
		return resp
	}, pending...)
}

func describedGroup(q *kmsg.DescribeGroupsRequest, id string, d *broker.GroupDescription, err error) kmsg.DescribeGroupsResponseGroup {
	out := kmsg.NewDescribeGroupsResponseGroup()
	out.Group = id
	switch {
	case errors.Is(err, broker.ErrGroupNotFound):
		out.State = "Dead"
		if q.Version >= 6 {
			out.ErrorCode, out.ErrorMessage = code(err), errorMessage(err)
		} else if q.IncludeAuthorizedOperations {
			out.AuthorizedOperations = groupOperations
		}
		return out
	case err != nil:
		out.ErrorCode = code(err)
		return out
	}
	out.State, out.ProtocolType, out.Protocol = d.State.String(), d.ProtocolType, d.Protocol
	if q.IncludeAuthorizedOperations {
		out.AuthorizedOperations = groupOperations
	}
	for _, m := range d.Members {
		om := kmsg.NewDescribeGroupsResponseGroupMember()
		om.MemberID, om.InstanceID, om.ClientID, om.ClientHost = m.ID, optional(m.InstanceID), m.ClientID, m.ClientHost
		om.ProtocolMetadata, om.MemberAssignment = owned(m.Metadata), owned(m.Assignment)
		out.Members = append(out.Members, om)
	}
	return out
}
