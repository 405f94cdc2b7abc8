package telemetry

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// capped gathers at most max series, and one that says how many it left out.
type capped struct {
	prometheus.Gatherer
	max int
}

// Gather implements prometheus.Gatherer. Every family keeps as many series as
// the others, or all it has.
func (c capped) Gather() ([]*dto.MetricFamily, error) {
	families, err := c.Gatherer.Gather()
	sizes, total := make([]int, 0, len(families)), 0
	for _, f := range families {
		sizes = append(sizes, len(f.GetMetric()))
		total += len(f.GetMetric())
	}
	dropped := 0
	if total > c.max {
		each := fairShare(sizes, c.max)
		for _, f := range families {
			n := min(each, len(f.GetMetric()))
			dropped += len(f.GetMetric()) - n
			f.Metric = f.GetMetric()[:n]
		}
		families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.GetMetric()) == 0 })
	}
	return append(families, droppedFamily(dropped)), err
}

// fairShare returns the most that each family may keep for all of them
// together to stay within limit.
func fairShare(sizes []int, limit int) int {
	slices.Sort(sizes)
	for i, size := range sizes {
		if share := limit / (len(sizes) - i); size > share {
			return share
		}
		limit -= size
	}
	return limit
}

func droppedFamily(n int) *dto.MetricFamily {
	name, help, kind := "moldau_metrics_series_dropped", "Series that this answer leaves out because of metrics.max.series.", dto.MetricType_GAUGE
	value := float64(n)
	return &dto.MetricFamily{Name: &name, Help: &help, Type: &kind, Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &value}}}}
}
