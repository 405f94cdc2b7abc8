package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// InitProducerId (key 22), versions 0 to 5, for idempotent producers. A request with a transactional id is answered with
// UNSUPPORTED_VERSION, which every client takes as final: transactions are not offered, and no client gets as far,
// because FindCoordinator is not advertised.
//
// 2: flexible. 3: the producer's own id and epoch (KIP-360). 4: PRODUCER_FENCED. 5: transactions v2 (KIP-890).

// initProducerID hands out a producer id.
func (c *conn) initProducerID(ctx context.Context, r *request, q *kmsg.InitProducerIDRequest) reply {
	resp := q.ResponseKind().(*kmsg.InitProducerIDResponse)
	ask := broker.InitProducerIDRequest{
		TransactionalID: q.TransactionalID, TransactionTimeoutMs: q.TransactionTimeoutMillis,
		ProducerID: q.ProducerID, ProducerEpoch: q.ProducerEpoch,
	}
	identity, err := c.node.InitProducerID(ctx, r.caller, ask)
	if err != nil {
		resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = code(err), -1, -1
		return answer(resp)
	}
	resp.ProducerID, resp.ProducerEpoch = identity.ID, identity.Epoch
	return answer(resp)
}
