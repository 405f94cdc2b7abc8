package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// FindCoordinator (key 10), versions 0 to 6.
//
// 1: types of coordinators. 3: flexible. 4: several keys (KIP-699). 5: TRANSACTION_ABORTABLE. 6: share coordinators
// (KIP-932).

// The types of coordinators.
const (
	groupCoordinator int8 = 0
	txnCoordinator   int8 = 1
	shareCoordinator int8 = 2
)

// found is one coordinator.
type found struct {
	node int32
	host string
	port int32
	code int16
	text *string
}

// findCoordinator tells which broker coordinates groups or transactional ids.
func (c *conn) findCoordinator(ctx context.Context, r *request, q *kmsg.FindCoordinatorRequest) reply {
	resp := q.ResponseKind().(*kmsg.FindCoordinatorResponse)
	if q.Version < 4 {
		f := c.coordinatorOf(ctx, r, q.CoordinatorType, q.CoordinatorKey)
		resp.NodeID, resp.Host, resp.Port, resp.ErrorCode, resp.ErrorMessage = f.node, f.host, f.port, f.code, f.text
		if q.Version >= 1 && f.code == 0 {
			resp.ErrorMessage = optional("NONE")
		}
		return answer(resp)
	}
	for _, key := range q.CoordinatorKeys {
		f := c.coordinatorOf(ctx, r, q.CoordinatorType, key)
		out := kmsg.NewFindCoordinatorResponseCoordinator()
		out.Key, out.NodeID, out.Host, out.Port, out.ErrorCode = key, f.node, f.host, f.port, f.code
		empty := ""
		if out.ErrorMessage = f.text; f.text == nil {
			out.ErrorMessage = &empty
		}
		resp.Coordinators = append(resp.Coordinators, out)
	}
	return answer(resp)
}

// coordinatorOf finds one coordinator, at its address on the listener that the client came through.
func (c *conn) coordinatorOf(ctx context.Context, r *request, kind int8, key string) found {
	none := found{node: -1, port: -1}
	find := c.node.GroupCoordinator
	switch kind {
	case groupCoordinator:
	case txnCoordinator:
		find = c.node.TransactionCoordinator
	default:
		none.code, none.text = kerr.InvalidRequest.Code, optional(kerr.InvalidRequest.Description)
		return none
	}
	b, err := find(ctx, r.caller, key)
	if err == nil {
		if ep, ok := b.Endpoint(c.listener.name); ok {
			return found{node: b.ID, host: ep.Host, port: ep.Port}
		}
		err = broker.ErrCoordinatorNotAvailable
	}
	none.code, none.text = code(err), errorMessage(err)
	return none
}
