package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// EndTxn (key 26), versions 0 to 5.
//
// 2: PRODUCER_FENCED. 3: flexible. 4: TRANSACTION_ABORTABLE. 5: transactions v2: the answer tells the producer id and the
// epoch of the next transaction (KIP-890).

// endTxn commits or aborts a transaction.
func (c *conn) endTxn(ctx context.Context, r *request, q *kmsg.EndTxnRequest) reply {
	resp := q.ResponseKind().(*kmsg.EndTxnResponse)
	ask := broker.EndTxnRequest{
		ID: q.TransactionalID, Producer: broker.Producer{ID: q.ProducerID, Epoch: q.ProducerEpoch}, Commit: q.Commit,
		Version: txnVersionOf(q.Version >= 5),
	}
	c.whileWaiting(controlPlane, func() {
		next, err := c.node.EndTxn(ctx, r.caller, ask)
		resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = code(olderFencing(err, q.Version < 2)), next.ID, next.Epoch
	})
	return answer(resp)
}
