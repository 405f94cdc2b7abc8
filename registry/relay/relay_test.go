package relay

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moldau/registry"
	"moldau/registry/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keys is a registry whose replicas share one key.
type keys struct {
	lost bool // the other replica no longer writes
	down bool // the keys can't be read

	reached *registry.Position // what was waited for
}

func proof(message []byte) []byte {
	h := hmac.New(sha256.New, []byte("key"))
	h.Write(message)
	return h.Sum(nil)
}

func (k keys) Sign(_ context.Context, message []byte) (name string, _ []byte, err error) {
	if k.down {
		return "", nil, store.ErrUnavailable
	}
	return "a", proof(message), nil
}

func (k keys) Verify(_ context.Context, name string, given, message []byte) error {
	switch {
	case k.down:
		return store.ErrUnavailable
	case name != "a" || !hmac.Equal(given, proof(message)):
		return store.ErrSignature
	}
	return nil
}

func (k keys) OwnedBy(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if k.lost {
		cancel(store.ErrNotOwner)
	}
	return ctx, func() { cancel(nil) }
}

func (keys) Position() registry.Position { return registry.Position{Catalog: 7, Ledger: 9} }

func (k keys) Reach(_ context.Context, p registry.Position) error {
	if k.reached != nil {
		*k.reached = p
	}
	return nil
}

func request(t *testing.T, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/buf.x/Do?a=b", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/proto")
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("X-Moldau-Principal", "User:root")
	ctx, cancel := context.WithTimeout(registry.WithPrincipal(t.Context(), "User:ada"), time.Minute)
	t.Cleanup(cancel)
	return r.WithContext(ctx)
}

// elsewhere is an endpoint whose request is for the replica at a URL.
func elsewhere(url string) func() error {
	return func() error { return &registry.ElsewhereError{URL: url} }
}

// forward forwards a request with a body to a URL.
func forward(t *testing.T, r *Relay, body, url string, change ...func(*Request)) (*Reply, error) {
	t.Helper()
	q := &Request{Request: request(t, ""), Body: []byte(body), Pass: []string{"content-type"}}
	for _, f := range change {
		f(q)
	}
	return r.Do(q, elsewhere(url))
}

// writer is a replica that carries requests out and answers with the body of the request.
func writer(t *testing.T, got **http.Request) http.HandlerFunc {
	there := New(keys{}, nil)
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r, forwarded, err := there.Identify(r, body)
		if err != nil || !forwarded {
			t.Errorf("forwarded %t, %v", forwarded, err)
		}
		*got = r
		there.Mark(w.Header())
		w.Header().Set("Content-Type", "text/x")
		w.Header().Add("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.Header().Set("Keep-Alive", "timeout=5")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(append([]byte("answer to "), body...))
	}
}

func TestForward(t *testing.T) {
	var got *http.Request
	var reached registry.Position
	srv := httptest.NewServer(writer(t, &got))
	defer srv.Close()
	here := New(keys{reached: &reached}, nil)
	defer here.Close()
	body := strings.Repeat("x", 1<<20)
	reply, err := forward(t, here, body, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if p := registry.Principal(got.Context()); p != "User:ada" || got.URL.RawQuery != "a=b" || got.Header.Get("Content-Type") != "application/proto" || got.Header.Get("Authorization") != "" {
		t.Errorf("principal %s, %v", p, got.Header)
	}
	if reached != (registry.Position{Catalog: 7, Ledger: 9}) {
		t.Errorf("it waited for %+v", reached)
	}
	w := httptest.NewRecorder()
	status := reply.Pass(w)
	if status != http.StatusTeapot || w.Code != status || w.Body.String() != "answer to "+body {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
	h := w.Header()
	if h.Get("Content-Type") != "text/x" || strings.Join(h["X-Two"], " ") != "1 2" || h.Get("Keep-Alive") != "" || h.Get(catalogHeader) != "" {
		t.Errorf("the caller is answered %v", h)
	}
}

func TestForwardOverTLS(t *testing.T) {
	var got *http.Request
	srv := httptest.NewUnstartedServer(writer(t, &got))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are wanted
	srv.StartTLS()
	defer srv.Close()
	own := x509.NewCertPool()
	own.AddCert(srv.Certificate())
	here, stranger := New(keys{}, own), New(keys{}, nil)
	defer here.Close()
	defer stranger.Close()
	reply, err := forward(t, here, "body", srv.URL)
	if err != nil || string(reply.Body) != "answer to body" || got.TLS == nil {
		t.Errorf("%+v, %v", reply, err)
	}
	got = nil
	if _, err := forward(t, stranger, "body", srv.URL); !errors.Is(err, ErrForward) || got != nil {
		t.Errorf("an unknown authority: %v", err)
	}
}

func TestNotForwarded(t *testing.T) {
	hurry := func(q *Request) { // some attempts, and no more
		ctx, cancel := context.WithTimeout(q.Context(), 1500*time.Millisecond)
		t.Cleanup(cancel)
		q.Request = q.WithContext(ctx)
	}
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		switch r.Header.Get("Content-Type") {
		case "declined":
			Decline(w.Header())
			w.WriteHeader(http.StatusServiceUnavailable)
		case "cut":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		case "large":
			_, _ = io.Copy(w, strings.NewReader(strings.Repeat("x", 2001)))
		}
	}))
	defer srv.Close()
	for _, c := range []struct {
		name, media, url string
		keys             keys
		change           func(*Request)
		want             error
		again            bool // it is tried until the time is up
	}{
		{name: "declined", media: "declined", url: srv.URL, want: ErrNotDone, change: hurry, again: true},
		{name: "nobody there", url: "http://127.0.0.1:1", want: ErrNotDone, change: hurry},
		{name: "another one writes", url: srv.URL, keys: keys{lost: true}, want: ErrLost},
		{name: "cut off", media: "cut", url: srv.URL, want: ErrLost},
		{name: "cut off, and may be repeated", media: "cut", url: srv.URL, change: func(q *Request) { q.Repeatable = true; hurry(q) }, want: ErrLost, again: true},
		{name: "too large an answer", media: "large", url: srv.URL, want: ErrForward},
		{name: "no key", url: srv.URL, keys: keys{down: true}, want: store.ErrUnavailable},
		{name: "forwarded before", url: srv.URL, change: func(q *Request) { q.Forwarded = true }, want: ErrNotHere},
	} {
		calls.Store(0)
		r := New(c.keys, nil)
		r.maxAnswer = 2000
		reply, err := forward(t, r, "", c.url, func(q *Request) {
			q.Header.Set("Content-Type", c.media)
			if c.change != nil {
				c.change(q)
			}
		})
		r.Close()
		late := errors.Is(err, context.DeadlineExceeded) && c.again // the time was up in the middle of an attempt
		if n := calls.Load(); reply != nil || !errors.Is(err, c.want) && !late || c.again != (n > 1) || errors.Is(c.want, ErrNotHere) && n > 0 {
			t.Errorf("%s: %v, %v after %d calls", c.name, reply, err, n)
		}
	}
	if reply, err := New(keys{}, nil).Do(&Request{Request: request(t, "")}, func() error { return io.EOF }); reply != nil || !errors.Is(err, io.EOF) {
		t.Error(reply, err)
	}
}

func TestIdentify(t *testing.T) {
	signed := func(change func(*http.Request)) *http.Request {
		var sent *http.Request
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Clone(context.WithoutCancel(r.Context())) }))
		defer srv.Close()
		rel := New(keys{}, nil)
		defer rel.Close()
		if _, err := forward(t, rel, "body", srv.URL); err != nil {
			t.Fatal(err)
		}
		change(sent)
		return sent
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		keys   keys
		body   string
		want   error
	}{
		{"as it was sent", func(*http.Request) {}, keys{}, "body", nil},
		{"another body", func(*http.Request) {}, keys{}, "other", ErrProof},
		{"another principal", func(r *http.Request) { r.Header.Set(principalHeader, "User:root") }, keys{}, "body", ErrProof},
		{"another path", func(r *http.Request) { r.URL.Path = "/buf.x/Other" }, keys{}, "body", ErrProof},
		{"another query", func(r *http.Request) { r.URL.RawQuery = "a=c" }, keys{}, "body", ErrProof},
		{"another replica", func(r *http.Request) { r.Header.Set(byHeader, "evil") }, keys{}, "body", ErrProof},
		{"too old", func(r *http.Request) { r.Header.Set(timeHeader, "1") }, keys{}, "body", ErrProof},
		{"no signature", func(r *http.Request) { r.Header.Del(signatureHeader) }, keys{}, "body", ErrProof},
		{"keys out of reach", func(*http.Request) {}, keys{down: true}, "body", store.ErrUnavailable},
	} {
		r, forwarded, err := New(c.keys, nil).Identify(signed(c.change), []byte(c.body))
		if !forwarded || !errors.Is(err, c.want) {
			t.Errorf("%s: %t, %v", c.name, forwarded, err)
		}
		if p := registry.Principal(r.Context()); (p == "User:ada") != (c.want == nil) {
			t.Errorf("%s: the principal is %s", c.name, p)
		}
	}
	if r, forwarded, err := New(keys{}, nil).Identify(request(t, ""), nil); forwarded || err != nil || registry.Principal(r.Context()) != "User:ada" {
		t.Error(forwarded, err)
	}
}
