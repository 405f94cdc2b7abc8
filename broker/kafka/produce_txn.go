package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/broker"
	"moldau/broker/record"
)

const (
	// firstAbortableProduce is the first version of Produce that may answer TRANSACTION_ABORTABLE.
	firstAbortableProduce = 11
	// firstAddingProduce is the first version of Produce whose clients leave it to the broker to add partitions to their
	// transactions.
	firstAddingProduce = 12
)

// transactional tells whether any batch of the request is part of a transaction.
func (q *produceRequest) transactional() bool {
	for i := range q.partitions {
		if b := q.partitions[i].records; len(b) >= record.HeaderLen && record.Batch(b).Magic() == record.Magic && record.Batch(b).IsTransactional() {
			return true
		}
	}
	return false
}

// confirmTxn asks the transaction coordinator about the batches that open a transaction in their partitions, and waits for
// the answer: that must be on disk before the records are, and later requests of the connection come after them.
func (p *produceReply) confirmTxn(caller *broker.Caller) {
	if !p.request.transactional() {
		return
	}
	batches := make([]broker.TxnBatch, 0, len(p.request.partitions))
	for i := range p.request.topics {
		t := &p.request.topics[i]
		for j := t.first; j < t.last; j++ {
			part := &p.request.partitions[j]
			batches = append(batches, broker.TxnBatch{Topic: broker.TopicRef{Name: t.name, ID: t.id}, Partition: part.index, Records: part.records})
		}
	}
	p.txn = p.c.node.ConfirmTxn(caller, broker.ProduceTxn{ID: p.request.transactionalID, Adds: p.version >= firstAddingProduce}, batches)
	if p.txn.Done() {
		p.txn.Wait(p.c.ctx)
		return
	}
	p.c.whileWaiting(dataPlane, func() { p.txn.Wait(p.c.ctx) })
}

// txnProduceError is what a version of Produce may say of a batch that the transaction coordinator did not confirm. What may
// pass is an error that makes the client send the batch again without looking for another leader, as in Kafka.
func txnProduceError(err error, message string, version int16) (string, error) {
	passing := errors.Is(err, broker.ErrConcurrentTransactions) && version < firstAddingProduce
	for _, busy := range []error{
		broker.ErrCoordinatorLoading, broker.ErrCoordinatorNotAvailable, broker.ErrNotCoordinator, broker.ErrCoordinatorTimedOut,
	} {
		passing = passing || errors.Is(err, busy)
	}
	if passing {
		text := err.Error()
		if known, ok := errors.AsType[*kerr.Error](kerr.ErrorForCode(code(err))); ok {
			text = known.Message
		}
		return "Unable to verify the partition has been added to the transaction. Underlying error: " + text, broker.ErrNotEnoughReplicas
	}
	if errors.Is(err, broker.ErrTransactionAbortable) && version < firstAbortableProduce {
		return message, broker.ErrInvalidTxnState
	}
	return message, err
}
