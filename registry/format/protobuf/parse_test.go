package protobuf

import (
	"bufio"
	"context"
	"crypto/md5" //nolint:gosec // the sum only names a text in the table of expectations
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/registry/format"
	"moldau/test/input"
)

// TestJava holds texts against what Confluent's provider (8.4) answered for them.
func TestJava(t *testing.T) {
	f, err := os.Open("testdata/java.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c struct {
			Text                              string
			Refused                           bool
			Canonical, Normalized, Name, Tags string
			Plain                             string `json:"ignore_extensions"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		parsed, err := shared().Parse(context.Background(), source(c.Text))
		if why := strictly[c.Text]; c.Refused || why != "" {
			if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s\nis refused there or by the compiler, we answer %v", c.Text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s\nis accepted there, we answer %v", c.Text, err)
			continue
		}
		s := parsed.(*Schema)
		normalized, err := s.Normalized()
		if err != nil {
			t.Error(err)
		}
		plain, err := s.Formatted("Ignore_Extensions")
		if err != nil {
			t.Error(err)
		}
		same(t, "canonical", c.Text, s.Canonical(), c.Canonical)
		same(t, "normalized", c.Text, normalized, c.Normalized)
		same(t, "plain", c.Text, plain, c.Plain)
		same(t, "name", c.Text, s.Name(), c.Name)
		same(t, "tags", c.Text, tagList(s), c.Tags)
		stable(t, s, nil)
	}
	if n < 20 {
		t.Errorf("only %d texts were looked at", n)
	}
}

// strictly are texts that registries accept and the compiler of the language refuses, with its reason.
var strictly = map[string]string{
	`message M { string a = 1; }`:            "field has no label",
	"syntax = \"proto3\"; message \u00c4 {}": "invalid character",
}

func tagList(s *Schema) string {
	var all []string
	for _, e := range s.Tags() {
		all = append(all, e.Entity.Type+":"+e.Entity.Path+"=["+strings.Join(e.Tags, ", ")+"]")
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func same(t *testing.T, what, of, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s of %s\n got  %s\n want %s", what, of, got, want)
	}
}

// stable checks that every form of a schema reads back as that schema.
func stable(t *testing.T, s *Schema, refs []format.Resolved) {
	t.Helper()
	normalized, err := s.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	serialized, err := s.Formatted(format.FormSerialized)
	if err != nil {
		t.Fatal(err)
	}
	text := mustParse(t, source(s.Canonical(), refs...))
	same(t, "stored text", "its own", text.Canonical(), s.Canonical())
	for what, form := range map[string]string{"stored": s.Canonical(), "normalized": normalized, "serialized": serialized} {
		again := mustParse(t, source(form, refs...))
		n, err := again.Normalized()
		if err != nil || n != normalized {
			t.Errorf("the %s form normalizes to another text (%v)\n got  %s\n want %s", what, err, n, normalized)
		}
		if !again.Equivalent(s) || !s.Equivalent(again) {
			t.Errorf("the %s form is not equivalent", what)
		}
		for _, pair := range [][2]format.Schema{{s, s}, {s, again}, {again, s}} {
			found, err := shared().Check(context.Background(), pair[0], pair[1], format.CheckOptions{})
			if err != nil || len(found) > 0 {
				t.Errorf("the %s form is not compatible: %v, %v", what, found, err)
			}
		}
	}
}

// TestRealSchemas holds every real file against its expectation.
func TestRealSchemas(t *testing.T) {
	dir := input.Schemas(t, "proto")
	want := readTable(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		t.Run(name, func(t *testing.T) {
			row, ok := want[name]
			if !ok {
				t.Fatal("the table has no expectation")
			}
			realSchema(t, dir, path, row)
		})
		delete(want, name)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%d files are missing, %v", len(want), err)
	}
}

func realSchema(t *testing.T, dir, path string, row []string) {
	s := source(readFile(t, path))
	if _, refs, referring := strings.Cut(row[0], " "); referring {
		_, err := shared().Parse(context.Background(), s)
		if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), "is not among the references") {
			t.Errorf("without references: %v", err)
		}
		for r := range strings.SplitSeq(refs, ",") {
			s.References = append(s.References, format.Resolved{Name: r, Text: readFile(t, filepath.Join(dir, r))})
		}
	}
	parsed := mustParse(t, s)
	if sum(parsed.Canonical()) != row[1] {
		t.Errorf("another text is stored elsewhere than %s", parsed.Canonical())
	}
	normalized, err := parsed.Normalized()
	if err != nil || sum(normalized) != row[2] {
		t.Errorf("elsewhere it normalizes to another text than %s (%v)", normalized, err)
	}
	stable(t, parsed, s.References)
}

func readTable(t *testing.T) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.Lines(readFile(t, "testdata/files.tsv")) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); len(cells) > 2 {
			rows[cells[0]] = cells[1:]
		}
	}
	return rows
}

func readFile(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func sum(text string) string {
	s := md5.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(s[:])
}

// The options that name subjects are built in: a text with them needs no reference.
func TestSubjectOptionsAreBuiltIn(t *testing.T) {
	s := mustParse(t, source(`syntax = "proto3"; import "moldau/kafka/v1/subject.proto"; message M { option (moldau.kafka.v1.subject) = {topic: "t"}; }`))
	if !strings.Contains(s.Canonical(), `topic: "t"`) {
		t.Error(s.Canonical())
	}
}
