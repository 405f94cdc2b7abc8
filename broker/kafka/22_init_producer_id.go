package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// InitProducerId (key 22), versions 0 to 5, for idempotent producers and for those of transactional ids. Version 6 is about
// two-phase commit (KIP-939), which Kafka 4.4 doesn't advertise either.
//
// 2: flexible. 3: the producer's own id and epoch (KIP-360). 4: PRODUCER_FENCED. 5: TRANSACTION_ABORTABLE.

// initProducerID hands out a producer id, or a transactional id's in a new epoch.
func (c *conn) initProducerID(ctx context.Context, r *request, q *kmsg.InitProducerIDRequest) reply {
	resp := q.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if (q.ProducerID == -1) != (q.ProducerEpoch == -1) {
		resp.ErrorCode = code(broker.ErrInvalidRequest)
		return answer(resp)
	}
	ask := broker.InitProducerIDRequest{
		TransactionalID: q.TransactionalID, TransactionTimeoutMs: q.TransactionTimeoutMillis,
		ProducerID: q.ProducerID, ProducerEpoch: q.ProducerEpoch,
	}
	c.whileWaiting(controlPlane, func() {
		identity, err := c.node.InitProducerID(ctx, r.caller, ask)
		if err != nil {
			resp.ErrorCode = code(olderFencing(err, q.Version < 4))
			return
		}
		resp.ProducerID, resp.ProducerEpoch = identity.ID, identity.Epoch
	})
	return answer(resp)
}
