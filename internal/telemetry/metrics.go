package telemetry

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a registry that already holds the metrics of the Go
// runtime and of the process, and moldau_build_info.
func NewRegistry(version string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "moldau_build_info",
		Help:        "Always 1; the label says which version runs.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// MetricsHandler serves the registry in the Prometheus text format. A
// collector that fails costs its own series only, and is logged.
func MetricsHandler(r *prometheus.Registry, logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog:            gatherErrors{logger},
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
	})
}

// gatherErrors is the logger promhttp wants.
type gatherErrors struct{ logger *slog.Logger }

// Println logs one line.
func (g gatherErrors) Println(v ...any) {
	g.logger.Warn("metrics could not be gathered", "err", v)
}
