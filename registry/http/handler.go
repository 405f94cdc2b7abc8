package http

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/registry"
	"moldau/registry/memory"
	"moldau/registry/relay"
)

// Handler serves the protocol. It is safe for concurrent use.
type Handler struct {
	registry *registry.Registry
	log      *slog.Logger
	metrics  *metrics
	relay    *relay.Relay   // to other replicas
	memory   *memory.Budget // of bulky bodies
}

// New returns a handler in front of a registry. What another replica must do goes through the relay, which is the caller's.
func New(r *registry.Registry, to *relay.Relay, log *slog.Logger, reg prometheus.Registerer) *Handler {
	return &Handler{
		registry: r, log: log, metrics: newMetrics(reg), relay: to,
		memory: memory.NewBudget(max(maxMemory, 2*copies*r.Config().MaxRequestBytes)),
	}
}

// call is one request on its way through its endpoint.
type call struct {
	*http.Request
	registry  *registry.Registry
	memory    *memory.Budget
	give      func() // gives back what the body took of it; nil if nothing
	endpoint  *endpoint
	path      path
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
	c := &call{Request: r.WithContext(ctx), registry: h.registry, memory: h.memory, media: defaultMedia}
	defer c.release()
	e, err := h.prepare(c, w)
	if e == nil {
		return "none", h.fail(w, c, err)
	}
	if err != nil {
		return e.path, h.fail(w, c, err)
	}
	out, reply, err := h.run(c, e)
	switch {
	case err != nil:
		return e.path, h.fail(w, c, err)
	case reply != nil:
		h.metrics.forwarded.Inc()
		return e.path, reply.Pass(w)
	}
	return e.path, h.answer(w, c, e, out)
}

func (c *call) release() {
	if c.give != nil {
		c.give()
	}
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
	e, err := find(c.Method, path)
	if err != nil {
		return nil, err
	}
	c.endpoint, c.path = e, path
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
	c.Request, c.forwarded, err = h.relay.Identify(c.Request, c.body)
	return e, err
}

// passed are the headers of a request that the replica which carries it out needs.
var passed = []string{"Content-Type", "Accept", acceptUnknown, "X-Request-Id"}

// run calls the endpoint, on another replica if it must be. Then it returns that one's reply.
func (h *Handler) run(c *call, e *endpoint) (out any, reply *relay.Reply, err error) {
	if err := h.registry.Wait(c.Context()); err != nil {
		return nil, nil, err
	}
	q := &relay.Request{
		Request: c.Request, Body: c.body, Forwarded: c.forwarded, Pass: passed,
		Repeatable: c.Method != http.MethodDelete, // which finds nothing any more the second time
	}
	reply, err = h.relay.Do(q, func() (err error) {
		out, err = e.handle(c)
		return err
	})
	return out, reply, err
}
