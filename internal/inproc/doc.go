// Package inproc is the connection between a part of the process and the broker in the same process: a Kafka client
// dials it instead of TCP.
//
// A Conn carries the principal of the caller. Its fields are private and only Pipe makes one, so nothing that arrives
// over a network can pass for one: the broker asks the type, not the peer.
//
// Both directions are byte queues that grow to a bound and then hold the writer back, with deadlines as in net.Conn.
// There are no goroutines here: Read and Write run in the caller's, and a Dialer's serve function runs in one goroutine
// per connection, which the Dialer's Close waits for.
//
// Start reading at conn.go, then queue.go.
package inproc
