// Package storage keeps the logs of partitions on disk, in Apache Kafka's on-disk form to the byte.
//
// # What it owns
//
// An Engine owns one or several log directories. A Log is one partition's directory in one of them: segments of record batches
// (v2, stored as they came, with only base offset and leader epoch patched), a sparse offset index, a time index and an index of
// aborted transactions for each segment, snapshots of producer state, and the leader epoch cache. docs/format describes every byte of every file.
//
// # Who calls it
//
// broker/partition appends, reads and runs retention; the node opens and closes the Engine; broker/kafka sees only Slice values
// and sends them. Batches must have been validated (record.Batch.Validate) before they come here.
//
// # Invariants
//
//   - Start <= FlushedEnd <= End. FlushedEnd only moves back when the log is truncated.
//   - What lies below FlushedEnd survives a power cut. The recovery point on disk never lies above it.
//   - Bytes of a segment below its published size never change, so a Slice may be sent without any lock.
//   - A failed fsync takes the whole log directory offline until a restart; it is never retried (ErrStorage).
//   - Offset and time indexes, producer snapshots and the leader epoch cache may be missing or wrong at any time: they are made anew
//     from the batches. They are right after Engine.Close.
//   - A producer snapshot is written only when everything below its offset is on disk, index entries included. Recovery relies on it.
//   - An aborted transaction is in the transaction index before its marker can be read, on disk as well. Producers with an open
//     transaction are never forgotten, so that FirstUnstable is right after every start.
//   - A batch of a transaction that isn't open here yet is appended only if its verification still holds (BeginVerification).
//   - Files that recovery trusts are never changed in place: they are replaced by complete ones, or the proof is removed first.
//   - The log start offset is on disk before segments below it go, the recovery point before batches are truncated.
//   - Nothing that passed a CRC is ever discarded by recovery: whole batches behind a bad one are moved to a .cut file.
//
// # Locks and goroutines
//
// Log.mu, the append lock, is held across the one pwrite of an append, across a roll and across a truncation; no other lock is
// held across I/O. Readers don't take it: they see segments through an atomic snapshot (Log.view) and a published size.
//
// Goroutines, all owned by the Engine and ended by Engine.Close: for each log directory a flusher (flusher.go), a keeper (keeper.go) and
// a sweeper that removes deleted files (sweeper.go). The keeper writes checkpoints, has snapshots of quiet logs taken (quiet.go) and
// watches over free space (room.go); it never waits for Log.mu. During Open a bounded number of goroutines recovers logs in parallel;
// they end before Open returns.
//
// # Where to start reading
//
// log.go and append.go, then read.go, flusher.go, snapshots.go and recover.go; docs/format/recovery.md has the order of
// writes. Transactions are in transactions.go, aborted_index.go and verification.go. The decisions stand apart from the disk in pure code: flush_queue.go, and roll.go, retention.go, epoch_cache.go, producer_state.go, each of these with a
// script in testdata.
package storage
