package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what the gateway counts. Doors time their calls with Observe.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	produced prometheus.Counter
	failed   prometheus.Counter
	read     prometheus.Counter
	waiting  prometheus.Gauge
	clients  prometheus.Gauge
	inflight prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	records := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moldau_gateway_records_total",
		Help: "Records that passed the gateway, by what became of them: produced, failed, read.",
	}, []string{"outcome"})
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_gateway_requests_total",
			Help: "Calls of the gateway, by door (http, grpc), operation and gRPC status code, by name.",
		}, []string{"door", "operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "moldau_gateway_request_duration_seconds",
			Help:    "Time until a call was answered, waiting included; streams are not in it.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"door", "operation"}),
		produced: records.WithLabelValues("produced"),
		failed:   records.WithLabelValues("failed"),
		read:     records.WithLabelValues("read"),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moldau_gateway_waiting",
			Help: "Reads and streams that hold a connection to wait for records.",
		}),
		clients: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moldau_gateway_clients",
			Help: "Principals with open connections to the broker.",
		}),
		inflight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moldau_gateway_inflight_bytes",
			Help: "Memory reserved for requests in flight.",
		}),
	}
	reg.MustRegister(m.requests, m.duration, records, m.waiting, m.clients, m.inflight)
	return m
}

// Operation is one operation of one door, ready to be counted.
type Operation struct {
	requests *prometheus.CounterVec
	ok       prometheus.Counter
	duration prometheus.Observer
}

// Operation returns the counters of an operation. Doors call it once per operation, at start.
func (g *Gateway) Operation(door, name string) *Operation {
	labels := prometheus.Labels{"door": door, "operation": name}
	requests := g.metrics.requests.MustCurryWith(labels)
	return &Operation{
		requests: requests,
		ok:       requests.WithLabelValues("OK"),
		duration: g.metrics.duration.With(labels),
	}
}

// Done counts a call that began at start and ended with a gRPC code, by name.
func (o *Operation) Done(start time.Time, code string) {
	o.Streamed(code)
	o.duration.Observe(time.Since(start).Seconds())
}

// Streamed counts a stream that ended with a gRPC code, by name.
func (o *Operation) Streamed(code string) {
	if code == "OK" {
		o.ok.Inc()
		return
	}
	o.requests.WithLabelValues(code).Inc()
}
