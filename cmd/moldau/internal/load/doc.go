// Package load drives producers and consumers at a rate and measures them.
//
// The load is an open loop: record n is due at start + n/rate whatever became
// of the ones before, and its latency counts from when it was due. A server
// that stalls is charged for everything that should have been sent meanwhile.
// Without a rate the next record is due when it can be handed over.
//
// Latencies go into a Histogram: a fixed table with steps of less than 1 %, so
// that a long run costs no more memory than a short one.
package load
