// Package txn is the transaction coordinator: what one partition of __transaction_state knows of its transactional ids,
// and what it decides.
//
// # What it owns
//
// A Shard holds the transactional ids of one partition. An id begins Empty; a transaction is Ongoing from its first
// partition on; EndTxn, a newer producer of the id, or the timeout makes it PrepareCommit or PrepareAbort, which is the
// decision; when every partition has its marker it is CompleteCommit or CompleteAbort. An id that was not used for long is
// forgotten. The records are Apache Kafka's own (codec.go), so that its tools read them.
//
// Two versions of the protocol live side by side. In version 1 clients add partitions themselves and keep their epoch from
// one transaction to the next. In version 2 (KIP-890) the broker adds partitions, and each end of a transaction moves the
// epoch on, so that no late record or marker of one transaction can reach the next.
//
// # Who calls it
//
// Package broker runs shards with a coordinator.Runtime and has a verb for each request. What a shard wants from the world
// beyond its partition it says through Outside: markers to be written, a new producer id.
//
// # Invariants
//
//   - A transaction that is decided keeps its decision, and is completed however often the node restarts.
//   - The epoch of a producer id never falls; when it is used up, another producer id takes its place.
//   - An answer that depends on a record waits until the record is committed.
//   - Nothing is decided for a producer with an older epoch.
//
// # Goroutines
//
// None. All methods are called by the owner of the shard; time comes with the turn.
//
// # Where to start reading
//
// transaction.go has the transitions, shard.go the state, and one file per operation decides. The scripts in testdata show
// how they play together.
package txn
