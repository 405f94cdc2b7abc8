package relay

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"moldau/registry"
	"moldau/registry/store"
)

// Headers of forwarded requests.
const (
	byHeader        = "X-Moldau-Forwarded-By" // the replica
	principalHeader = "X-Moldau-Principal"    // on behalf of whom
	timeHeader      = "X-Moldau-Time"         // milliseconds since 1970
	signatureHeader = "X-Moldau-Signature"    // HMAC-SHA256 in base64
)

// maxSkew is how much the clocks of two replicas may differ, and how long it takes until a request is too old.
const maxSkew = 5 * time.Minute

// ErrProof says that a request which claims to be forwarded does not prove it.
var ErrProof = errors.New("the forwarded request does not prove that it comes from a replica of this registry")

// message is what the signature of a forwarded request covers.
func message(method, uri, principal, sent string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%x", method, uri, principal, sent, sum)
}

// sign tells the other replica in headers on whose behalf a request is, and proves it.
func (r *Relay) sign(ctx context.Context, q *Request, header http.Header) error {
	principal, sent := registry.Principal(q.Context()), strconv.FormatInt(time.Now().UnixMilli(), 10)
	by, proof, err := r.registry.Sign(ctx, message(q.Method, q.URL.RequestURI(), principal, sent, q.Body))
	if err != nil {
		return err
	}
	header.Set(byHeader, by)
	header.Set(principalHeader, principal)
	header.Set(timeHeader, sent)
	header.Set(signatureHeader, base64.StdEncoding.EncodeToString(proof))
	return nil
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
		return req, true, fmt.Errorf("%w: it is too old, or clocks differ by more than %v", ErrProof, maxSkew)
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
