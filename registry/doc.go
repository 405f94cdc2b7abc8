// Package registry holds the verbs of the schema registry: register, look up, compare, delete, configure. It behaves as
// Confluent's registry does, and keeps its state in the same form in a Kafka topic, so that it runs in front of any
// Kafka cluster and takes over a topic of theirs.
//
// Package http is the door in front of it, and package bufpush the one for modules of Protobuf files, which writes schemas
// together with entries of a ledger through a [Draft]. Behind it are package store, which keeps a package catalog's value in
// the topic, and the packages below format, which know the schema languages.
//
// Reads are answered from the catalog in memory. A write is a decision, a function from a catalog to a list of changes
// (the methods named decide…), which the store runs on the replica that owns the topic. On any other replica a write
// fails with an [ElsewhereError] that names the owner; the door forwards the request there.
//
// # Invariants
//
//   - A decision changes nothing itself and may be made several times on different catalogs; the last one counts.
//   - Whoever calls is asked for at one place, [Authorizer], by every verb.
//   - Whatever a schema is, parsing and comparing it is bounded in time and memory, and in how much of it happens at once.
//
// The package starts no goroutine of its own; the store's end with Close.
//
// Start reading at registry.go, then register.go.
package registry
