// Package compact decides what log compaction keeps. It is pure: it knows batches and offsets, and no files, clocks or locks.
//
// # What it owns
//
// Decide says which part of a log may be compacted and how urgent that is; Groups, which segments become one. A KeyMap remembers the
// last offset of each key in bounded memory. Transactions follows the transactions along the log and says which data was aborted and
// which markers have nothing left to mark. A Filter turns a batch into what remains of it.
//
// The rules are those of Apache Kafka's log cleaner:
//
//   - The last record of each key stays, with its offset and timestamp. Nothing moves.
//   - A record without a value (a tombstone) stays until a time that is written into its batch by the first compaction that meets it
//     (KIP-534): then every reader that is less than delete.retention.ms behind has seen it.
//   - What was aborted goes at once. The marker of a transaction stays as long as any of its batches, and then like a tombstone.
//   - The last batch of each producer stays, if need be without records, so that its sequence numbers are not forgotten.
//   - The last batch of each new segment stays in the same way, so that a segment always ends where the next one begins.
//
// # Who calls it
//
// The cleaner of package storage, which owns the files. Nothing here is for concurrent use.
//
// # Where to start reading
//
// filter.go; the scripts are in testdata.
package compact
