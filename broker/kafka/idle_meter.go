package kafka

import (
	"math"
	"sync"
	"time"
)

// idleMeter follows which share of the time something is idle, as an average over about a minute.
type idleMeter struct {
	mu       sync.Mutex
	average  float64
	lastTime time.Duration
	lastBusy time.Duration
}

func newIdleMeter() idleMeter { return idleMeter{average: 1} }

// tick takes the total busy time of all workers until now.
func (m *idleMeter) tick(now, busy time.Duration, workers int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	passed := now - m.lastTime
	if passed <= 0 {
		return
	}
	idle := 1 - float64(busy-m.lastBusy)/float64(passed)/float64(workers)
	weight := 1 - math.Exp(-passed.Minutes())
	m.average += weight * (min(max(idle, 0), 1) - m.average)
	m.lastTime, m.lastBusy = now, busy
}

// value is the idle share, 0 to 1.
func (m *idleMeter) value() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.average
}
