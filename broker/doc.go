// Package broker is a node without its doors: the verbs that clients ask for, on top of logs and metadata.
//
// # What it owns
//
// Node opens the metadata store, the logs and the partitions, registers the broker, and offers one method per verb:
// Produce, Fetch, ListOffsets, OffsetForLeaderEpoch, InitProducerID, DescribeProducers, AutoCreateTopics, the verbs of groups
// and of transactions, and the admin verbs. What a verb needs to know of the caller is in Caller. Config is what an
// operator sets.
//
// # Who calls it
//
// broker/kafka, the Kafka edge, which all doors go through; cmd/moldau starts and closes it. Errors are the sentinels of
// errors.go, and only edges give them codes.
//
// # Invariants
//
//   - Every partition that was asked for is answered, in the order of the request.
//   - Image and the partitions agree: a topic is in Image once its partitions serve, and a verb sees at least what the
//     image of the caller shows.
//   - Produce answers acks -1 only after the records are committed; see package partition.
//
// # Goroutines
//
// The metadata loader runs in one goroutine of the node and applies changes to the partitions; the partition manager and
// the storage engine have their own, see there. All end before Close returns. Verbs run in the goroutine of the caller.
//
// # Where to start reading
//
// node.go builds everything. produce.go and fetch_op.go are the data path. DESIGN.md says why the cuts are where they
// are.
package broker
