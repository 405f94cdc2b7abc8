// Package assignor decides which member of a group of the consumer protocol (KIP-848) gets which partition.
//
// # What it owns
//
// The assignors that run in the broker: Uniform and Range, by the names that Kafka gives them. They are pure: what they
// answer depends on the Spec only, and not on the order of a map. They hold nothing and start nothing.
//
// # Invariants
//
//   - Every partition of a topic that somebody subscribes to is assigned to exactly one of the topic's subscribers.
//   - Nobody is assigned a partition of a topic that it does not subscribe to, or that does not exist.
//   - Uniform moves no more partitions than balance asks for, and no two members that could exchange a partition differ by more
//     than one.
//
// # Who calls it
//
// Package group, when the epoch of a group was raised. Where to start reading: assignor.go.
package assignor
