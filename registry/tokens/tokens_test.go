package tokens

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/registry"
)

func TestPrincipal(t *testing.T) {
	tokens, err := parse([]byte("# who\n\nada  secret-of-ada\n bob\tsecret-of-bob \n"))
	if err != nil {
		t.Fatal(err)
	}
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for _, c := range []struct {
		header, want string
		bad          bool
	}{
		{"", registry.Anonymous, false},
		{"Bearer secret-of-ada", "User:ada", false},
		{"bearer  secret-of-bob", "User:bob", false},
		{"Bearer secret-of-eve", "", true},
		{"Bearer ", "", true},
		{basic("ada:secret-of-ada"), "User:ada", false},
		{basic(":secret-of-ada"), "User:ada", false},
		{basic("bob:secret-of-ada"), "", true},
		{"Basic %%%", "", true},
		{"Digest secret-of-ada", "", true},
	} {
		got, err := tokens.Principal(c.header)
		if got != c.want || c.bad != (err != nil) {
			t.Errorf("%q: %q, %v", c.header, got, err)
		}
	}
}

func TestFileMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "# nothing\n", "no token"},
		{"no user", "secret-of-ada\n", "line 1"},
		{"three words", "ada b c\n", "line 1"},
		{"short", "\nada short\n", "line 2"},
		{"at sign", "ada secret@of-ada\n", "line 1"},
		{"nobody", "ANONYMOUS secret-of-nobody\n", "line 1"},
		{"twice", "ada secret-of-ada\nbob secret-of-ada\n", "line 2"},
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file was read")
	}
}

func TestGuard(t *testing.T) {
	tokens, err := parse([]byte("ada secret-of-ada"))
	if err != nil {
		t.Fatal(err)
	}
	h := tokens.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, registry.Principal(r.Context()))
	}))
	for _, c := range []struct {
		header string
		status int
		body   string
	}{
		{"Bearer secret-of-ada", 200, "User:ada"},
		{"", 200, registry.Anonymous},
		{"Bearer x", 401, "unauthenticated"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/subjects", nil)
		r.Header.Set("Authorization", c.header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%q: %d %s", c.header, w.Code, w.Body)
		}
	}
}
