package registry

import "github.com/prometheus/client_golang/prometheus"

// metrics are those of the verbs. The store has its own.
type metrics struct {
	parses   *prometheus.CounterVec
	checks   *prometheus.CounterVec
	verdicts map[bool]string
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		parses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_registry_parses_total", Help: "Schemas parsed, by language and outcome. Those found in the cache don't count.",
		}, []string{"type", "outcome"}),
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_registry_compatibility_checks_total", Help: "Checks of compatibility, by outcome.",
		}, []string{"outcome"}),
		verdicts: map[bool]string{true: "compatible", false: "incompatible"},
	}
	for _, v := range m.verdicts {
		m.checks.WithLabelValues(v)
	}
	if reg != nil {
		reg.MustRegister(m.parses, m.checks)
	}
	return m
}

func (m *metrics) parsed(kind string, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "refused"
	}
	m.parses.WithLabelValues(kind, outcome).Inc()
}

func (m *metrics) checked(compatible bool) {
	m.checks.WithLabelValues(m.verdicts[compatible]).Inc()
}
