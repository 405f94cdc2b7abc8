package partition

import (
	"context"
	"time"
)

// retryInterval is the time between two attempts to open logs that could not be opened.
const retryInterval = 10 * time.Second

// every calls f in intervals until ctx ends.
func (m *Manager) every(ctx context.Context, interval time.Duration, f func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f(ctx)
		}
	}
}

// retain lets go of segments whose time or size is over.
func (m *Manager) retain(ctx context.Context) {
	m.each(ctx, func(p *Partition) {
		n, err := p.log.Retain(m.o.Now())
		if err != nil {
			m.o.Logger.Error("old segments cannot be removed", "topic", p.topic.Name, "partition", p.index, "err", err)
		}
		if n > 0 {
			p.noteStart()
		}
	})
}

// expireProducers forgets idempotent producers that have been idle for long.
func (m *Manager) expireProducers(ctx context.Context) {
	m.each(ctx, func(p *Partition) { p.log.ExpireProducers(m.o.Now(), m.o.ProducerExpiration) })
}

// each calls f for every replica whose log works, until ctx ends.
func (m *Manager) each(ctx context.Context, f func(*Partition)) {
	for t := range m.Topics() {
		for _, p := range t.Partitions() {
			if ctx.Err() != nil {
				return
			}
			if p != nil && p.log != nil && p.log.Err() == nil {
				f(p)
			}
		}
	}
}

// retryFailed opens the replicas again whose log could not be opened.
func (m *Manager) retryFailed(context.Context) {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if m.failed == 0 {
		return
	}
	m.failed = 0
	for t := range m.Topics() {
		mt, ok := m.image.TopicByID(t.ID)
		if !ok {
			continue
		}
		parts := make([]*Partition, len(mt.Partitions))
		for i, p := range t.Partitions() {
			if p != nil && p.log != nil {
				parts[i] = p
			}
		}
		m.fill(t, parts, mt.Partitions)
		t.parts.Store(&parts)
	}
}
