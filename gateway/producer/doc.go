// Package producer writes records to a Kafka cluster and tells for each what became of it. It is what the gateway and the command
// `topic produce` write with.
//
// The producers of Kafka clients know one outcome for a batch: when the broker refuses it because of one record, all records of the batch
// fail, whoever handed them over, and none learns more than the name of the error. This one reads which records the broker names and why
// (KIP-467), fails those, and writes the others. What a broker refuses without naming a record is cut in halves until the record is found.
//
// Requests, connections and authentication are those of a kgo.Client. Ours are the queues: producer.go takes calls and puts their records
// into one queue for each partition (queue.go, batch.go); sender.go has the queues of each broker sent; verdict.go reads an answer, and
// conclude.go does what follows from it (refusal.go where a record is at fault); recovery.go waits for partitions that have trouble. Start
// reading at producer.go.
//
// # Invariants
//
//   - Each record of a call gets exactly one outcome, and Done of the call follows the last one. After that nothing here touches the call.
//   - The records of a partition are written in the order in which they were handed over; one that is refused is left out. Batches leave in
//     order on one connection. Once one has not got through, nothing more is sent until those behind it are answered; what is left of
//     them goes before what waits.
//   - With acks=all batches carry a producer id and sequence numbers (KIP-98). A batch that may have been written is sent again under the same
//     numbers only, so nothing is written twice. When it can't be known in time what became of it, its records fail with ErrUnacknowledged, and
//     the partition goes on under another producer id. Without acks=all such a batch is not sent again.
//   - A refused batch has taken no sequence number: what is sent instead begins at the same one. So several batches may be under way, as in
//     other clients, but only while the broker follows the numbers; those behind a refused one are refused for theirs.
//   - How often a batch may be cut is bounded, and every record has its outcome soon after it is due.
//
// # Goroutines
//
// A broker has up to maxInFlight senders while there is something to send; a topic has one while a partition of it has trouble. A timer looks at what
// lingers. Close ends all of them and waits. The mutex of the producer guards all queues; it is never held across I/O or a call of Done.
package producer
