package broker

import (
	"moldau/broker/coordinator"
	"moldau/broker/coordinator/txn"
)

// What the verbs of transactions take and return, for edges, which know this package only.
type (
	// EndTxnRequest commits or aborts a transaction.
	EndTxnRequest = txn.EndTxn
	// AddPartitionsToTxnRequest puts partitions into a transaction.
	AddPartitionsToTxnRequest = txn.AddPartitions
	// TxnPartition names a partition of a transaction.
	TxnPartition = txn.TopicPartition
	// Transaction is a transactional id with its producer and its transaction.
	Transaction = txn.Transaction
	// TransactionState is where a transactional id stands.
	TransactionState = txn.State
	// TransactionFilter chooses transactional ids.
	TransactionFilter = txn.Filter
	// TransactionListing is a transactional id in a list.
	TransactionListing = txn.Listing
)

// The versions of the protocol of transactions that a client follows.
const (
	TxnVersion0 = txn.Version0
	TxnVersion2 = txn.Version2
)

// NoProducer stands for the absence of a producer id.
var NoProducer = coordinator.NoProducer

// ParseTransactionState returns the state of a name of Kafka's.
func ParseTransactionState(name string) (TransactionState, bool) { return txn.ParseState(name) }
