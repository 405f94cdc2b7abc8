package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestReady(t *testing.T) {
	var h Health
	get := func(url string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeReady(w, httptest.NewRequest("GET", url, nil))
		return w.Code, w.Body.String()
	}
	var broken error
	h.Set("broker", func(context.Context) error { return errors.New("not started") })
	h.Set("broker", func(context.Context) error { return nil })
	h.Set("kafka", func(context.Context) error { return broken })
	for _, tt := range []struct {
		url    string
		broken error
		code   int
		body   string
	}{
		{"/readyz", nil, 200, "ready\n"},
		{"/readyz?verbose", nil, 200, "[+] broker\n[+] kafka\nready\n"},
		{"/readyz", errors.New("line\nbreak"), 503, "[+] broker\n[-] kafka: line break\nnot ready\n"},
	} {
		broken = tt.broken
		if code, body := get(tt.url); code != tt.code || body != tt.body {
			t.Errorf("%s with %v: %d %q, want %d %q", tt.url, tt.broken, code, body, tt.code, tt.body)
		}
	}
	w := httptest.NewRecorder()
	h.ServeLive(w, httptest.NewRequest("GET", "/livez", nil))
	if w.Code != 200 {
		t.Errorf("/livez: %d", w.Code)
	}
}

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	log, level, err := NewLogger(&b, LogConfig{Level: "WARN", Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("hidden")
	if err := SetLevel(level, "info"); err != nil {
		t.Fatal(err)
	}
	log.Info("shown", "topic", "t")
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatalf("want one JSON line: %v in %q", err, b.String())
	}
	if line["msg"] != "shown" || line["topic"] != "t" {
		t.Errorf("line is %v", line)
	}
	for _, c := range []LogConfig{{Level: "loud", Format: "text"}, {Level: "info", Format: "xml"}} {
		if _, _, err := NewLogger(&b, c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestMetricsSurviveABrokenCollector: one room's mistake must not blind the
// operator.
func TestMetricsSurviveABrokenCollector(t *testing.T) {
	r := NewRegistry("v1")
	r.MustRegister(broken{})
	var b bytes.Buffer
	w := httptest.NewRecorder()
	MetricsHandler(r, DefaultMetricsConfig(), slog.New(slog.NewTextHandler(&b, nil))).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body := w.Body.String()
	if w.Code != 200 || !strings.Contains(body, `moldau_build_info{version="v1"} 1`) || !strings.Contains(body, "go_goroutines") {
		t.Errorf("%d %s", w.Code, body)
	}
	if !strings.Contains(b.String(), "on purpose") {
		t.Errorf("the log does not name the cause: %s", b.String())
	}
}

type broken struct{}

func (broken) Describe(chan<- *prometheus.Desc) {}

func (broken) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(prometheus.NewDesc("broken", "", nil, nil), errors.New("on purpose"))
}

// TestSeriesAreCapped: what grows with partitions and groups is cut, all else stays, and the answer says how much is missing.
func TestSeriesAreCapped(t *testing.T) {
	r := prometheus.NewRegistry()
	for name, n := range map[string]int{"many": 100, "some": 40, "few": 3} {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: "h"}, []string{"i"})
		for i := range n {
			v.WithLabelValues(strconv.Itoa(i)).Set(1)
		}
		r.MustRegister(v)
	}
	for _, tt := range []struct {
		limit int
		want  string
	}{
		{1000, "few 3 many 100 some 40 moldau_metrics_series_dropped 0"},
		{143, "few 3 many 100 some 40 moldau_metrics_series_dropped 0"},
		{142, "few 3 many 99 some 40 moldau_metrics_series_dropped 1"},
		{53, "few 3 many 25 some 25 moldau_metrics_series_dropped 90"},
		{3, "few 1 many 1 some 1 moldau_metrics_series_dropped 140"},
		{2, "moldau_metrics_series_dropped 143"},
	} {
		families, err := capped{r, tt.limit}.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range families {
			n := len(f.GetMetric())
			if f.GetName() == "moldau_metrics_series_dropped" {
				n = int(f.GetMetric()[0].GetGauge().GetValue())
			}
			got = append(got, f.GetName(), strconv.Itoa(n))
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("limit %d: %s, want %s", tt.limit, g, tt.want)
		}
	}
	if (MetricsConfig{}).Validate() == nil || DefaultMetricsConfig().Validate() != nil {
		t.Error("validation is wrong")
	}
}
