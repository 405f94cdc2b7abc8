package node

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"moldau/internal/slowpeer"
	"moldau/internal/telemetry"
)

// slowPeerPatience is how long a peer may take to accept a piece of an answer over HTTP.
const slowPeerPatience = 30 * time.Second

// door is the HTTP handler of the API. Until the gateway has started it answers
// 503.
type door struct {
	api atomic.Pointer[http.Handler]
	srv *http.Server // nil when http.listen=off
}

// open puts the API behind the door.
func (d *door) open(h http.Handler) { d.api.Store(&h) }

// ServeHTTP passes a request on to the API.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := d.api.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(`{"code":14,"reason":"NOT_READY","message":"the gateway has not started yet; see /readyz?verbose"}` + "\n"))
}

// drain stops accepting and waits for the calls under way, or until ctx ends.
// It may be called again.
func (d *door) drain(ctx context.Context) error {
	if d.srv == nil {
		return nil
	}
	if err := d.srv.Shutdown(ctx); err != nil {
		return errors.Join(err, d.srv.Close())
	}
	return nil
}

// serveHTTP opens the HTTP door with health and metrics, and returns the place
// for the API. With http.listen=off nothing leads to that place.
func (p *process) serveHTTP() *door {
	api := new(door)
	sockets := p.door("http")
	if len(sockets) == 0 {
		return api
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", p.health.ServeLive)
	mux.HandleFunc("GET /readyz", p.health.ServeReady)
	log := p.log.With("component", "metrics")
	mux.Handle("GET /metrics", telemetry.MetricsHandler(p.registry, p.settings.metrics, log))
	if p.has(roleBroker) {
		mux.Handle("GET /metrics/lag", telemetry.MetricsHandler(p.lag, p.settings.metrics, log))
	}
	if p.has(roleGateway) {
		mux.Handle("/", api)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	api.srv = &http.Server{
		Protocols:         protocols,
		Handler:           slowpeer.Handler(mux, slowPeerPatience),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(p.log.With("component", "http").Handler(), slog.LevelDebug),
	}
	for _, l := range sockets {
		p.serve("http", func() error { return api.srv.Serve(l) }, func(err error) bool { return errors.Is(err, http.ErrServerClosed) })
	}
	p.onStop("http", api.drain)
	return api
}
