package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// DescribeTransactions (key 65), version 0 (KIP-664).

// describeTransactions tells what is known of transactional ids.
func (c *conn) describeTransactions(_ context.Context, r *request, q *kmsg.DescribeTransactionsRequest) reply {
	found := make([]*broker.CoordinatorReply[broker.Transaction], len(q.TransactionalIDs))
	pending := make([]broker.Pending, len(q.TransactionalIDs))
	for i, id := range q.TransactionalIDs {
		found[i] = c.node.DescribeTransaction(r.caller, id)
		pending[i] = found[i]
	}
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.DescribeTransactionsResponse)
		for i, id := range q.TransactionalIDs {
			tx, err := result(found[i])
			resp.TransactionStates = append(resp.TransactionStates, describedTransaction(id, &tx, err))
		}
		return resp
	}, pending...)
}

func describedTransaction(id string, tx *broker.Transaction, err error) kmsg.DescribeTransactionsResponseTransactionState {
	out := kmsg.NewDescribeTransactionsResponseTransactionState()
	out.TransactionalID = id
	if err != nil {
		out.ErrorCode = code(err)
		return out
	}
	out.State, out.TimeoutMillis, out.StartTimestamp = tx.State.String(), tx.TimeoutMs, tx.StartMs
	out.ProducerID, out.ProducerEpoch = tx.ProducerID, tx.ProducerEpoch
	for i, p := range tx.Partitions {
		if i == 0 || tx.Partitions[i-1].Topic != p.Topic {
			topic := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
			topic.Topic = p.Topic
			out.Topics = append(out.Topics, topic)
		}
		last := &out.Topics[len(out.Topics)-1]
		last.Partitions = append(last.Partitions, p.Partition)
	}
	return out
}
