// Package gateway lets programs produce, read and administer without a Kafka client. It is itself a Kafka client: it
// reaches the broker by Kafka's protocol, through an in-memory connection or TCP, and works the same in front of any
// other Kafka cluster.
//
// The verbs are Produce (produce.go, batch.go), Read (read.go), Open for a Reader (reader.go, fetcher.go, position.go,
// cursor.go) and the administration of topics (admin.go). Two doors stand on them: the gRPC services (grpc.go and the
// files whose names begin so) and the HTTP handlers of package rest. clients.go is the pool of Kafka clients; package
// producer, on each of them, is what Produce writes with.
// schema.go encodes and decoding.go decodes keys and values by schemas of a registry, through package serde.
// failure.go holds the one table from Kafka errors to gRPC codes and HTTP statuses. Start reading at gateway.go.
//
// # Invariants
//
//   - Every call acts for one principal, and what it sends to the broker goes through a client of that principal only.
//   - A record is acknowledged by all in-sync replicas before its result is told. Neither the context nor a bad record of
//     one call fails the records of another, although both may travel in one batch.
//   - A record that does not fit its schema fails alone; what can't be decoded comes back as bytes, with the reason. What
//     names no schema never waits for a registry.
//   - No state outlives a call: a read ends with a cursor that any gateway of the cluster takes.
//   - Memory is bounded: requests in flight by a budget, reads by the bytes of one fetch and of what is decoded of it,
//     waiting reads and streams by number, clients by number.
//
// # Goroutines
//
// The pool of clients has one that closes idle ones; it ends with Close. Those of the producers end with their clients. A reader has one for each leader it waits for;
// they end with its Close. gRPC handlers run in those of the server; ProduceStream has one more for each call, which ends
// with the call. A produce call that was given up leaves one that ends when its last record has an outcome.
package gateway
