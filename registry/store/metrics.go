package store

import (
	"github.com/prometheus/client_golang/prometheus"

	"moldau/registry/catalog"
)

// metrics are those of the store. Names follow the rest of the process: moldau_registry_*.
type metrics struct {
	subjects, owner, loaded prometheus.Gauge
	offset, ledgerOffset    prometheus.Gauge
	ledgerEntries           prometheus.Gauge
	commits                 *prometheus.CounterVec
	commitTime              prometheus.Histogram
	refused, fenced         prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "moldau_registry_" + name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "moldau_registry_" + name, Help: help})
	}
	m := &metrics{
		subjects:      gauge("subjects", "Subjects, those with only deleted versions included."),
		owner:         gauge("owner", "1 when this replica writes the registry's topic."),
		loaded:        gauge("loaded", "1 when the registry's topic was read to its end."),
		offset:        gauge("topic_offset", "Offset up to which the registry's topic has been replayed."),
		ledgerOffset:  gauge("ledger_topic_offset", "Offset up to which the topic of pushed modules has been replayed."),
		ledgerEntries: gauge("ledger_entries", "Records of the topic of pushed modules that are in force."),
		commits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_registry_commits_total", Help: "Transactions written to the registry's topic, by outcome.",
		}, []string{"outcome"}),
		commitTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moldau_registry_commit_seconds", Help: "Time from the start of a transaction until it is replayed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}),
		refused: counter("records_refused_total", "Records of the registry's topic that were left out in the replay."),
		fenced:  counter("fenced_total", "Times that another replica's transaction id epoch shut this one out."),
	}
	for _, outcome := range []string{"committed", "failed"} {
		m.commits.WithLabelValues(outcome)
	}
	if reg != nil {
		reg.MustRegister(m.subjects, m.owner, m.loaded, m.offset, m.ledgerOffset, m.ledgerEntries, m.commits, m.commitTime, m.refused, m.fenced)
	}
	return m
}

func (m *metrics) published(p *published) {
	m.subjects.Set(float64(p.catalog.Size()))
	m.offset.Set(float64(p.catalog.Offset()))
	if p.loaded {
		m.loaded.Set(1)
	}
}

func (m *metrics) publishedLedger(p *publishedOf[catalog.Ledger, *catalog.Ledger]) {
	m.ledgerEntries.Set(float64(p.catalog.Size()))
	m.ledgerOffset.Set(float64(p.catalog.Offset()))
}
