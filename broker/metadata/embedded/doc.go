// Package embedded is the metadata store of a single node: the contract of package metadata on Badger, in the process and
// in one directory.
//
// Invariants: a transaction that was acknowledged is on the disk; revisions are without gaps; each transaction of the
// contract lies inside one transaction of Badger, so that a crash keeps it whole or drops it.
//
// Goroutines: one writer, started by Open and ended by Close, runs all transactions and gathers those that wait into
// groups that share one sync. One goroutine per Watch, ended by its context or by Close. Badger has goroutines of its own,
// which end in Close.
//
// Start reading in writer.go, then group.go; wal.go and compact.go say how Badger is kept from dying on a full disk. The bytes are
// described in docs/format/metadata.md.
package embedded
