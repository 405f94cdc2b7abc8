package avro

import (
	"bufio"
	"context"
	"crypto/md5" //nolint:gosec // the sum only names a text in the table of expectations
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/registry/format"
	"moldau/test/input"
)

func mustParse(tb testing.TB, s format.Source) *Schema {
	tb.Helper()
	parsed, err := New(patient()).Parse(context.Background(), s)
	if err != nil {
		tb.Fatalf("%s: %v", s.Text, err)
	}
	return parsed.(*Schema)
}

// TestJava holds texts against the answers that Java's parser (1.12.1) gave for them, as a registry calls it.
func TestJava(t *testing.T) {
	f, err := os.Open("testdata/java.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c struct {
			Text                            string
			Refs                            []string
			New, Refused                    bool
			Canonical, Normalized, Resolved string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		s := format.Source{Text: c.Text, New: c.New}
		for i, r := range c.Refs {
			s.References = append(s.References, format.Resolved{Name: fmt.Sprint(i), Text: r})
		}
		parsed, err := New(patient()).Parse(context.Background(), s)
		if c.Refused {
			if !errors.Is(err, format.ErrInvalid) {
				t.Errorf("new %v, %s: Java refuses it, we answer %v", c.New, c.Text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("new %v, %s: Java accepts it, we answer %v", c.New, c.Text, err)
			continue
		}
		if c.Normalized == "" {
			c.Normalized = c.Canonical
		}
		if c.Resolved == "" {
			c.Resolved = c.Canonical
		}
		same(t, "canonical", c.Text, parsed.Canonical(), c.Canonical)
		resolved, err := parsed.Formatted(format.FormResolved)
		if err != nil {
			t.Error(err)
		}
		same(t, "resolved", c.Text, resolved, c.Resolved)
		if _, deviates := deviations[c.Text]; deviates {
			continue
		}
		normalized, err := parsed.Normalized()
		if err != nil {
			t.Error(err)
		}
		same(t, "normalized", c.Text, normalized, c.Normalized)
	}
	if n < 100 {
		t.Errorf("only %d texts were looked at", n)
	}
}

func same(t *testing.T, what, of, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s text of %s\n got  %s\n want %s", what, of, got, want)
	}
}

// TestNormalizedKeeps shows where we part from what Java makes of a text when it normalizes: nothing that means something
// is lost.
func TestNormalizedKeeps(t *testing.T) {
	for text, want := range deviations {
		got, err := mustParse(t, format.Source{Text: text}).Normalized()
		if err != nil {
			t.Error(err)
		}
		same(t, "normalized", text, got, want)
	}
}

// TestRealSchemas holds every file of the real schemas against what Java made of it.
func TestRealSchemas(t *testing.T) {
	dir := input.Schemas(t, "avro")
	want := readTable(t)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < len(want) {
		t.Fatalf("%d files for %d expectations: %v", len(files), len(want), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			row, ok := want[filepath.Base(path)]
			if !ok {
				t.Fatal("the table has no expectation")
			}
			realSchema(t, dir, path, row)
		})
	}
}

func realSchema(t *testing.T, dir, path string, row []string) {
	s := format.Source{Text: readFile(t, path), New: true}
	verdict, refs, _ := strings.Cut(row[0], " ")
	f := New(patient())
	if verdict != "registers" {
		if _, err := f.Parse(context.Background(), s); !errors.Is(err, format.ErrInvalid) {
			t.Fatalf("got %v, want a refusal", err)
		} else if verdict == "refused" && !strings.Contains(err.Error(), row[1]) {
			t.Fatalf("%v does not say %q", err, row[1])
		}
		if verdict == "refused" {
			return
		}
		for r := range strings.SplitSeq(refs, ",") {
			s.References = append(s.References, format.Resolved{Name: r, Text: readFile(t, filepath.Join(dir, r))})
		}
	}
	parsed := mustParse(t, s)
	if sum(parsed.Canonical()) != row[1] {
		t.Errorf("Java prints another text than %s", parsed.Canonical())
	}
	normalized, err := parsed.Normalized()
	if err != nil || sum(normalized) != row[2] {
		t.Errorf("Java normalizes to another text than %s (%v)", normalized, err)
	}
	again := mustParse(t, format.Source{Text: parsed.Canonical(), References: s.References})
	if again.Canonical() != parsed.Canonical() || !again.Equivalent(parsed) {
		t.Error("the stored text does not read back as the same schema")
	}
	for _, pair := range [][2]format.Schema{{parsed, parsed}, {parsed, again}, {again, parsed}} {
		if found, err := f.Check(context.Background(), pair[0], pair[1], format.CheckOptions{}); err != nil || len(found) > 0 {
			t.Errorf("not compatible with itself: %v, %v", found, err)
		}
	}
	if _, err := parsed.Codec(); err != nil {
		t.Errorf("the codec does not take what we accept: %v", err)
	}
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
