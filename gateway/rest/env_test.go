package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/gateway"
)

// env is a gateway in front of a fake cluster, behind an HTTP server.
type env struct {
	t       *testing.T
	cluster *kfake.Cluster
	gw      *gateway.Gateway
	url     string
	client  *http.Client
}

func newEnv(t *testing.T, change func(*gateway.Config), opts ...kfake.Opt) *env {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	cfg := gateway.DefaultConfig()
	cfg.BootstrapServers = cluster.ListenAddrs()
	cfg.DeliveryTimeout = 10 * time.Second
	if change != nil {
		change(&cfg)
	}
	gw, err := gateway.New(cfg, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(newHandler(gw, 50*time.Millisecond, 2*time.Second))
	e := &env{t: t, cluster: cluster, gw: gw, url: srv.URL, client: srv.Client()}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := gw.Close(ctx); err != nil {
			t.Error(err)
		}
		srv.Close()
		cluster.Close()
	})
	return e
}

// do sends a request with header pairs and returns status, header and body.
func (e *env) do(method, path, body string, header ...string) (int, http.Header, string) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.url+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := e.client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(out)
}

// want sends a request and demands a status.
func (e *env) want(status int, method, path, body string, header ...string) string {
	e.t.Helper()
	got, _, out := e.do(method, path, body, header...)
	if got != status {
		e.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got, status, out)
	}
	return out
}

// decode reads JSON without losing digits.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

type answer struct {
	Results []result `json:"results"`
	Records []record `json:"records"`
	Cursor  string   `json:"cursor"`
	Error   *failure `json:"error"`
}

type result struct {
	Partition int      `json:"partition"`
	Offset    string   `json:"offset"`
	Timestamp string   `json:"timestamp"`
	Error     *failure `json:"error"`
}

type failure struct {
	Code      int               `json:"code"`
	Status    string            `json:"status"`
	Reason    string            `json:"reason"`
	Message   string            `json:"message"`
	Retriable bool              `json:"retriable"`
	KafkaCode int               `json:"kafka_code"`
	Field     string            `json:"field"`
	Record    *int              `json:"record"`
	Details   map[string]string `json:"details"`
}

type record struct {
	Partition   int             `json:"partition"`
	Offset      string          `json:"offset"`
	Timestamp   string          `json:"timestamp"`
	Key         *string         `json:"key"`
	KeyBase64   *string         `json:"key_base64"`
	Value       json.RawMessage `json:"value"`
	ValueBase64 *string         `json:"value_base64"`
	ValueFormat string          `json:"value_format"`
	Headers     []struct {
		Key         string  `json:"key"`
		Value       *string `json:"value"`
		ValueBase64 *string `json:"value_base64"`
	} `json:"headers"`
}
