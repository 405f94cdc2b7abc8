package http

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/registry"
)

// Handler serves the protocol. It is safe for concurrent use.
type Handler struct {
	registry *registry.Registry
	log      *slog.Logger
	metrics  *metrics
	client   *http.Client // to other replicas
}

// New returns a handler in front of a registry. Close it when it is no longer served.
func New(r *registry.Registry, log *slog.Logger, reg prometheus.Registerer) *Handler {
	return &Handler{registry: r, log: log, metrics: newMetrics(reg), client: newClient()}
}

// Close ends the connections to other replicas.
func (h *Handler) Close() { h.client.CloseIdleConnections() }

// call is one request on its way through its endpoint.
type call struct {
	*http.Request
	registry  *registry.Registry
	params    map[string]string // the variable segments of the path
	query     url.Values
	body      []byte
	media     string // of the answer
	all       bool   // the caller takes fields that older clients don't know
	forwarded bool   // by another replica
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	label, status := h.serve(w, r)
	h.metrics.served(label, r.Method, status, time.Since(start))
}

// serve answers a request and returns what it was for the metrics.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (label string, status int) {
	ctx, cancel := context.WithTimeout(r.Context(), h.registry.Config().RequestTimeout)
	defer cancel()
	c := &call{Request: r.WithContext(ctx), registry: h.registry, media: defaultMedia}
	e, err := h.prepare(c, w)
	if e == nil {
		return "none", h.fail(w, c, err)
	}
	if err != nil {
		return e.path, h.fail(w, c, err)
	}
	out, err := h.run(w, c, e)
	switch {
	case errors.Is(err, errAnswered):
		return e.path, out.(int)
	case err != nil:
		return e.path, h.fail(w, c, err)
	}
	return e.path, h.answer(w, c, e, out)
}

// prepare finds the endpoint of a request and reads what it needs.
func (h *Handler) prepare(c *call, w http.ResponseWriter) (*endpoint, error) {
	path, err := parsePath(c.URL.EscapedPath())
	if err != nil {
		return nil, err
	}
	if c.query, err = url.ParseQuery(c.URL.RawQuery); err != nil {
		return nil, problem(http.StatusBadRequest, "The query can't be read: %v", err)
	}
	if err := path.qualify(c.query); err != nil {
		return nil, err
	}
	path.replaceAliases(h.registry.Alias, c.query)
	e, params, err := find(c.Method, path)
	if err != nil {
		return nil, err
	}
	c.params = params
	if c.media, err = negotiate(c.Header["Accept"]); err != nil {
		c.media = defaultMedia
		return e, err
	}
	c.all = c.Header.Get(acceptUnknown) != ""
	if e.body {
		if err := c.readBody(w, h.registry.Config().MaxRequestBytes); err != nil {
			return e, err
		}
	}
	return e, h.identify(c)
}

// run calls the endpoint, on another replica if it must be.
func (h *Handler) run(w http.ResponseWriter, c *call, e *endpoint) (any, error) {
	if err := h.registry.Wait(c.Context()); err != nil {
		return nil, err
	}
	for {
		out, err := e.handle(c)
		var elsewhere *registry.ElsewhereError
		if !errors.As(err, &elsewhere) {
			return out, err
		}
		if c.forwarded {
			return nil, errNotHere
		}
		status, err := h.forward(w, c, elsewhere.URL)
		if err == nil {
			return status, errAnswered
		}
		if !errors.Is(err, errNotDone) {
			return nil, err
		}
		if !pause(c.Context(), retryForward) {
			return nil, err
		}
	}
}

// errAnswered says that the answer of another replica was passed on; the status comes with it.
var errAnswered = errors.New("answered")

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
