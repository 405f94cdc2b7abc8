package jsonschema

import (
	"crypto/md5" //nolint:gosec // the registry identifies schemas by it
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/registry/format"
	"moldau/test/input"
)

// TestFiles parses every real schema and holds what is stored against what Java stores. What registers reads back as
// itself, and is compatible with itself and its normalized form in both directions by either policy.
func TestFiles(t *testing.T) {
	dir := input.Schemas(t, "json")
	rows := readTable(t, "testdata/files.tsv")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(rows) {
		t.Errorf("%d files, %d expectations", len(files), len(rows))
	}
	for _, file := range files {
		t.Run(file.Name(), func(t *testing.T) {
			row, ok := rows[file.Name()]
			if !ok {
				t.Fatal("there is no expectation")
			}
			text := readFile(t, filepath.Join(dir, file.Name()))
			s, err := New(patient()).Parse(t.Context(), format.Source{Text: text, New: true})
			if row[2] == "refused" {
				if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), row[3]) {
					t.Errorf("got %v, want it refused because of %s", err, row[3])
				}
				s, err = New(patient()).Parse(t.Context(), format.Source{Text: text})
			}
			if err != nil {
				t.Fatal(err)
			}
			checkTexts(t, s, row)
			if row[2] == "registers" {
				checkSelf(t, s)
			}
		})
	}
}

func checkTexts(t *testing.T, s format.Schema, row []string) {
	t.Helper()
	normalized, err := s.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	if got := sum(s.Canonical()); got != row[0] {
		t.Errorf("canonical text: %s, want %s", got, row[0])
	}
	if got := sum(normalized); got != row[1] {
		t.Errorf("normalized text: %s, want %s", got, row[1])
	}
}

func checkSelf(t *testing.T, s format.Schema) {
	t.Helper()
	f := New(patient())
	parse := func(text string) format.Schema {
		again, err := f.Parse(t.Context(), format.Source{Text: text, New: true})
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	again := parse(s.Canonical())
	if again.Canonical() != s.Canonical() || !again.Equivalent(s) {
		t.Error("the canonical text does not read back as itself")
	}
	normalized, err := s.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []format.Policy{format.Strict, format.Lenient} {
		for _, p := range [][2]format.Schema{{s, s}, {s, again}, {s, parse(normalized)}, {parse(normalized), s}} {
			found, err := f.Check(t.Context(), p[0], p[1], format.CheckOptions{Policy: policy})
			if err != nil || len(found) > 0 {
				t.Errorf("policy %d: not compatible with itself: %v %v", policy, found, err)
			}
		}
	}
}

// TestPrint holds texts against those that Java makes of them.
func TestPrint(t *testing.T) {
	for text, row := range readTable(t, "testdata/print.tsv") {
		v, err := readJSON(text, 10)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := printJSON(v, false); got != row[0] {
			t.Errorf("%s: %s, want %s", text, got, row[0])
		}
		if got := printJSON(v, true); got != row[1] {
			t.Errorf("%s: sorted: %s, want %s", text, got, row[1])
		}
	}
}

// readTable reads lines of cells by their first one.
func readTable(t *testing.T, path string) map[string][]string {
	t.Helper()
	rows := make(map[string][]string)
	for line := range strings.Lines(readFile(t, path)) {
		if cells := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(cells) > 1 {
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
