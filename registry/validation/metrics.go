package validation

import "github.com/prometheus/client_golang/prometheus"

// metrics are those of validation: moldau_validation_*.
type metrics struct {
	checked, failed *prometheus.CounterVec
	cost            *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		checked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_validation_checked_total", Help: "Keys and values that were held against a schema, by topic and level.",
		}, []string{"topic", "level"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_validation_failed_total", Help: "Keys and values that did not conform, by topic, level and reason.",
		}, []string{"topic", "level", "reason"}),
		cost: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "moldau_validation_seconds", Help: "Time to validate one batch, with waiting for schemas, by topic.",
			Buckets: []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, .1, 1},
		}, []string{"topic"}),
	}
	if reg != nil {
		reg.MustRegister(m.checked, m.failed, m.cost)
	}
	return m
}
