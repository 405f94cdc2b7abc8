package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// What is sent to the registry of the same process is answered as over a socket.
func TestRegistryTransport(t *testing.T) {
	client := &http.Client{Transport: registryTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/panic" {
			panic("a fault")
		}
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("X-Path", r.URL.EscapedPath()+"?"+r.URL.RawQuery)
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
		}
		_, _ = w.Write(body)
	})}}
	send := func(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
		q, err := http.NewRequestWithContext(ctx, method, "http://registry"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		return client.Do(q)
	}
	resp, err := send(t.Context(), http.MethodPost, "/a%2Fb?c=d", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusTeapot || string(body) != "text" || resp.Header.Get("X-Path") != "/a%2Fb?c=d" {
		t.Errorf("%v %q, %v", resp, body, err)
	}
	if resp.Status != "418 I'm a teapot" {
		t.Errorf("status %q", resp.Status)
	}
	if resp, err = send(t.Context(), http.MethodGet, "/panic", nil); err == nil || !strings.Contains(err.Error(), "a fault") {
		t.Errorf("%v, %v", resp, err)
		_ = resp.Body.Close()
	}
	if resp, err = send(t.Context(), http.MethodGet, "/", nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if resp, err = send(ctx, http.MethodGet, "/slow", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", resp, err)
		_ = resp.Body.Close()
	}
}

// The gateway encodes by the registry beside it without being told where that is.
func TestGatewayFindsRegistry(t *testing.T) {
	o, out := options(filepath.Join(t.TempDir(), "data"))
	s := start(t, o, out)
	for body, want := range map[string]string{
		`{"value_schema":{"schema":"\"string\"","register":true},"records":[{"value":"x"}]}`: `"offset":"0"`,
		`{"value_schema":{"id":99},"records":[{"value":"x"}]}`:                               "SCHEMA_NOT_FOUND",
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addresses["http"]+"/v1/topics/t/records", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %s, %v, want %s", body, answer, err, want)
		}
	}
}
