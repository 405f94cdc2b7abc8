package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/txn"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/broker/storage"
)

// ProduceTxn is the part of a produce request about transactions.
type ProduceTxn struct {
	// ID is the transactional id; empty outside of transactions. It is not kept.
	ID string
	// Adds says that the client leaves it to the broker to add partitions to its transaction (version 2).
	Adds bool
}

// TxnBatch is what a produce request has for one partition.
type TxnBatch struct {
	Topic     TopicRef
	Partition int32
	Records   []byte
}

// Confirmation says which batches of a produce request may open a transaction in their partitions. The zero value is for
// requests without transactions.
type Confirmation struct {
	batches []confirmedBatch // of the request; nil without transactions
	asked   []*askedOf
}

// confirmedBatch is what is known of one batch.
type confirmedBatch struct {
	guard storage.Guard
	err   error
}

// askedOf is what the coordinator was asked for one producer.
type askedOf struct {
	producer   coordinator.Producer
	partitions []TxnPartition
	batches    []int // whose partitions they are
	adds       *coordinator.Reply[struct{}]
	verified   *coordinator.Reply[[]error]
}

// ConfirmTxn asks the transaction coordinator about the batches of a produce request that open a transaction in their
// partition (KIP-890). Produce them with ProduceIn after the confirmation is there: see Wait.
func (n *Node) ConfirmTxn(c *Caller, tx ProduceTxn, batches []TxnBatch) *Confirmation {
	conf := &Confirmation{}
	for i := range batches {
		b := &batches[i]
		batch, err := onlyBatch(b.Records)
		if err != nil || !batch.IsTransactional() {
			continue // Produce knows what to say
		}
		if conf.batches == nil {
			conf.batches = make([]confirmedBatch, len(batches))
		}
		if tx.ID == "" {
			conf.batches[i].err = ErrTransactionalIDAuthorization
			continue
		}
		n.confirm(conf, i, b, batch)
	}
	for _, a := range conf.asked {
		q := AddPartitionsToTxnRequest{ID: strings.Clone(tx.ID), Producer: a.producer, Partitions: a.partitions, Version: TxnVersion2}
		if tx.Adds {
			a.adds = n.AddPartitionsToTxn(c, q)
		} else {
			a.verified = n.VerifyPartitionsInTxn(c, q)
		}
	}
	return conf
}

// confirm prepares to ask about one batch, unless its transaction is open in the partition.
func (n *Node) confirm(conf *Confirmation, i int, b *TxnBatch, batch record.Batch) {
	t, p, err := n.find(b.Topic, b.Partition)
	if err != nil || t.Internal {
		return // Produce knows what to say
	}
	guard, needed, err := p.BeginVerification(batch.ProducerID(), batch.ProducerEpoch(), batch.BaseSequence())
	if err != nil || !needed {
		return
	}
	conf.batches[i].guard = guard
	producer := coordinator.Producer{ID: batch.ProducerID(), Epoch: batch.ProducerEpoch()}
	var of *askedOf
	for _, a := range conf.asked {
		if a.producer == producer {
			of = a
		}
	}
	if of == nil {
		of = &askedOf{producer: producer}
		conf.asked = append(conf.asked, of)
	}
	of.partitions = append(of.partitions, TxnPartition{Topic: t.Name, Partition: b.Partition})
	of.batches = append(of.batches, i)
}

// Done tells whether the coordinator has answered.
func (conf *Confirmation) Done() bool {
	for _, a := range conf.asked {
		if a.adds != nil && !a.adds.Settled() || a.verified != nil && !a.verified.Settled() {
			return false
		}
	}
	return true
}

// Wait returns when the coordinator has answered, or ctx ends: then the batches are refused, and may come again.
func (conf *Confirmation) Wait(ctx context.Context) {
	for _, a := range conf.asked {
		var errs []error
		var err error
		if a.adds != nil {
			_, err = a.adds.Wait(ctx)
		} else {
			errs, err = a.verified.Wait(ctx)
		}
		for j, i := range a.batches {
			switch {
			case err != nil:
				conf.batches[i].err = confirmError(err)
			case errs != nil:
				conf.batches[i].err = confirmError(errs[j])
			}
		}
	}
	conf.asked = nil
}

// confirmError turns what the transaction coordinator says into what producers and committers of offsets may hear: a fenced
// producer has an invalid epoch, as from partitions.
func confirmError(err error) error {
	if errors.Is(err, txn.ErrProducerFenced) {
		return fmt.Errorf("%w: %w", ErrInvalidProducerEpoch, err)
	}
	return err
}

// ProduceIn is Produce for batch number i of a request that was confirmed.
func (n *Node) ProduceIn(c *Caller, conf *Confirmation, i int, topic TopicRef, index int32, records []byte, acks int16) Produced {
	var known confirmedBatch
	if conf != nil && conf.batches != nil {
		known = conf.batches[i]
	}
	return n.produce(c, topic, index, records, acks, known)
}

// appendGuarded appends a client's batch as what it is.
func appendGuarded(p *partition.Partition, b record.Batch, acks int16, guard storage.Guard) (partition.Appended, error) {
	if guard != storage.NoGuard {
		return p.AppendVerified(b, acks, guard)
	}
	return p.Append(b, acks, storage.OriginClient)
}
