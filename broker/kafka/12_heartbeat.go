package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// Heartbeat (key 12), versions 0 to 4. 3: instance ids (KIP-345). 4: flexible.

// heartbeat keeps a member's session alive. While the coordinator loads its state, all members count as alive, as in
// Apache Kafka.
func (c *conn) heartbeat(_ context.Context, r *request, q *kmsg.HeartbeatRequest) reply {
	got := c.node.Heartbeat(r.caller, q.Group, q.MemberID, q.InstanceID, q.Generation)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.HeartbeatResponse)
		refused, err := result(got)
		if err == nil {
			err = refused
		}
		if !errors.Is(err, broker.ErrCoordinatorLoading) {
			resp.ErrorCode = code(err)
		}
		return resp
	}, got)
}
