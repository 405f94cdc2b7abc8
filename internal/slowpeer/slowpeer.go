// Package slowpeer bounds how long a peer may take to accept an answer over HTTP. An answer that is not read keeps its memory, its
// goroutine and its connection; a server's WriteTimeout ends it, but ends answers too that take long to make, and those that are long.
package slowpeer

import (
	"net/http"
	"time"
)

// rate is how many bytes of an answer a peer must accept in a second, beside the patience that it has.
const rate = 64 << 10

// small is the size of writes that the server may only buffer.
const small = 4 << 10

// Handler calls next with a writer whose writes fail when the peer does not accept them: within patience, and a second more for each
// 64 KiB. The time that next takes does not count. A deadline that next sets through http.ResponseController holds instead, until it is
// set to the zero time.
func Handler(next http.Handler, patience time.Duration) http.Handler {
	return handler(next, patience, rate)
}

func handler(next http.Handler, patience time.Duration, rate int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &writer{ResponseWriter: w, ctl: http.NewResponseController(w), patience: patience, rate: rate}
		p.arm() // the last request on this connection left its own deadline
		next.ServeHTTP(p, r)
		p.arm() // for what the server still holds
	})
}

// writer is an http.ResponseWriter that sets a deadline before it writes.
type writer struct {
	http.ResponseWriter
	ctl      *http.ResponseController
	patience time.Duration
	rate     int       // bytes a second
	armed    time.Time // when the deadline was set last
	set      bool      // by the handler
}

// arm sets the deadline, unless it was set a moment ago.
func (w *writer) arm() {
	if now := time.Now(); !w.set && now.Sub(w.armed) > w.patience/8 {
		w.until(now, now.Add(w.patience))
	}
}

func (w *writer) until(now, deadline time.Time) {
	w.armed = now
	_ = w.ctl.SetWriteDeadline(deadline) // servers that have none are those of tests
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	w.arm()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(b []byte) (int, error) {
	if len(b) <= small {
		w.arm()
	} else if !w.set {
		now := time.Now()
		w.until(now, now.Add(w.patience+time.Duration(len(b))*time.Second/time.Duration(w.rate)))
	}
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (w *writer) Flush() { _ = w.FlushError() }

// FlushError is what http.ResponseController looks for.
func (w *writer) FlushError() error {
	w.arm()
	return w.ctl.Flush()
}

// SetWriteDeadline is what http.ResponseController looks for.
func (w *writer) SetWriteDeadline(deadline time.Time) error {
	w.set, w.armed = !deadline.IsZero(), time.Time{}
	return w.ctl.SetWriteDeadline(deadline)
}

// Unwrap is what http.ResponseController looks for.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
