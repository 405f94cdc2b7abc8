package relay

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"moldau/registry"
	"moldau/registry/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keys is a registry whose replicas share one key.
type keys struct {
	lost bool // the other replica no longer writes
	down bool // the keys can't be read
}

func proof(message []byte) []byte {
	h := hmac.New(sha256.New, []byte("key"))
	h.Write(message)
	return h.Sum(nil)
}

func (keys) Sign(_ context.Context, message []byte) (name string, _ []byte, err error) {
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

func request(t *testing.T, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/buf.x/Do?a=b", bytes.NewReader([]byte(body)))
	r.Header.Set("Content-Type", "application/proto")
	r.Header.Set("Authorization", "Bearer secret")
	return r.WithContext(registry.WithPrincipal(t.Context(), "User:ada"))
}

func TestForward(t *testing.T) {
	var got *http.Request
	there := New(keys{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if string(body) == "elsewhere" {
			w.Header().Set(NotHere, "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r, forwarded, err := there.Identify(r, body)
		if err != nil || !forwarded {
			t.Errorf("forwarded %t, %v", forwarded, err)
		}
		got = r
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("answer"))
	}))
	defer srv.Close()
	here := New(keys{})
	defer here.Close()
	reply, err := here.Forward(request(t, ""), []byte("body"), srv.URL, "Content-Type")
	if err != nil || reply.Status != http.StatusTeapot || string(reply.Body) != "answer" {
		t.Fatalf("%+v, %v", reply, err)
	}
	if p := registry.Principal(got.Context()); p != "User:ada" || got.URL.RawQuery != "a=b" || got.Header.Get("Content-Type") == "" || got.Header.Get("Authorization") != "" {
		t.Errorf("principal %s, %v", p, got.Header)
	}
	if _, err := here.Forward(request(t, ""), []byte("elsewhere"), srv.URL); !errors.Is(err, ErrNotDone) {
		t.Error(err)
	}
	if _, err := here.Forward(request(t, ""), nil, "http://127.0.0.1:1"); !errors.Is(err, ErrNotDone) {
		t.Error(err)
	}
	lost := New(keys{lost: true})
	if _, err := lost.Forward(request(t, ""), nil, srv.URL); !errors.Is(err, ErrNotDone) {
		t.Error(err)
	}
}

func TestIdentify(t *testing.T) {
	signed := func(change func(*http.Request)) *http.Request {
		r := request(t, "body")
		var sent *http.Request
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Clone(context.WithoutCancel(r.Context())) }))
		defer srv.Close()
		rel := New(keys{})
		defer rel.Close()
		if _, err := rel.Forward(r, []byte("body"), srv.URL); err != nil {
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
		{"too old", func(r *http.Request) { r.Header.Set(timeHeader, "1") }, keys{}, "body", ErrProof},
		{"no signature", func(r *http.Request) { r.Header.Del(signatureHeader) }, keys{}, "body", ErrProof},
		{"keys out of reach", func(*http.Request) {}, keys{down: true}, "body", store.ErrUnavailable},
	} {
		r, forwarded, err := New(c.keys).Identify(signed(c.change), []byte(c.body))
		if !forwarded || !errors.Is(err, c.want) {
			t.Errorf("%s: %t, %v", c.name, forwarded, err)
		}
		if p := registry.Principal(r.Context()); (p == "User:ada") != (c.want == nil) {
			t.Errorf("%s: the principal is %s", c.name, p)
		}
	}
	if r, forwarded, err := New(keys{}).Identify(request(t, ""), nil); forwarded || err != nil || registry.Principal(r.Context()) != "User:ada" {
		t.Error(forwarded, err)
	}
}
