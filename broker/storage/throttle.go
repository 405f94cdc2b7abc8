package storage

import (
	"context"
	"math"
	"sync"
	"time"
)

// throttle holds bytes per second down to a rate, for several goroutines together. Who takes more than is there waits until the debt
// is paid, so that a large piece passes too.
type throttle struct {
	mu   sync.Mutex // memory only
	rate float64    // bytes per second
	free float64    // bytes that may pass at once; negative: owed
	at   time.Time  // when free was right
}

// throttleBurst is for how long unused bytes are saved.
const throttleBurst = 300 * time.Millisecond

// newThrottle makes a throttle; a rate that is not positive, or infinite, lets everything pass.
func newThrottle(rate float64) *throttle { return &throttle{rate: rate} }

// owe notes that n bytes pass at a time and returns how long to wait for them.
func (t *throttle) owe(n int, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rate <= 0 || t.rate >= math.MaxFloat64 {
		return 0
	}
	most := t.rate * throttleBurst.Seconds()
	if t.at.IsZero() {
		t.free = most
	} else if d := now.Sub(t.at); d > 0 {
		t.free = min(most, t.free+t.rate*d.Seconds())
	}
	t.at = now
	t.free -= float64(n)
	if t.free >= 0 {
		return 0
	}
	return time.Duration(min(-t.free/t.rate*float64(time.Second), float64(time.Hour)))
}

// take passes n bytes, waiting as long as the rate demands or until ctx ends.
func (t *throttle) take(ctx context.Context, n int) error {
	wait := t.owe(n, time.Now())
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
