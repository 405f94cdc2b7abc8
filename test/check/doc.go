// Package check judges histories: what producers were told and what readers
// saw, while a broker was killed, paused or starved. Each invariant is a
// function of the history alone, so that a test can plant a bug in a history
// and see the invariant fail.
//
// Check judges idempotent producers (history.go, invariants.go), CheckTxns transactions that append to lists and read them
// (transactions.go, cycles.go), CheckGroup the members of a group and WatermarkFell what readers are told of a partition
// (groups.go), CheckCompacted a log that keeps the last record of each key (compaction.go).
package check
