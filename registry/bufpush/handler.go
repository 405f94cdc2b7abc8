package bufpush

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"moldau/registry"
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
	pushes   chan struct{} // held by each push while it is compiled

	mu        sync.Mutex
	generated *generated // for the newest catalog that was asked about
}

// maxPushes is how many pushes are compiled at the same time; more wait.
const maxPushes = 2

// New returns a handler in front of a registry. Close it when it is no longer served.
func New(r *registry.Registry, log *slog.Logger, reg prometheus.Registerer) *Handler {
	return &Handler{
		registry: r, log: log, relay: relay.New(r), metrics: newMetrics(reg), built: builtIn(), pushes: make(chan struct{}, maxPushes),
	}
}

// Close ends the connections to other replicas.
func (h *Handler) Close() { h.relay.Close() }

// call is one request on its way through its endpoint.
type call struct {
	*http.Request
	*Handler
	body      []byte // as it came
	forwarded bool   // by another replica
	warnings  []string
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	path, status := h.serve(w, r)
	h.metrics.served(path, status, time.Since(start))
}

// ledgerHeader and offsetHeader tell another replica up to which offsets of the topics the one that wrote knows everything.
const (
	ledgerHeader  = "X-Moldau-Ledger-Offset"
	offsetHeader  = "X-Moldau-Offset"
	timeoutHeader = "Connect-Timeout-Ms"
	warningHeader = "Buf-Warning-Bin"
	retryForward  = 100 * time.Millisecond
)

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
	out, reply, err := h.run(c, w, e, codec)
	switch {
	case err != nil:
		f := faultOf(c.Context(), h.log, err)
		if errors.Is(err, relay.ErrNotDone) {
			w.Header().Set(relay.NotHere, "1")
		}
		return label, fail(w, f)
	case reply != nil:
		return label, pass(w, reply)
	}
	return label, h.answer(w, c, codec, out)
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
	plain, err := c.read(w)
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
	if err := errors.Join(h.registry.Wait(c.Context()), h.registry.WaitLedger(c.Context(), 0)); err != nil {
		return nil, nil, err
	}
	for {
		c.warnings = nil
		out, err := e.handle(c, in)
		var elsewhere *registry.ElsewhereError
		if !errors.As(err, &elsewhere) {
			return out, nil, err
		}
		if c.forwarded {
			return nil, nil, relay.ErrNotDone
		}
		reply, err := h.relay.Forward(c.Request, c.body, elsewhere.URL, "Content-Type", "Content-Encoding", "Accept-Encoding", "Buf-Version")
		if err == nil {
			h.follow(c.Context(), reply)
			return nil, reply, nil
		}
		if !errors.Is(err, relay.ErrNotDone) {
			return nil, nil, fmt.Errorf("%w: %w", newFault(unavailable, "%v", err), err)
		}
		select {
		case <-time.After(retryForward):
		case <-c.Context().Done():
			return nil, nil, newFault(unavailable, "no replica of the registry can write now")
		}
	}
}

// follow waits until this replica knows what another one has just written: who asks it next wants to see that. If it
// takes too long the answer is true all the same.
func (h *Handler) follow(ctx context.Context, reply *relay.Reply) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if n, err := strconv.ParseInt(reply.Header.Get(offsetHeader), 10, 64); err == nil {
		_ = h.registry.WaitFor(ctx, n)
	}
	if n, err := strconv.ParseInt(reply.Header.Get(ledgerHeader), 10, 64); err == nil {
		_ = h.registry.WaitLedger(ctx, n)
	}
}

// pass passes the reply of another replica on.
func pass(w http.ResponseWriter, reply *relay.Reply) int {
	for _, name := range []string{"Content-Type", "Content-Encoding", warningHeader} {
		if v := reply.Header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body) // the peer may be gone
	return reply.Status
}

// read reads the body, and returns it without compression.
func (c *call) read(w http.ResponseWriter) ([]byte, error) {
	limit := int64(c.registry.Config().MaxPushBytes)
	body, err := io.ReadAll(http.MaxBytesReader(w, c.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, newFault(resourceExhausted, "the request has more than %d bytes", limit)
	case err != nil:
		return nil, invalid("the request can't be read: %v", err)
	}
	c.body = body
	switch encoding := c.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return body, nil
	case "gzip":
	default:
		return nil, newFault(unimplemented, "the encoding %q is not known; gzip is", encoding)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, invalid("the request is not gzip: %v", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, invalid("the request is not gzip: %v", err)
	}
	if int64(len(plain)) > limit {
		return nil, newFault(resourceExhausted, "the request has more than %d bytes", limit)
	}
	return plain, nil
}

// compressFrom is the size from which an answer is compressed for those who take that.
const compressFrom = 1 << 10

// answer writes what an endpoint returned.
func (h *Handler) answer(w http.ResponseWriter, c *call, codec codec, out proto.Message) int {
	body, err := codec.marshal(out)
	if err != nil {
		return fail(w, faultOf(c.Context(), h.log, fmt.Errorf("write the answer: %w", err)))
	}
	if c.forwarded {
		w.Header().Set(offsetHeader, strconv.FormatInt(h.registry.Offset(), 10))
		w.Header().Set(ledgerHeader, strconv.FormatInt(h.registry.Ledger().Offset(), 10))
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
		return http.StatusOK
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the peer may be gone
	return http.StatusOK
}

// codec is one form of messages.
type codec struct {
	media     string
	marshal   func(proto.Message) ([]byte, error)
	unmarshal func([]byte, proto.Message) error
}

func codecOf(contentType string) (codec, bool) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return codec{}, false
	}
	switch media {
	case "application/proto":
		return codec{media, proto.Marshal, proto.Unmarshal}, true
	case "application/json":
		return codec{media, protojson.Marshal, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal}, true
	}
	return codec{}, false
}
