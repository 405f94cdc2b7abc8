package telemetry

import (
	"fmt"
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

// MetricsConfig is what an operator sets for the metrics.
type MetricsConfig struct {
	MaxSeries int `kafka:"metrics.max.series" doc:"The number of series that one answer of /metrics or /metrics/lag holds at most. The largest families, those with a series for each partition or group, are cut first; moldau_metrics_series_dropped says by how much."`
}

// DefaultMetricsConfig returns enough series for 10,000 partitions and as many
// groups.
func DefaultMetricsConfig() MetricsConfig { return MetricsConfig{MaxSeries: 200_000} }

// Validate refuses what makes no sense.
func (c MetricsConfig) Validate() error {
	if c.MaxSeries < 1 {
		return fmt.Errorf("metrics.max.series is %d, it must be at least 1", c.MaxSeries)
	}
	return nil
}

// MetricsHandler serves the registry in the Prometheus text format. A
// collector that fails costs its own series only, and is logged.
func MetricsHandler(r prometheus.Gatherer, c MetricsConfig, logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(capped{r, c.MaxSeries}, promhttp.HandlerOpts{
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
