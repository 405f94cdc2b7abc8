package bufpush

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of the door. Names follow the rest of the process.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_registry_buf_requests_total", Help: "Calls of buf's protocol, by procedure and HTTP status.",
		}, []string{"procedure", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "moldau_registry_buf_request_seconds", Help: "Time a call of buf's protocol took, by procedure.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 30},
		}, []string{"procedure"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.duration)
	}
	return m
}

func (m *metrics) served(procedure string, status int, took time.Duration) {
	m.requests.WithLabelValues(procedure, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(procedure).Observe(took.Seconds())
}
