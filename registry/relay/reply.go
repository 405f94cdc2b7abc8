package relay

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"moldau/registry"
)

// Headers of answers to forwarded requests.
const (
	headerPrefix  = "X-Moldau-"
	notHereHeader = headerPrefix + "Not-Here"      // nothing was done, because the replica is not the one that writes
	catalogHeader = headerPrefix + "Offset"        // how far the replica that wrote has read its topics
	ledgerHeader  = headerPrefix + "Ledger-Offset" // likewise
)

// Reply is what the other replica answered.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// ofConnection are headers that are about a connection, not about what is sent over it.
var ofConnection = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// Pass answers a request with a reply. It returns the status.
func (r *Reply) Pass(w http.ResponseWriter) int {
	for name, values := range r.Header {
		if !strings.HasPrefix(name, headerPrefix) && !slices.Contains(ofConnection, name) {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(r.Status)
	if len(r.Body) > 0 {
		_, _ = w.Write(r.Body) // the peer may be gone
	}
	return r.Status
}

// Decline marks the answer to a forwarded request as one of a replica that has done nothing; see ErrNotHere.
func Decline(h http.Header) { h.Set(notHereHeader, "1") }

// Mark tells the replica that forwarded a request how far this one has read.
func (r *Relay) Mark(h http.Header) {
	p := r.registry.Position()
	h.Set(catalogHeader, strconv.FormatInt(p.Catalog, 10))
	h.Set(ledgerHeader, strconv.FormatInt(p.Ledger, 10))
}

// follow waits until this replica has read as far as the one that wrote: who asks it next wants to see what that has just
// written. If it takes too long the answer is true all the same.
func (r *Relay) follow(ctx context.Context, reply *Reply) {
	offset := func(name string) int64 {
		n, _ := strconv.ParseInt(reply.Header.Get(name), 10, 64) // an answer that does not tell is not waited for
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, maxFollow)
	defer cancel()
	_ = r.registry.Reach(ctx, registry.Position{Catalog: offset(catalogHeader), Ledger: offset(ledgerHeader)})
}
