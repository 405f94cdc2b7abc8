// Package metadata holds what the brokers of a cluster must agree on: topics, partitions, registered brokers, dynamic
// configuration, blocks of producer ids.
//
// It has three parts. Store is the contract for a small ordered map with revisions and compare-and-swap transactions, with
// engines in embedded (one node, Badger) and later ones for clusters; metadatatest is the suite that every engine must
// pass. The keys and records (keys.go, records.go) are what is kept in a store. Image is an immutable snapshot of all of it
// that the rest of the broker reads, and Loader keeps the newest one.
//
// The controller decides and writes; brokers read images and act on the differences between two of them (Delta). There
// are no calls between them: what counts is what stands in the store.
//
// Invariants: an image shows a topic with all of its partitions or not at all; images follow each other in the order of
// revisions; nothing reachable from an image is ever written to.
//
// Goroutines: Loader.Run is started by the node and ends with its context; it calls the subscribers.
//
// Start reading in store.go, then image.go, builder.go and loader.go.
package metadata
