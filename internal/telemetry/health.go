package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Health is the list of checks that decide whether a process is ready. The
// zero value has none and is ready.
type Health struct {
	mu     sync.Mutex
	checks []check
}

// patience bounds all checks of one request together.
const patience = 3 * time.Second

type check struct {
	name  string
	ready func(context.Context) error
}

// Set gives a part its check: behind those already there, or in the place of
// the one the part had. ready answers nil when the part serves, is called for
// each request, and must end with its context.
func (h *Health) Set(name string, ready func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.checks, func(c check) bool { return c.name == name })
	if i < 0 {
		h.checks = append(h.checks, check{name, ready})
		return
	}
	h.checks[i].ready = ready
}

// Verdict is the outcome of one check.
type Verdict struct {
	Name string
	Err  error // nil when ready
}

// Verdicts asks every check, one after the other.
func (h *Health) Verdicts(ctx context.Context) []Verdict {
	h.mu.Lock()
	checks := slices.Clone(h.checks)
	h.mu.Unlock()
	out := make([]Verdict, len(checks))
	for i, c := range checks {
		out[i] = Verdict{c.name, c.ready(ctx)}
	}
	return out
}

// ServeReady answers 200 when every check is ready and 503 otherwise. The body
// is one word, or with ?verbose, and always on failure, a line for each check.
func (h *Health) ServeReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var b strings.Builder
	ok := true
	for _, v := range h.Verdicts(ctx) {
		if v.Err != nil {
			ok = false
			fmt.Fprintf(&b, "[-] %s: %s\n", v.Name, strings.ReplaceAll(v.Err.Error(), "\n", " "))
			continue
		}
		fmt.Fprintf(&b, "[+] %s\n", v.Name)
	}
	switch {
	case !ok:
		answer(w, http.StatusServiceUnavailable, b.String()+"not ready\n")
	case r.URL.Query().Has("verbose"):
		answer(w, http.StatusOK, b.String()+"ready\n")
	default:
		answer(w, http.StatusOK, "ready\n")
	}
}

// ServeLive answers 200: a process that can run this handler lives. It checks
// nothing else, because a restart cures nothing a check could find.
func (*Health) ServeLive(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, "alive\n")
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The peer may be gone; there is nobody left to tell.
	_, _ = w.Write([]byte(body))
}
