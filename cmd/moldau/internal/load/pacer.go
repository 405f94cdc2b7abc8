package load

import (
	"context"
	"time"
)

// Pacer says when each record of an open loop is due.
type Pacer struct {
	start time.Time
	every time.Duration // 0: at once
	n     int64
}

// NewPacer returns a pacer for rate records a second from start on; a rate of
// 0 or less has no limit.
func NewPacer(start time.Time, rate float64) *Pacer {
	p := &Pacer{start: start}
	if rate > 0 {
		p.every = time.Duration(float64(time.Second) / rate)
	}
	return p
}

// spin is the shortest wait for which sleeping is worth it: timers are late by
// about as much.
const spin = 100 * time.Microsecond

// Next waits until the next record is due, and returns when that was. It does
// not wait for a record that is late. It fails with the context only.
func (p *Pacer) Next(ctx context.Context) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	if p.every == 0 {
		return time.Now(), nil
	}
	due := p.start.Add(time.Duration(p.n) * p.every)
	p.n++
	if wait := time.Until(due); wait > spin {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
	return due, nil
}
