package http

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	forwarded prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_registry_requests_total", Help: "Requests to the registry, by path, method and HTTP status.",
		}, []string{"path", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "moldau_registry_request_duration_seconds", Help: "Time until a request to the registry was answered.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"path"}),
		forwarded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moldau_registry_forwarded_total", Help: "Requests that were passed on to the replica that writes.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.duration, m.forwarded)
	}
	return m
}

// methods are those that get a label of their own.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true}

func (m *metrics) served(path, method string, status int, d time.Duration) {
	if !methods[method] {
		method = "other"
	}
	m.requests.WithLabelValues(path, method, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(path).Observe(d.Seconds())
}
