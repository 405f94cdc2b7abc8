package txn

import (
	"cmp"
	"math"
	"slices"

	"moldau/internal/invariant"
)

// NoProducerID and NoProducerEpoch stand for absence.
const (
	NoProducerID    int64 = -1
	NoProducerEpoch int16 = -1
)

// noTime stands for the start of a transaction that did not begin.
const noTime int64 = -1

// epochLast is the last epoch that a producer may have; the one above is for fencing it.
const epochLast int16 = math.MaxInt16 - 1

// Versions of the protocol between producers and brokers (the feature transaction.version).
const (
	// Version0 is the oldest. Version 1 differs from it in the records only.
	Version0 int16 = 0
	// Version2 moves the epoch on with every transaction (KIP-890).
	Version2 int16 = 2
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

func comparePartitions(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// Transaction is a transactional id with its producer and its transaction. Values are not changed once they are shared.
type Transaction struct {
	ID string
	// ProducerID and ProducerEpoch belong to the id's latest producer.
	ProducerID    int64
	ProducerEpoch int16
	// PrevProducerID is the producer id before the last transition; NextProducerID takes over when the transaction is
	// complete, because the epochs of the current one are used up. NoProducerID if there is none.
	PrevProducerID, NextProducerID int64
	// LastEpoch is the epoch before, as far as its producer may ask again (KIP-360): NoProducerEpoch if another producer
	// took over.
	LastEpoch int16
	TimeoutMs int32
	State     State
	// Partitions are those of the transaction, in order.
	Partitions []TopicPartition
	// StartMs is when the transaction began, -1 if none did; UpdateMs is when the last transition was.
	StartMs, UpdateMs int64
	// ClientVersion is the version of the protocol of the last transition.
	ClientVersion int16
}

// exhausted tells whether the producer id has no epoch left for another producer.
func (tx *Transaction) exhausted() bool { return tx.ProducerEpoch >= epochLast }

// has tells whether a partition is part of the transaction.
func (tx *Transaction) has(p TopicPartition) bool {
	_, found := slices.BinarySearchFunc(tx.Partitions, p, comparePartitions)
	return found
}

// hasAll tells whether all partitions are part of the transaction.
func (tx *Transaction) hasAll(ps []TopicPartition) bool {
	return !slices.ContainsFunc(ps, func(p TopicPartition) bool { return !tx.has(p) })
}

// newTransaction is the state of an id that nobody has used yet.
func newTransaction(id string, producerID int64) Transaction {
	return Transaction{
		ID: id, ProducerID: producerID, ProducerEpoch: NoProducerEpoch, PrevProducerID: NoProducerID,
		NextProducerID: NoProducerID, LastEpoch: NoProducerEpoch, StartMs: noTime,
	}
}

// follow begins a transition: what every one has in common.
func (tx *Transaction) follow(to State, nowMs int64) Transaction {
	next := *tx
	next.State, next.UpdateMs, next.PrevProducerID = to, max(nowMs, tx.UpdateMs), tx.ProducerID
	return next
}

// initialized gives the id to a producer with an epoch.
func (tx *Transaction) initialized(nowMs int64, timeoutMs int32, producerID int64, epoch, last int16) Transaction {
	invariant.Check(tx.State.idle(), "%s is %v and gets a producer", tx.ID, tx.State)
	next := tx.follow(Empty, nowMs)
	next.ProducerID, next.ProducerEpoch, next.LastEpoch = producerID, epoch, last
	next.TimeoutMs, next.Partitions, next.StartMs = timeoutMs, nil, noTime
	return next
}

// added puts partitions into the transaction, which begins if there is none.
func (tx *Transaction) added(nowMs int64, ps []TopicPartition, version int16) Transaction {
	invariant.Check(!tx.State.decided(), "%s is %v and gets partitions", tx.ID, tx.State)
	next := tx.follow(Ongoing, nowMs)
	if tx.State.idle() {
		next.StartMs = next.UpdateMs
	}
	next.Partitions = normalize(slices.Concat(tx.Partitions, ps))
	next.ClientVersion = version
	return next
}

// decidedTo ends the transaction. Version 2 moves the epoch on; fresh is the producer id for when there is none left.
func (tx *Transaction) decidedTo(nowMs int64, to State, version int16, fresh int64) Transaction {
	invariant.Check(tx.State == Ongoing || tx.State.idle() && to == PrepareAbort, "%s is %v and becomes %v", tx.ID, tx.State, to)
	next := tx.follow(to, nowMs)
	next.ClientVersion = version
	if version >= Version2 {
		next.LastEpoch = tx.ProducerEpoch
		next.ProducerEpoch = bumped(tx.ProducerEpoch)
		if tx.exhausted() {
			next.NextProducerID = fresh
		}
	}
	if tx.State != Ongoing {
		next.StartMs = next.UpdateMs // an abort without partitions: begun and ended at once
	}
	return next
}

// bumped is the epoch after e, as far as there is one.
func bumped(e int16) int16 {
	if e == math.MaxInt16 {
		return e
	}
	return e + 1
}

// completed notes that all markers are written.
func (tx *Transaction) completed(nowMs int64) Transaction {
	invariant.Check(tx.State.decided(), "%s is %v and becomes complete", tx.ID, tx.State)
	to := CompleteAbort
	if tx.State == PrepareCommit {
		to = CompleteCommit
	}
	next := tx.follow(to, nowMs)
	if tx.ClientVersion >= Version2 && tx.NextProducerID != NoProducerID {
		next.ProducerID, next.ProducerEpoch = tx.NextProducerID, 0
	}
	next.NextProducerID, next.Partitions = NoProducerID, nil
	return next
}
