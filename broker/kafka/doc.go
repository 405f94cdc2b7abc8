// Package kafka is the wire: the only door of the broker. It accepts connections, cuts them into frames, executes
// requests in the order they came, and writes the answers in the same order. Wire structs stop here; what goes deeper
// are the verbs of package broker and the raw bytes of record batches.
//
// # Where to start reading
//
// apis.go holds the one table of what we speak. Dispatch, the ApiVersions answer, the labels of metrics and
// docs/protocol/apis.md are made from it. Each API lives in a file NN_name.go, NN being its key. server.go accepts and
// owns the limits that all connections share; conn.go is the life of one connection; frame.go reads frames; sender.go
// writes answers; errors.go is the only place that knows Kafka's error codes.
//
// # Adding an API
//
// Write a file NN_name.go with a method
//
//	func (c *conn) createTopics(ctx context.Context, r *request, q *kmsg.CreateTopicsRequest) reply {
//		resp := q.ResponseKind().(*kmsg.CreateTopicsResponse) // has the version already
//		...                                                  // call a verb of c.node with r.caller
//		return answer(resp)
//	}
//
// and a row in apis.go, then run go generate. Nested structs come from kmsg.NewX(), which sets Kafka's defaults (-1 epochs
// and so on). Every item that was asked for appears in the answer. The strings and slices of q belong to the handler,
// except for APIs with a decoder of their own; r is good until the handler returns. Error codes come from code(err) only;
// errorMessage(err) gives the text that goes with it.
//
// A handler runs on the connection's own goroutine and holds one of the num.io.threads slots of its plane. Requests of
// the data plane must not wait for anything but the disk: they return a reply that is not ready yet and waits later,
// in the goroutine that sends. Requests of the control plane have slots of their own, so they may block in a verb for as
// long as the verb takes; ctx ends with the connection. Work that must be seen by the next request of the same
// connection is done before the handler returns, never in a reply's wait.
//
// # Invariants
//
//   - Requests of a connection execute in the order they came, and their answers leave in that order; a reply that waits
//     holds later ones back. Only Produce is executed ahead of such a reply; other requests wait their turn, so that
//     no more than one large answer per connection exists.
//   - Nothing is allocated from a length that a peer declared: buffers grow as bytes arrive, arrays are bounded by the
//     bytes that are left, and all frames together by a budget.
//   - A reply is released exactly once, sent or not. Until then it may hold pins on log segments.
//   - The bytes of a frame are alive until its handler has returned, no longer.
//
// # Goroutines
//
// Server.Serve accepts in the caller's goroutine. Each connection has one goroutine that reads, executes and, while
// nothing waits, writes. A second one exists only while an answer waits: it sends the queue and ends with it. One reaper
// per server closes idle and stuck connections; it ends with Close.
package kafka
