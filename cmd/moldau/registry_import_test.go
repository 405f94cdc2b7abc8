package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/registrytest"
)

// fill puts something of every kind into a registry: two contexts, references, deleted versions, ids with gaps, configs,
// modes.
func (s *registryShell) fill() {
	s.t.Helper()
	create := func(subject, text, kind string, more ...string) {
		s.t.Helper()
		s.ok(text, append([]string{"registry", "schema", "create", subject, "--schema-file", "-", "--type", kind}, more...)...)
	}
	create("gone", `"int"`, "avro")
	create("z.proto", `syntax = "proto3"; message Z { int32 n = 1; }`, "protobuf")
	create("a-value", `syntax = "proto3"; import "z.proto"; message A { Z z = 1; }`, "protobuf", "--reference", "z.proto=z.proto@1")
	create("hits", hitV1, "avro")
	create("hits", hitV2, "avro")
	create("dead", `{"type":"object"}`, "json")
	create(":.other:hits", hitV1, "avro")
	for _, args := range [][]string{
		{"subject", "delete", "gone", "--permanent"},
		{"schema", "delete", "hits@1"},
		{"subject", "delete", "dead"},
		{"compat", "set", "FULL", "hits"},
		{"compat", "set", "NONE", ":.other:"},
		{"compat", "set", "FORWARD"},
		{"mode", "set", "READONLY", "a-value"},
	} {
		s.ok("", append(append([]string{"registry"}, args...), "-y")...)
	}
}

func TestRegistryExportImport(t *testing.T) {
	s := newRegistryShell(t)
	s.fill()
	lines := s.ok("", "registry", "export")
	dir := filepath.Join(t.TempDir(), "backup")
	s.ok("", "registry", "export", "--dir", dir)
	file := filepath.Join(t.TempDir(), "all.ndjson")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string][]string{"file": {file}, "directory": {dir}, "registry": {"--from", s.url}, "input": {"-"}} {
		t.Run(name, func(t *testing.T) {
			to := &registryShell{&shell{t: t}, registrytest.Start(t).URL}
			t.Setenv("MOLDAU_REGISTRY", to.url)
			run := append([]string{"registry", "import"}, source...)
			if r := to.run(lines, append(run, "--dry-run")...); r.code != exit.OK || !strings.Contains(r.err, "6 schemas to take over, 0 are there") || !strings.Contains(r.err, "take over a-value@1 with the id 3") {
				t.Errorf("%+v", r)
			}
			if got := to.ok("", "registry", "subject", "list", "--deleted", "-o", "name"); got != "" {
				t.Fatalf("the dry run did something: %s", got)
			}
			if r := to.run(lines, append(run, "-y")...); r.code != exit.OK || !strings.Contains(r.err, "6 schemas taken over, 0 were there, 2 deleted softly") {
				t.Fatalf("%+v", r)
			}
			if got := to.ok("", "registry", "export"); got != lines {
				t.Errorf("got\n%s\nwant\n%s", got, lines)
			}
			if r := to.run(lines, append(run, "-y")...); r.code != exit.OK || !strings.Contains(r.err, "0 schemas taken over, 6 were there, 0 deleted softly") {
				t.Errorf("again: %+v", r)
			}
			other := strings.Replace(lines, `"id":5`, `"id":50`, 1)
			to.fails(exit.Failed, "hits@2 is there with the id 5, and comes with 50\nnothing was done", other, "registry", "import", "-", "-y")
		})
	}
	if got := s.ok("", "registry", "export", "--schemas-only", "--prefix", "z"); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"subject":"z.proto"`) {
		t.Error(got)
	}
	if got := s.ok("", "registry", "export"); got != lines {
		t.Error("exporting changed something")
	}
	for _, bad := range []string{`{"kind":"schema","subject":"s"}`, `{"kind":"else"}`, `{`, `{"kind":"mode"}`} {
		s.fails(exit.Failed, "entry 1 of the archive", bad, "registry", "import", "-", "-y")
	}
	s.fails(exit.Usage, "want one of FILE, DIR and --from", "", "registry", "import")
	s.fails(exit.Usage, "no such file", "", "registry", "import", "/does/not/exist")
}

// An import that breaks off leaves no subject in the mode IMPORT, and the same command goes on.
func TestRegistryImportGoesOn(t *testing.T) {
	s := newRegistryShell(t)
	s.fill()
	lines := s.ok("", "registry", "export")
	server := registrytest.Start(t)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/versions") && writes.Add(1) == 4 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	t.Setenv("MOLDAU_REGISTRY", front.URL)
	s.fails(exit.Unhealthy, "the same command goes on", lines, "registry", "import", "-", "-y")
	if got := s.ok("", "registry", "export"); strings.Contains(got, "IMPORT") || strings.Count(got, `"kind":"schema"`) != 3 {
		t.Errorf("left behind: %s", got)
	}
	if r := s.run(lines, "registry", "import", "-", "-y"); r.code != exit.OK || !strings.Contains(r.err, "3 schemas taken over, 3 were there") {
		t.Errorf("%+v", r)
	}
	if got := s.ok("", "registry", "export"); got != lines {
		t.Errorf("got\n%s\nwant\n%s", got, lines)
	}
}

// A registry without contexts, and without the requests that not all have, is read all the same.
func TestRegistryOfAnotherKind(t *testing.T) {
	s := newRegistryShell(t)
	s.ok(hitV1, "registry", "schema", "create", "a", "--schema-file", "-", "--type", "avro")
	s.ok(hitV2, "registry", "schema", "create", "a", "--schema-file", "-", "--type", "avro")
	s.ok(hitV2, "registry", "schema", "create", "b", "--schema-file", "-", "--type", "avro")
	s.ok("", "registry", "schema", "delete", "a@2", "-y")
	want := s.ok("", "registry", "export")
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/contexts" || r.URL.Path == "/schemas" {
			http.NotFound(w, r)
			return
		}
		if q := r.URL.Query(); q.Get("subjectPrefix") == ":*:" {
			_, _ = w.Write([]byte("[]"))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	t.Setenv("MOLDAU_REGISTRY", front.URL)
	if got := s.ok("", "registry", "export"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for flags, want := range map[string]string{"": "a@1\nb@1\n", "--deleted": "a@1\na@2\nb@1\n", "--latest": "a@1\nb@1\n", "a": "a@1\n"} {
		args := []string{"registry", "schema", "list", "-o", "name"}
		if flags != "" {
			args = append(args, flags)
		}
		if got := s.ok("", args...); got != want {
			t.Errorf("%s: %q, want %q", flags, got, want)
		}
	}
}
