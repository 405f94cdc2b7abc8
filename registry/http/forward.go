package http

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

// Headers of forwarded requests.
const (
	forwardedByHeader = "X-Moldau-Forwarded-By" // the replica
	principalHeader   = "X-Moldau-Principal"    // on behalf of whom
	timeHeader        = "X-Moldau-Time"         // milliseconds since 1970
	signatureHeader   = "X-Moldau-Signature"    // HMAC-SHA256 in base64
)

const (
	retryForward = 100 * time.Millisecond
	maxSkew      = 5 * time.Minute // between the clocks of two replicas, and until a request is too old
	maxAnswer    = 64 << 20
)

// errNotDone says that a request did not reach the replica that writes.
var errNotDone = &failure{Code: 50003, Message: "Error while forwarding the request to the leader"}

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// message is what the signature of a forwarded request covers.
func message(method, uri, principal, sent string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%x", method, uri, principal, sent, sum)
}

// forward sends a request to the replica that writes and passes its answer on. It returns errNotDone when that has done
// nothing.
func (h *Handler) forward(w http.ResponseWriter, c *call, url string) (int, error) {
	reply, err := h.exchange(c, url)
	if err != nil {
		return 0, err
	}
	if reply.header.Get(notHereHeader) != "" {
		return 0, errNotDone
	}
	if offset, err := strconv.ParseInt(reply.header.Get(offsetHeader), 10, 64); err == nil {
		// Who asks this replica next wants to see what it has just written. If that takes too long the answer is true all
		// the same.
		ctx, cancel := context.WithTimeout(c.Context(), 2*time.Second)
		_ = h.registry.WaitFor(ctx, offset)
		cancel()
	}
	h.metrics.forwarded.Inc()
	if reply.status == http.StatusNoContent {
		w.WriteHeader(reply.status)
		return reply.status, nil
	}
	media := reply.header.Get("Content-Type")
	if media == "" {
		media = c.media
	}
	return send(w, media, reply.status, reply.body), nil
}

// exchange sends a request and reads the answer, as long as the other replica is the one that writes. When it no longer
// is, whether it has done anything is not known, but to ask again does no harm: all requests but deletions come to the same
// when they are repeated.
func (h *Handler) exchange(c *call, url string) (*reply, error) {
	ctx, cancel := h.registry.OwnedBy(c.Context(), url)
	defer cancel()
	r, err := h.send(ctx, c, url)
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, errNotDone), errors.Is(context.Cause(ctx), store.ErrNotOwner) && c.Method != http.MethodDelete:
		return nil, errNotDone
	case errors.Is(err, store.ErrUnavailable):
		return nil, err
	}
	return nil, &failure{Code: 50003, Message: "Error while forwarding the request to the leader: " + err.Error()}
}

// reply is what another replica answered.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (h *Handler) send(ctx context.Context, c *call, url string) (*reply, error) {
	uri, principal := c.URL.RequestURI(), registry.Principal(c.Context())
	sent := strconv.FormatInt(time.Now().UnixMilli(), 10)
	by, proof, err := h.registry.Sign(ctx, message(c.Method, uri, principal, sent, c.body))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, strings.TrimSuffix(url, "/")+uri, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Content-Type", "Accept", acceptUnknown, "X-Request-Id"} {
		if v := c.Header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	req.Header.Set(forwardedByHeader, by)
	req.Header.Set(principalHeader, principal)
	req.Header.Set(timeHeader, sent)
	req.Header.Set(signatureHeader, base64.StdEncoding.EncodeToString(proof))
	resp, err := h.client.Do(req)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return nil, errNotDone // it never got there
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return &reply{resp.StatusCode, resp.Header, body}, err
}

// identify finds out on behalf of whom a request is: as the replica says that forwarded it, if it proves to be one.
func (h *Handler) identify(c *call) error {
	by := c.Header.Get(forwardedByHeader)
	if by == "" {
		return nil
	}
	c.forwarded = true
	principal, sent := c.Header.Get(principalHeader), c.Header.Get(timeHeader)
	ms, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || time.Since(time.UnixMilli(ms)).Abs() > maxSkew {
		return problem(http.StatusUnauthorized, "The forwarded request is too old, or clocks differ by more than %v", maxSkew)
	}
	proof, err := base64.StdEncoding.DecodeString(c.Header.Get(signatureHeader))
	if err == nil {
		err = h.registry.Verify(c.Context(), by, proof, message(c.Method, c.URL.RequestURI(), principal, sent, c.body))
	}
	if errors.Is(err, store.ErrUnavailable) {
		return err
	}
	if err != nil {
		return problem(http.StatusUnauthorized, "The forwarded request is not signed by a replica of this registry")
	}
	c.Request = c.WithContext(registry.WithPrincipal(c.Context(), principal))
	return nil
}
