// Package group is the pure core of the group coordinator: classic groups, and the offsets that consumers commit. No
// locks, no I/O, no clock: scripts in testdata drive it.
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
// # Who calls it
//
// Package coordinator runs operations and Replay; the verbs of package broker call the operations: Join, Sync, Heartbeat,
// Leave, CommitOffsets, CommitTxnOffsets, FetchOffsets, DeleteOffsets, Delete, Describe, List.
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
//   - Whoever waits is answered once: by the end of the rebalance, by expiry, by removal, or by Stop.
//
// # Formats
//
// Keys and values are Apache Kafka's, as its GroupMetadataManager and OffsetMetadataManager write them, so that its tools
// read ours and a copied topic works here.
//
// # Where to start reading
//
// group.go has the state, join.go and rebalance.go the life of a rebalance, offsets.go the offsets, records.go the formats,
// replay.go how records become state.
package group
