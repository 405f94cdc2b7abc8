package node

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// registryTransport carries requests to the registry in this process without a socket, for the gateway beside it.
type registryTransport struct{ registry http.Handler }

// RoundTrip implements http.RoundTripper. The registry answers in the caller's goroutine; if it panics, that is an error
// of this request, as it would be over a socket.
func (t registryTransport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			resp, err = nil, fmt.Errorf("the registry panicked: %v", panicked)
		}
	}()
	q := r.Clone(r.Context())
	q.RequestURI = r.URL.RequestURI()
	if q.Body == nil {
		q.Body = http.NoBody
	}
	defer func() { _ = q.Body.Close() }()
	answer := &answer{header: http.Header{}, status: http.StatusOK}
	t.registry.ServeHTTP(answer, q)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", answer.status, http.StatusText(answer.status)), StatusCode: answer.status, Header: answer.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: r,
	}, nil
}

// answer gathers what a handler answers.
type answer struct {
	header  http.Header
	status  int
	started bool
	body    bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter: the first status counts.
func (a *answer) WriteHeader(status int) {
	if !a.started {
		a.status, a.started = status, true
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
