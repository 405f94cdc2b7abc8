// Package catalog is what the registry knows: subjects with their versions, ids, configs and modes, as an immutable
// value, and the form in which a Kafka topic keeps it.
//
// A [Catalog] is made by replaying the records of the topic one after the other with [Catalog.Apply]; the result of
// Apply is a new Catalog that shares all that did not change, so that a reader may keep the one it has. Whoever wants to
// change something makes a list of [Change], which is appended to the topic and comes back through Apply. Nothing else
// changes a catalog.
//
// A [Ledger] (ledger.go) is what a second topic keeps beside it: keys and values whose meaning is not known here.
//
// The form of the records (key.go, value.go) is the one of Confluent's registry, so that a topic can be copied from one
// to the other. Compaction compares keys byte by byte, so keys come from one encoder with a fixed order of fields; keys
// that other encoders wrote are remembered with what they hold, and are removed together with it.
//
// # Invariants
//
//   - A Catalog and all it hands out is never changed after it was made. Callers must not change it either.
//   - An id stands for one text in its context. A record that says otherwise is refused by Apply.
//   - MaxID never falls, not even when the version with the highest id is removed for good and the topic is compacted:
//     such a removal comes with a record that keeps it.
//
// The package has no goroutines and does no I/O. Start reading at catalog.go, then apply.go.
package catalog
