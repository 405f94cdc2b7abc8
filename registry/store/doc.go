// Package store keeps a catalog in a Kafka topic: it replays the topic into memory and writes to it, through Kafka's
// protocol only, so that it works with the broker in this process and with any other cluster.
//
// Reading: one goroutine, the tail, fetches the topic with read_committed from its beginning and goes on as it grows.
// What it has applied is published as an immutable catalog; [Store.Catalog] is a pointer load.
//
// Writing: all replicas of the registry are members of one consumer group; the one that is assigned the only partition
// of the topic owns it and alone writes. It writes transactions under one transactional id, so that the next owner
// fences the last one, and stamps every record with its generation, which the replay checks too. [Store.Commit] hands a
// decision to the writer's goroutine, which makes it on the newest catalog, appends what it wants changed, and answers
// when the tail has replayed that. Decisions that wait together share a transaction.
//
// Beside the catalog there is the ledger, keys and values in a topic of its own, with a tail of its own. The writer writes
// to both in one transaction, under the same generation; [Store.CommitBoth] answers when both tails have replayed it. A
// reader may see what one transaction wrote in one of them a moment before it sees it in the other.
//
// A topic that does not exist is as good as an empty one. It is made by the first write; until then the store writes
// nothing and joins no group.
//
// # Invariants
//
//   - Commit answers nil only when the changes are committed and in Catalog.
//   - A transaction is seen whole: the records of one commit become visible together.
//   - Being told to be the owner is not enough to write after being fenced: the group must say so again.
//
// # Goroutines
//
// The two tails, and the manager (election.go), which owns the writer. Both end with Close. The clients of franz-go have
// their own, which end when the clients are closed.
//
// Start reading at store.go, then tail.go, writer.go, election.go.
package store
