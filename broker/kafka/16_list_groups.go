package kafka

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListGroups (key 16), versions 0 to 5. 3: flexible. 4: states (KIP-518). 5: types (KIP-848).

// listGroups lists the groups that this broker coordinates.
func (c *conn) listGroups(ctx context.Context, r *request, q *kmsg.ListGroupsRequest) reply {
	resp := q.ResponseKind().(*kmsg.ListGroupsResponse)
	groups, err := c.node.ListGroups(ctx, r.caller)
	if err != nil {
		resp.ErrorCode = code(err)
		return answer(resp)
	}
	for _, g := range groups {
		if !permitted(q.StatesFilter, g.State.String()) || !permitted(q.TypesFilter, string(g.Type)) {
			continue
		}
		out := kmsg.NewListGroupsResponseGroup()
		out.Group, out.ProtocolType, out.GroupState, out.GroupType = g.ID, g.ProtocolType, g.State.String(), string(g.Type)
		resp.Groups = append(resp.Groups, out)
	}
	return answer(resp)
}

// permitted tells whether a filter lets a name through. Case does not matter, and an empty filter is none.
func permitted(filter []string, name string) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, name) })
}
