// Package partition holds the replicas of partitions on this node: who leads, what is committed, who waits for what.
//
// # What it owns
//
// A Partition joins a log (package storage) with its place in the metadata: the leader epoch, the in-sync replicas, and
// from them the high watermark, the first offset that is not committed. Under strict durability that is the least
// flushed end among the in-sync replicas, so that nobody is told of a record that a power cut could take back; under
// relaxed durability it is the least log end, as in Apache Kafka. The last stable offset lies below it while the oldest
// transaction is open, or ended by a marker that is not committed.
//
// A Topic holds what its partitions share: name, id, configuration. The Manager holds all of them and makes them follow
// the metadata.
//
// # Who calls it
//
// Package broker: the produce and fetch verbs call Append, Read and the waiters; the node feeds images to Manager.Apply;
// admin verbs call DeleteBefore, Status and the like. The log's flusher calls Partition.Flushed and Failed.
//
// # Invariants
//
//   - log start <= last stable offset <= high watermark <= log end. The last stable offset never moves back either.
//   - log start <= high watermark <= log end. The high watermark never moves back while this replica leads, and the log
//     is never truncated below it.
//   - A Commit that is done without an error is on disk on every in-sync replica (strict), or in their logs (relaxed).
//   - No append of an older leader epoch comes after the new epoch was noted in the log: Partition.assign keeps new
//     appends out and waits for those under way.
//   - A waiter that was registered before a change is woken by it, one that was registered after sees it at once.
//
// # Locks and goroutines
//
// Partition.mu guards memory only and is held for some tens of nanoseconds; Waiter.mu is taken below it. No lock is held
// across I/O. Manager.turn is a channel that serialises opening and closing of logs.
//
// Nobody who waits has a goroutine here. All waiting produces of a partition share one channel, closed when the high
// watermark moves; a waiting fetch has one Waiter that its partitions point to. The Manager owns three loops (retention,
// expiry of producers, opening again what failed), ended by Manager.Close.
//
// # Where to start reading
//
// state.go decides, without locks or I/O; its scripts are in testdata/state. Then partition.go, append.go, read.go and
// waiters.go; manager.go and replicas.go.
package partition
