package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// AddPartitionsToTxn (key 24), versions 0 to 5. Up to version 3 it comes from clients, for one transaction; from version 4
// on it is what brokers send for the transactions of their clients, several at a time, to add partitions or only to verify
// that they were added (KIP-890).
//
// 2: PRODUCER_FENCED. 3: flexible. 4: batched. 5: transactions v2, which brokers add partitions for.

// addPartitionsToTxn puts partitions into transactions.
func (c *conn) addPartitionsToTxn(_ context.Context, r *request, q *kmsg.AddPartitionsToTxnRequest) reply {
	if q.Version < 4 {
		return c.addPartitionsToOneTxn(r, q)
	}
	asked := make([]*askedPartitions, len(q.Transactions))
	var pending []broker.Pending
	for i := range q.Transactions {
		t := &q.Transactions[i]
		a := &askedPartitions{}
		for j := range t.Topics {
			a.add(t.Topics[j].Topic, t.Topics[j].Partitions)
		}
		a.ask(c, r, broker.AddPartitionsToTxnRequest{
			ID: t.TransactionalID, Producer: broker.Producer{ID: t.ProducerID, Epoch: t.ProducerEpoch},
			Version: txnVersionOf(q.Version >= 5),
		}, t.VerifyOnly)
		asked[i], pending = a, append(pending, a.pending()...)
	}
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		for i := range q.Transactions {
			resp.Transactions = append(resp.Transactions, transactionResult(&q.Transactions[i], asked[i].errors()))
		}
		return resp
	}, pending...)
}

// transactionResult is the answer for one transaction.
func transactionResult(t *kmsg.AddPartitionsToTxnRequestTransaction, errs []error) kmsg.AddPartitionsToTxnResponseTransaction {
	out := kmsg.NewAddPartitionsToTxnResponseTransaction()
	out.TransactionalID = t.TransactionalID
	for i := range t.Topics {
		topic := kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
		topic.Topic = t.Topics[i].Topic
		for _, index := range t.Topics[i].Partitions {
			p := kmsg.NewAddPartitionsToTxnResponseTransactionTopicPartition()
			p.Partition, p.ErrorCode, errs = index, code(errs[0]), errs[1:]
			topic.Partitions = append(topic.Partitions, p)
		}
		out.Topics = append(out.Topics, topic)
	}
	return out
}

// addPartitionsToOneTxn is what clients ask.
func (c *conn) addPartitionsToOneTxn(r *request, q *kmsg.AddPartitionsToTxnRequest) reply {
	a := &askedPartitions{}
	for i := range q.Topics {
		a.add(q.Topics[i].Topic, q.Topics[i].Partitions)
	}
	a.ask(c, r, broker.AddPartitionsToTxnRequest{
		ID: q.TransactionalID, Producer: broker.Producer{ID: q.ProducerID, Epoch: q.ProducerEpoch}, Version: broker.TxnVersion0,
	}, false)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		errs := a.errors()
		for i := range q.Topics {
			topic := kmsg.NewAddPartitionsToTxnResponseTopic()
			topic.Topic = q.Topics[i].Topic
			for _, index := range q.Topics[i].Partitions {
				p := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
				p.Partition, p.ErrorCode, errs = index, code(olderFencing(errs[0], q.Version < 2)), errs[1:]
				topic.Partitions = append(topic.Partitions, p)
			}
			resp.Topics = append(resp.Topics, topic)
		}
		return resp
	}, a.pending()...)
}

// askedPartitions is what is asked for one transaction.
type askedPartitions struct {
	partitions []broker.TxnPartition
	refused    []error // of all partitions, if nothing is asked
	added      *broker.CoordinatorReply[struct{}]
	verified   *broker.CoordinatorReply[[]error]
}

func (a *askedPartitions) add(topic string, partitions []int32) {
	for _, p := range partitions {
		a.partitions = append(a.partitions, broker.TxnPartition{Topic: topic, Partition: p})
	}
}

// ask asks, unless a partition is not there: then none is tried.
func (a *askedPartitions) ask(c *conn, r *request, q broker.AddPartitionsToTxnRequest, verify bool) {
	errs, missing := c.node.MissingPartitions(a.partitions)
	if missing {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = broker.ErrOperationNotAttempted
			}
		}
		a.refused = errs
		return
	}
	q.Partitions = a.partitions
	if verify {
		a.verified = c.node.VerifyPartitionsInTxn(r.caller, q)
	} else {
		a.added = c.node.AddPartitionsToTxn(r.caller, q)
	}
}

func (a *askedPartitions) pending() []broker.Pending {
	switch {
	case a.added != nil:
		return []broker.Pending{a.added}
	case a.verified != nil:
		return []broker.Pending{a.verified}
	}
	return nil
}

// errors returns the outcome of each partition.
func (a *askedPartitions) errors() []error {
	if a.refused != nil {
		return a.refused
	}
	out := make([]error, len(a.partitions))
	var err error
	if a.added != nil {
		_, err = result(a.added)
	} else {
		var errs []error
		errs, err = result(a.verified)
		copy(out, errs)
	}
	if err != nil {
		for i := range out {
			out[i] = err
		}
	}
	return out
}

// olderFencing replaces PRODUCER_FENCED for versions that do not know it yet.
func olderFencing(err error, older bool) error {
	if older && errors.Is(err, broker.ErrProducerFenced) {
		return broker.ErrInvalidProducerEpoch
	}
	return err
}

// txnVersionOf is the version of the protocol of transactions that a client follows.
func txnVersionOf(second bool) int16 {
	if second {
		return broker.TxnVersion2
	}
	return broker.TxnVersion0
}
