package validation

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of validation: moldau_validation_*.
type metrics struct {
	checked, failed, coerced *prometheus.CounterVec
	cost                     *prometheus.HistogramVec

	mu     sync.RWMutex
	topics map[string]struct{} // those that have series of their own
}

// maxTopics bounds how many topics have series of their own; the others share those of otherTopics, which is no topic's name.
const (
	maxTopics   = 1000
	otherTopics = "(others)"
)

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		topics: map[string]struct{}{},
		checked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_validation_checked_total", Help: "Keys and values that were held against a schema, by topic and level.",
		}, []string{"topic", "level"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_validation_failed_total", Help: "Keys and values that did not conform, by topic, level and reason.",
		}, []string{"topic", "level", "reason"}),
		coerced: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_validation_coerced_total", Help: "Records that conform and of which the key or the value is given an envelope, by topic.",
		}, []string{"topic"}),
		cost: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "moldau_validation_seconds", Help: "Time to validate one batch, with waiting for schemas, by topic.",
			Buckets: []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, .1, 1},
		}, []string{"topic"}),
	}
	if reg != nil {
		reg.MustRegister(m.checked, m.failed, m.coerced, m.cost)
	}
	return m
}

// label is the value of the label topic for a topic.
func (m *metrics) label(topic string) string {
	m.mu.RLock()
	_, own := m.topics[topic]
	m.mu.RUnlock()
	if own {
		return topic
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, own = m.topics[topic]; !own && len(m.topics) >= maxTopics {
		return otherTopics
	}
	m.topics[topic] = struct{}{}
	return topic
}
