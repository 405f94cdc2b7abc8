package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// AddOffsetsToTxn (key 25), versions 0 to 4.
//
// 2: PRODUCER_FENCED. 3: flexible. 4: TRANSACTION_ABORTABLE.

// addOffsetsToTxn puts a group's offsets into a transaction.
func (c *conn) addOffsetsToTxn(ctx context.Context, r *request, q *kmsg.AddOffsetsToTxnRequest) reply {
	producer := broker.Producer{ID: q.ProducerID, Epoch: q.ProducerEpoch}
	added := c.node.AddOffsetsToTxn(ctx, r.caller, q.TransactionalID, producer, q.Group)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
		_, err := result(added)
		resp.ErrorCode = code(olderFencing(err, q.Version < 2))
		return resp
	}, added)
}
