// Package group is the pure core of the group coordinator: classic groups, groups of the consumer protocol (KIP-848), and the
// offsets that consumers commit. No locks, no I/O, no clock: scripts in testdata drive it.
//
// # What it owns
//
// A Shard holds the groups of one partition of __consumer_offsets. Of each group it holds
//
//   - what records say: members with their assignments as of the last stable generation, committed offsets, offsets of
//     transactions that are under way. Only Replay changes these.
//   - what need not outlive a restart: who waits in JoinGroup or SyncGroup, when sessions and rebalances end, members of a
//     generation that is not stable yet. Operations change these as they decide. When the partition moves, waiting members
//     are told so and join again.
//
// A group has one of two protocols. In a classic group members join, one of them assigns, and nobody works until all have their
// assignment. In a group of the consumer protocol the coordinator assigns: each heartbeat that changes what there is to assign
// raises the group's epoch and gives every member a target, and each member moves to its target with its own heartbeats. It is
// first told what to give up; what others have not given up yet it gets later. Such a group's state is durable, all of it but
// the sessions: the records are the state, and operations decide only which records to append.
//
// # Who calls it
//
// Package coordinator runs operations and Replay; the verbs of package broker call the operations: Join, Sync, Heartbeat,
// Leave, ConsumerHeartbeat, CommitOffsets, CommitTxnOffsets, FetchOffsets, DeleteOffsets, Delete, Describe, List.
//
// # States of a group
//
//	Empty ──join──▶ PreparingRebalance ──all joined, or time over──▶ CompletingRebalance ──leader's sync──▶ Stable
//	                     ▲     │ nobody left                                │ a member joins, leaves, expires  │
//	                     │     ▼                                            │                                  │
//	                     │   Empty                                          │                                  │
//	                     └──────────────────────────────────────────────────┴──────────────────────────────────┘
//
// # Invariants
//
//   - A group in CompletingRebalance or Stable has members; all of them support its protocol; its leader is one of them.
//   - In Stable the members are those of the group's last record.
//   - An instance id belongs to one member; a member that it belonged to before is fenced.
//   - A partition belongs to one member of a group of the consumer protocol at most, and to none but the next in its target when
//     it is given up. A member's epoch is not above its group's.
//   - Whoever waits is answered once: by the end of the rebalance, by expiry, by removal, or by Stop.
//
// # From one protocol to the other
//
// An empty group takes any protocol. A member of the consumer protocol turns a group with classic members into one of its own
// (upgrade.go); these stay, join and sync as they know it (consumer_classic.go), until they are replaced. When the last member of
// the consumer protocol leaves, the group is a classic one again (downgrade.go). group.consumer.migration.policy says what of it
// is permitted.
//
// # Formats
//
// Keys and values are Apache Kafka's, as its GroupMetadataManager and OffsetMetadataManager write them, so that its tools
// read ours and a copied topic works here.
//
// # Where to start reading
//
// Of the consumer protocol: consumer.go has the state, consumer_heartbeat.go the operation, consumer_update.go how epochs are
// raised and targets made, reconcile.go how a member moves, consumer_records.go the formats; package assignor assigns. Of classic
// groups: group.go has the state, join.go and rebalance.go the life of a rebalance, records.go the formats. Of both: offsets.go the
// offsets, replay.go how records become state.
package group
