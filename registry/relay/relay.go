package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"moldau/registry"
	"moldau/registry/store"
)

const (
	retry     = 100 * time.Millisecond // between attempts to reach the replica that writes
	maxAnswer = 64 << 20               // bytes
	// maxFollow is how long an answer is held back until this replica has replayed what was written.
	maxFollow = 2 * time.Second
)

var (
	// ErrNotHere says that a request was forwarded to a replica which is not the one that writes. It has done nothing.
	ErrNotHere = errors.New("this replica of the registry is not the one that writes")
	// ErrNotDone says that no replica could be reached that writes. Nothing was done.
	ErrNotDone = errors.New("the request did not reach the replica that writes")
	// ErrLost says that the replica which writes was lost while it had the request. Whether it has done anything is not known.
	ErrLost = errors.New("the replica that writes was lost while it had the request")
	// ErrForward says that a request could not be forwarded, or that there is no answer to it.
	ErrForward = errors.New("the request could not be forwarded to the replica that writes")
)

// Registry is what a relay needs of the registry: *registry.Registry.
type Registry interface {
	// Sign and Verify prove to other replicas that a message comes from one of them.
	Sign(ctx context.Context, message []byte) (name string, proof []byte, err error)
	Verify(ctx context.Context, name string, proof, message []byte) error
	// OwnedBy returns a context that ends when the replica at a URL is no longer the one that writes.
	OwnedBy(ctx context.Context, url string) (context.Context, context.CancelFunc)
	// Position is how far this replica has read, Reach waits until it has read as far.
	Position() registry.Position
	Reach(ctx context.Context, p registry.Position) error
}

// Relay forwards requests. It is safe for concurrent use. Close it when nothing is forwarded any more.
type Relay struct {
	registry  Registry
	client    *http.Client
	maxAnswer int64
}

// New returns a relay between the replicas of a registry. Those that speak TLS must show certificates of the trusted
// authorities, nil for those of the system.
func New(r Registry, trusted *x509.CertPool) *Relay {
	return &Relay{registry: r, maxAnswer: maxAnswer, client: &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted},
			TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     time.Minute,
			DisableCompression:  true, // answers are passed on as they are
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends the connections to other replicas.
func (r *Relay) Close() { r.client.CloseIdleConnections() }

// Request is a request on its way.
type Request struct {
	*http.Request
	Body []byte
	// Forwarded says that it came from another replica; see Identify.
	Forwarded bool
	// Repeatable says that to carry it out twice comes to the same as once.
	Repeatable bool
	// Pass are the names of those headers that the other replica needs.
	Pass []string
}

// Do carries a request out: with handle, or, when that returns a registry.ElsewhereError, on the replica that writes. Then the
// answer is that one's reply. It tries until the context of the request ends. Errors are those of handle, of this package, or
// say that the request can't be signed.
func (r *Relay) Do(q *Request, handle func() error) (*Reply, error) {
	for {
		err := handle()
		var elsewhere *registry.ElsewhereError
		if !errors.As(err, &elsewhere) {
			return nil, err
		}
		if q.Forwarded {
			return nil, ErrNotHere
		}
		reply, err := r.forward(q, elsewhere.URL)
		if err == nil {
			r.follow(q.Context(), reply)
			return reply, nil
		}
		if !errors.Is(err, ErrNotDone) && !(errors.Is(err, ErrLost) && q.Repeatable) || !pause(q.Context()) {
			return nil, err
		}
	}
}

func pause(ctx context.Context) bool {
	t := time.NewTimer(retry)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// forward sends a request to the replica at a URL, and gives up when that is no longer the one that writes.
func (r *Relay) forward(q *Request, url string) (*Reply, error) {
	ctx, cancel := r.registry.OwnedBy(q.Context(), url)
	defer cancel()
	reply, err := r.send(ctx, q, url)
	switch {
	case err == nil && reply.Header.Get(notHereHeader) != "":
		return nil, ErrNotDone
	case err == nil, errors.Is(err, ErrNotDone), errors.Is(err, store.ErrUnavailable):
		return reply, err
	case errors.Is(context.Cause(ctx), store.ErrNotOwner), lost(err):
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil, fmt.Errorf("%w: %w", ErrForward, err)
}

// lost tells whether an error is that of a connection which ended.
func lost(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write")
}

func (r *Relay) send(ctx context.Context, q *Request, url string) (*Reply, error) {
	req, err := http.NewRequestWithContext(ctx, q.Method, strings.TrimSuffix(url, "/")+q.URL.RequestURI(), bytes.NewReader(q.Body)) //nolint:gosec // the group of the replicas says where they are
	if err != nil {
		return nil, err
	}
	for _, name := range q.Pass {
		if v := q.Header.Values(name); len(v) > 0 {
			req.Header[http.CanonicalHeaderKey(name)] = v
		}
	}
	if err := r.sign(ctx, q, req.Header); err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req) //nolint:gosec // as above
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return nil, fmt.Errorf("%w: %w", ErrNotDone, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, r.maxAnswer+1))
	if int64(len(answer)) > r.maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes", r.maxAnswer)
	}
	return &Reply{resp.StatusCode, resp.Header, answer}, err
}
