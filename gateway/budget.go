package gateway

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// recordCost is what a record costs in memory beside its bytes while it is under way: the record itself, its place in
// the client's batch and its result.
const recordCost = 512

// budget bounds the memory of requests in flight.
type budget struct {
	limit int64
	inUse atomic.Int64
	used  prometheus.Gauge
}

// acquire takes n bytes, or fails with ErrOverloaded at once.
func (b *budget) acquire(n int64) error {
	if now := b.inUse.Add(n); now > b.limit {
		b.inUse.Add(-n)
		return ErrOverloaded
	}
	b.used.Add(float64(n))
	return nil
}

func (b *budget) release(n int64) {
	b.inUse.Add(-n)
	b.used.Sub(float64(n))
}

// Reserve takes n bytes of the memory for requests in flight, or fails with ErrOverloaded. A door reserves before it
// reads a body, and gives the same number back with Unreserve when the request is answered.
func (g *Gateway) Reserve(n int64) error { return g.budget.acquire(n) }

// Unreserve gives back what Reserve took.
func (g *Gateway) Unreserve(n int64) { g.budget.release(n) }
