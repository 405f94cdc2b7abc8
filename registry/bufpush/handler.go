package bufpush

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"moldau/registry"
	"moldau/registry/memory"
	"moldau/registry/relay"
)

// Prefix is what the paths of all calls begin with.
const Prefix = "/buf."

// Handler serves the protocol. It is safe for concurrent use.
type Handler struct {
	registry *registry.Registry
	log      *slog.Logger
	relay    *relay.Relay
	metrics  *metrics
	built    *shelf
	pushes   chan struct{}  // held by each push while it is compiled
	memory   *memory.Budget // of large requests and answers

	mu        sync.Mutex
	generated *generated // for the newest catalog that was asked about
}

// maxPushes is how many pushes are compiled at the same time; more wait.
const maxPushes = 2

// New returns a handler in front of a registry. What another replica must do goes through the relay, which is the caller's.
func New(r *registry.Registry, to *relay.Relay, log *slog.Logger, reg prometheus.Registerer) *Handler {
	return &Handler{
		registry: r, log: log, relay: to, metrics: newMetrics(reg), built: builtIn(), pushes: make(chan struct{}, maxPushes),
		memory: memory.NewBudget(max(maxMemory, 2*copies*r.Config().MaxPushBytes)),
	}
}

// call is one request on its way through its endpoint.
type call struct {
	*http.Request
	*Handler
	body      []byte // as it came
	forwarded bool   // by another replica
	warnings  []string
	held      []func() // give back what was taken of the budget
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	path, status := h.serve(w, r)
	h.metrics.served(path, status, time.Since(start))
}

// Headers of the protocol.
const (
	timeoutHeader = "Connect-Timeout-Ms" // of a request: how long it may take
	warningHeader = "Buf-Warning-Bin"    // of an answer: what the CLI shows as a warning
)

// passed are the headers of a request that the replica which carries it out needs.
var passed = []string{"Content-Type", "Content-Encoding", "Accept-Encoding", "Buf-Version", timeoutHeader}

// serve answers a request and returns what it was for the metrics.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (label string, status int) {
	e, ok := endpoints[r.URL.Path]
	if !ok {
		http.NotFound(w, r) // which clients take for "unimplemented"
		return "none", http.StatusNotFound
	}
	label = strings.TrimPrefix(r.URL.Path, "/")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return label, http.StatusMethodNotAllowed
	}
	codec, ok := codecOf(r.Header.Get("Content-Type"))
	if !ok {
		w.Header().Set("Accept-Post", "application/proto, application/json")
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return label, http.StatusUnsupportedMediaType
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.timeout(r))
	defer cancel()
	c := &call{Request: r.WithContext(ctx), Handler: h}
	defer c.release()
	out, reply, err := h.run(c, w, e, codec)
	switch {
	case err != nil:
		f := faultOf(c.Context(), h.log, err)
		if errors.Is(err, relay.ErrNotHere) {
			relay.Decline(w.Header())
		}
		return label, fail(w, f)
	case reply != nil:
		return label, reply.Pass(w)
	}
	status, err = c.answer(w, codec, out)
	if err != nil {
		return label, fail(w, faultOf(c.Context(), h.log, err))
	}
	return label, status
}

// timeout is how long a request may take: as long as the caller wants, within the bounds of the registry.
func (h *Handler) timeout(r *http.Request) time.Duration {
	most := h.registry.Config().RequestTimeout
	ms, err := strconv.ParseInt(r.Header.Get(timeoutHeader), 10, 32)
	if err != nil || ms <= 0 {
		return most
	}
	return min(most, time.Duration(ms)*time.Millisecond)
}

// run reads a request and carries it out, on another replica if it must be. Then it returns that one's reply.
func (h *Handler) run(c *call, w http.ResponseWriter, e endpoint, codec codec) (proto.Message, *relay.Reply, error) {
	plain, err := c.read(w, e.bulky)
	if err != nil {
		return nil, nil, err
	}
	if c.Request, c.forwarded, err = h.relay.Identify(c.Request, c.body); err != nil {
		return nil, nil, err
	}
	in := e.request()
	if err := codec.unmarshal(plain, in); err != nil {
		return nil, nil, invalid("the request can't be read: %v", err)
	}
	if err := errors.Join(h.registry.Wait(c.Context()), h.registry.WaitLedger(c.Context())); err != nil {
		return nil, nil, err
	}
	var out proto.Message
	q := &relay.Request{Request: c.Request, Body: c.body, Forwarded: c.forwarded, Repeatable: !e.once, Pass: passed}
	reply, err := h.relay.Do(q, func() (err error) {
		c.warnings = nil
		out, err = e.handle(c, in)
		return err
	})
	return out, reply, err
}

// compressFrom is the size from which an answer is compressed for those who take that.
const compressFrom = 1 << 10

// answer writes what an endpoint returned. An error says that nothing was written.
func (c *call) answer(w http.ResponseWriter, codec codec, out proto.Message) (status int, err error) {
	if size := proto.Size(out); size >= bulkyAnswer {
		if err := c.take(size); err != nil {
			return 0, err
		}
		c.bound(http.NewResponseController(w).SetWriteDeadline)
	}
	body, err := codec.marshal(out)
	if err != nil {
		return 0, fmt.Errorf("write the answer: %w", err)
	}
	if c.forwarded {
		c.relay.Mark(w.Header())
	}
	if len(c.warnings) > 0 {
		w.Header().Set(warningHeader, base64.RawStdEncoding.EncodeToString([]byte(strings.Join(c.warnings, "\n"))))
	}
	w.Header().Set("Content-Type", codec.media)
	if len(body) >= compressFrom && strings.Contains(c.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(body) // the peer may be gone
		_ = z.Close()
		return http.StatusOK, nil
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the peer may be gone
	return http.StatusOK, nil
}
