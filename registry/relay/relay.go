// Package relay sends a request, which the replica that got it can't carry out, to the replica that can, and proves there
// on whose behalf it is. Both doors of the registry may use it.
//
// A request is signed with a key of the registry's store; the signature covers method, address, principal, time and body.
// One that was forwarded is never forwarded again. The package has no goroutines.
package relay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"moldau/registry"
	"moldau/registry/store"
)

// Headers of forwarded requests and their answers.
const (
	byHeader        = "X-Moldau-Forwarded-By" // the replica
	principalHeader = "X-Moldau-Principal"    // on behalf of whom
	timeHeader      = "X-Moldau-Time"         // milliseconds since 1970
	signatureHeader = "X-Moldau-Signature"    // HMAC-SHA256 in base64

	// NotHere is set by a replica that has done nothing, because it is not the one that writes.
	NotHere = "X-Moldau-Not-Here"
)

const (
	maxSkew   = 5 * time.Minute // between the clocks of two replicas, and until a request is too old
	maxAnswer = 64 << 20
)

var (
	// ErrNotDone says that a request did not reach the replica that writes. It may be tried again.
	ErrNotDone = errors.New("the request did not reach the replica that writes")
	// ErrProof says that a request which claims to be forwarded does not prove it.
	ErrProof = errors.New("the forwarded request is not signed by a replica of this registry, or too old")
)

// Registry is what signs and verifies: *registry.Registry.
type Registry interface {
	Sign(ctx context.Context, message []byte) (name string, proof []byte, err error)
	Verify(ctx context.Context, name string, proof, message []byte) error
	OwnedBy(ctx context.Context, url string) (context.Context, context.CancelFunc)
}

// Relay forwards requests. It is safe for concurrent use. Close it when nothing is forwarded any more.
type Relay struct {
	registry Registry
	client   *http.Client
}

// New returns a relay between the replicas of a registry.
func New(r Registry) *Relay {
	return &Relay{r, &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends the connections to other replicas.
func (r *Relay) Close() { r.client.CloseIdleConnections() }

// Reply is what the other replica answered.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Forward sends a request with its body to the replica at a URL, with those of its headers that are named. It gives up
// when that replica is no longer the one that writes: whether it has done anything is not known then, so requests that are
// forwarded must come to the same when they are repeated.
func (r *Relay) Forward(req *http.Request, body []byte, url string, headers ...string) (*Reply, error) {
	ctx, cancel := r.registry.OwnedBy(req.Context(), url)
	defer cancel()
	reply, err := r.send(ctx, req, body, url, headers)
	switch {
	case err == nil && reply.Header.Get(NotHere) != "":
		return nil, ErrNotDone
	case err == nil:
		return reply, nil
	case errors.Is(err, ErrNotDone), errors.Is(context.Cause(ctx), store.ErrNotOwner):
		return nil, ErrNotDone
	}
	return nil, fmt.Errorf("forward the request to the replica that writes: %w", err)
}

func (r *Relay) send(ctx context.Context, from *http.Request, body []byte, url string, headers []string) (*Reply, error) {
	uri, principal := from.URL.RequestURI(), registry.Principal(from.Context())
	sent := strconv.FormatInt(time.Now().UnixMilli(), 10)
	by, proof, err := r.registry.Sign(ctx, message(from.Method, uri, principal, sent, body))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, from.Method, strings.TrimSuffix(url, "/")+uri, bytes.NewReader(body)) //nolint:gosec // the group of the replicas says where they are
	if err != nil {
		return nil, err
	}
	for _, name := range headers {
		if v := from.Header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	req.Header.Set(byHeader, by)
	req.Header.Set(principalHeader, principal)
	req.Header.Set(timeHeader, sent)
	req.Header.Set(signatureHeader, base64.StdEncoding.EncodeToString(proof))
	resp, err := r.client.Do(req) //nolint:gosec // as above
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return nil, ErrNotDone // it never got there
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return &Reply{resp.StatusCode, resp.Header, answer}, err
}

// message is what the signature of a forwarded request covers.
func message(method, uri, principal, sent string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%x", method, uri, principal, sent, sum)
}

// Identify finds out on behalf of whom a request is: as the replica says that forwarded it, if it proves to be one, else
// as its context says. Errors wrap ErrProof, or say why it can't be told.
func (r *Relay) Identify(req *http.Request, body []byte) (_ *http.Request, forwarded bool, err error) {
	by := req.Header.Get(byHeader)
	if by == "" {
		return req, false, nil
	}
	principal, sent := req.Header.Get(principalHeader), req.Header.Get(timeHeader)
	ms, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || time.Since(time.UnixMilli(ms)).Abs() > maxSkew {
		return req, true, ErrProof
	}
	proof, err := base64.StdEncoding.DecodeString(req.Header.Get(signatureHeader))
	if err == nil {
		err = r.registry.Verify(req.Context(), by, proof, message(req.Method, req.URL.RequestURI(), principal, sent, body))
	}
	if errors.Is(err, store.ErrUnavailable) {
		return req, true, err
	}
	if err != nil {
		return req, true, ErrProof
	}
	return req.WithContext(registry.WithPrincipal(req.Context(), principal)), true, nil
}
