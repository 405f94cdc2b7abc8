// Package coordinator runs what keeps its state in the partitions of an internal topic: the group coordinator in
// __consumer_offsets, the transaction coordinator in __transaction_state. Whoever leads such a partition is the
// coordinator of the ids that hash to it.
//
// # What it owns
//
// A Runtime holds one Shard for each partition that this node leads. The shard's state is what a replay of the partition
// leaves behind, plus what need not outlive a restart (who waits for a rebalance, when a session ends). Each shard has
// one goroutine, its owner; nobody else touches the shard.
//
// # An operation
//
// A caller hands a function to Do or Ask. The owner runs it with a Turn: the function looks at the shard, decides, and
// tells the turn which records to append and which answers to give. Turn.Append replays a record into the shard at once
// and Shard.Replay is the only code that changes durable state, so that a restart leads to the same state by the same
// code. The owner runs all operations that are queued, puts their records into as few batches as possible, appends them,
// and gives the answers once the high watermark has passed them.
//
// # Invariants
//
//   - An answer given through Turn.After or Reply.Send is given after everything that the shard had replayed when it was
//     decided is committed: under strict durability it is on disk. What an answer tells is never taken back by a crash.
//   - Records are appended in the leader epoch in which the shard was loaded or not at all.
//   - After a failed append the shard is ahead of its log. All who wait get a retriable error, the shard is dropped and
//     loaded anew from the log.
//   - Every operation is answered exactly once, whatever happens; an operation that panics costs its shard a reload, not
//     the process.
//   - While a partition is being read, operations are answered with ErrLoading; after its leadership ended, with
//     ErrNotCoordinator.
//
// # Who calls it
//
// Package broker makes one Runtime per kind, implements Log around partition.Partition, calls Elect and Resign as the
// metadata says, and has verbs that call Ask. Packages group and txn hold the shards.
//
// # Goroutines
//
// One owner per partition that this node coordinates, from Elect until Resign, a later Elect or Close. At most LoadParallel of
// them read their partitions at the same time. Who waits for an answer has no goroutine here.
//
// # Where to start reading
//
// shard.go and turn.go are what a kind of coordinator sees. runtime.go, owner.go and load.go run it.
package coordinator
