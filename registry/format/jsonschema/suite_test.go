//go:build schemasuite

package jsonschema

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moldau/registry/format"
)

// remoteURL is where the suite's own documents are by its tests.
const remoteURL = "http://localhost:1234/"

// suiteDrafts is the drafts of the suite with the address that a schema of theirs would name.
var suiteDrafts = []struct{ dir, url string }{
	{"draft4", "http://json-schema.org/draft-04/schema#"},
	{"draft6", "http://json-schema.org/draft-06/schema#"},
	{"draft7", "http://json-schema.org/draft-07/schema#"},
	{"draft2019-09", "https://json-schema.org/draft/2019-09/schema"},
	{"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
}

// TestSuite runs all required tests of the JSON Schema Test Suite from where MOLDAU_JSON_SUITE says it is: a directory with
// tests and remotes in it.
func TestSuite(t *testing.T) {
	dir := os.Getenv("MOLDAU_JSON_SUITE")
	if dir == "" {
		t.Skip("MOLDAU_JSON_SUITE names no directory")
	}
	remotes := suiteRemotes(t, dir)
	for _, draft := range suiteDrafts {
		t.Run(draft.dir, func(t *testing.T) {
			r := suiteRun{url: draft.url, remotes: ofDraft(remotes, draft.dir)}
			files, err := filepath.Glob(filepath.Join(dir, "tests", draft.dir, "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			for _, file := range files {
				r.file(t, file)
			}
			t.Logf("%s: %d files, %d groups, %d tests, %d passed", draft.dir, len(files), r.groups, r.tests, r.passed)
		})
	}
}

// suiteRemotes answers the documents that the suite's schemas refer to, as references by their address.
func suiteRemotes(t *testing.T, dir string) []format.Resolved {
	t.Helper()
	var found []format.Resolved
	root := filepath.Join(dir, "remotes")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		found = append(found, format.Resolved{Name: remoteURL + filepath.ToSlash(name), Text: string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

type suiteRun struct {
	url                   string
	remotes               []format.Resolved
	groups, tests, passed int
}

func (r *suiteRun) file(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := readJSON(string(text), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups.items {
		r.groups++
		name := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file) + "/" + group.get("description").text
		source := group.get("schema")
		if source.kind == object && source.get("$schema") == nil {
			source.set("$schema", &value{kind: str, text: r.url})
		}
		s, err := New(patient()).Parse(t.Context(), format.Source{
			Text: printJSON(source, false), References: r.remotes, New: true,
		})
		for _, test := range group.get("tests").items {
			r.test(t, name+"/"+test.get("description").text, s, err, test)
		}
	}
}

// ofDraft leaves the documents of other drafts out.
func ofDraft(remotes []format.Resolved, draft string) []format.Resolved {
	return slices.DeleteFunc(slices.Clone(remotes), func(remote format.Resolved) bool {
		dir, _, nested := strings.Cut(strings.TrimPrefix(remote.Name, remoteURL), "/")
		return nested && dir != draft && (dir == "v1" || strings.HasPrefix(dir, "draft"))
	})
}

func (r *suiteRun) test(t *testing.T, name string, s format.Schema, err error, test *value) {
	t.Helper()
	r.tests++
	want := test.get("valid").text == "true"
	if err == nil {
		err = s.(*Schema).Accept(printJSON(test.get("data"), false))
	}
	if met := err == nil && want || errors.Is(err, ErrRejected) && !want; !met {
		t.Errorf("%s: want valid %v, got %v", name, want, err)
		return
	}
	r.passed++
}
