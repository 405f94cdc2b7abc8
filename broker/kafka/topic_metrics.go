package kafka

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// topicMetrics are the numbers of one topic. They are found once per topic of a request and counted without labels.
type topicMetrics struct {
	name string // a copy of its own: it outlives the frame that named the topic

	messagesIn, bytesIn, bytesOut, bytesRejected atomic.Uint64
	produceRequests, failedProduce               atomic.Uint64
	fetchRequests, failedFetch                   atomic.Uint64
	batches                                      atomic.Uint64

	// For records per batch over the last window, written by rotate only.
	lastMessages, lastBatches atomic.Uint64
	perBatch                  atomic.Uint64 // thousandths
}

// topicMetricsTable finds the numbers of a topic.
type topicMetricsTable struct {
	mu      sync.RWMutex
	byName  map[string]*topicMetrics
	retired topicMetrics // sums of the topics that are gone, so that sums over all topics never fall
}

// get returns the numbers of a topic, nil if there are none yet.
func (t *topicMetricsTable) get(name string) *topicMetrics {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

// make returns the numbers of a topic that is known to exist. Names that no topic has must not come here, or peers could
// fill the memory with them.
func (t *topicMetricsTable) make(name string) *topicMetrics {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.byName[name]; m != nil {
		return m
	}
	if t.byName == nil {
		t.byName = make(map[string]*topicMetrics)
	}
	m := &topicMetrics{name: strings.Clone(name)}
	t.byName[m.name] = m
	return m
}

// retain forgets the topics that are gone.
func (t *topicMetricsTable) retain(exists func(name string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.byName, func(name string, m *topicMetrics) bool {
		if exists(name) {
			return false
		}
		t.retired.absorb(m)
		return true
	})
}

// absorb adds the counters of another topic.
func (m *topicMetrics) absorb(o *topicMetrics) {
	m.messagesIn.Add(o.messagesIn.Load())
	m.bytesIn.Add(o.bytesIn.Load())
	m.bytesOut.Add(o.bytesOut.Load())
	m.bytesRejected.Add(o.bytesRejected.Load())
	m.produceRequests.Add(o.produceRequests.Load())
	m.failedProduce.Add(o.failedProduce.Load())
	m.fetchRequests.Add(o.fetchRequests.Load())
	m.failedFetch.Add(o.failedFetch.Load())
}

// gone reads a counter of all topics that are gone together.
func (t *topicMetricsTable) gone(read func(*topicMetrics) uint64) uint64 { return read(&t.retired) }

// all returns the numbers of all topics, in no order.
func (t *topicMetricsTable) all() []*topicMetrics {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.byName))
}

// rotate works out the records per batch of the window that ends.
func (t *topicMetricsTable) rotate() {
	for _, m := range t.all() {
		messages, batches := m.messagesIn.Load(), m.batches.Load()
		if n := batches - m.lastBatches.Load(); n > 0 {
			m.perBatch.Store((messages - m.lastMessages.Load()) * 1000 / n)
		}
		m.lastMessages.Store(messages)
		m.lastBatches.Store(batches)
	}
}
