package bufpush

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"time"
)

// The sizes of requests and answers.
const (
	maxBody     = 1 << 20   // of requests that are not pushes
	bulkyAnswer = 1 << 20   // what is larger counts against the budget
	maxMemory   = 256 << 20 // of large requests and answers together, unless a single push may take more
	copies      = 3         // of a push that are in memory at once: as it came, expanded, and read
)

// take takes a part of the budget until the call is over.
func (c *call) take(size int) error {
	give, err := c.memory.Take(c.Context(), size)
	if err != nil {
		return newFault(unavailable, "too many large requests at once: %v", err)
	}
	c.held = append(c.held, give)
	return nil
}

func (c *call) release() {
	for _, give := range c.held {
		give()
	}
}

// bound sets a deadline of the connection to the time that the call has: a peer that dawdles must not keep memory.
func (c *call) bound(set func(time.Time) error) {
	if at, ok := c.Context().Deadline(); ok {
		_ = set(at) // a connection that has none is one of a test
	}
}

// read reads the body, and returns it without compression. Bulky ones wait until there is memory for them.
func (c *call) read(w http.ResponseWriter, bulky bool) ([]byte, error) {
	limit := c.registry.Config().MaxPushBytes
	if !bulky {
		limit = min(limit, maxBody)
	} else {
		size := limit
		if n := c.ContentLength; n >= 0 && n < int64(limit) && c.Header.Get("Content-Encoding") == "" {
			size = int(n)
		}
		if err := c.take(copies * size); err != nil {
			return nil, err
		}
		c.bound(http.NewResponseController(w).SetReadDeadline)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, c.Body, int64(limit)))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge(limit)
	case err != nil:
		return nil, invalid("the request can't be read: %v", err)
	}
	c.body = body
	switch encoding := c.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return body, nil
	case "gzip":
		return expand(body, limit)
	default:
		return nil, newFault(unimplemented, "the encoding %q is not known; gzip is", encoding)
	}
}

func tooLarge(limit int) error {
	return newFault(resourceExhausted, "the request has more than %d bytes", limit)
}

// expand undoes a compression.
func expand(body []byte, limit int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, invalid("the request is not gzip: %v", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if err != nil {
		return nil, invalid("the request is not gzip: %v", err)
	}
	if len(plain) > limit {
		return nil, tooLarge(limit)
	}
	return plain, nil
}
