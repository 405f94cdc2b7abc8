package jsonschema

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moldau/registry/format"
	"moldau/test/input"
)

// seeds answers the real schemas, where they are, and those of the scripts.
func seeds(f *testing.F) []string {
	f.Helper()
	var texts []string
	files, err := filepath.Glob(filepath.Join(input.Dir(), "schemas", "json", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	for line := range strings.Lines(readFile(f, "testdata/compare.txt")) {
		if strings.HasPrefix(line, "{") {
			texts = append(texts, line)
		}
	}
	return append(texts, tagged, tangle(3, "1"))
}

// bounded fails a call that took much longer than the limits say; a loaded machine gets its share.
func bounded(t *testing.T, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// FuzzParse: whatever the text is, there is an answer; what is accepted is stored in a form that reads back as itself, and
// its tags can be taken off and put back.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, true)
	}
	f.Add(`{"a":"\ud800\udc00\udfff","b":-0.00e-3}`, false)
	schemas := New(patient())
	f.Fuzz(func(t *testing.T, text string, isNew bool) {
		defer bounded(t, time.Now())
		s, err := schemas.Parse(t.Context(), format.Source{Text: text, New: isNew})
		if err != nil {
			if !errors.Is(err, format.ErrInvalid) && !errors.Is(err, format.ErrTooLarge) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		again, err := schemas.Parse(t.Context(), format.Source{Text: s.Canonical(), New: isNew})
		if err != nil || again.Canonical() != s.Canonical() {
			t.Fatalf("%s does not read back as itself: %v", s.Canonical(), err)
		}
		normalized, err := s.Normalized()
		if err != nil {
			t.Fatal(err)
		}
		if v, err := readJSON(normalized, 1000); err != nil || printJSON(v, true) != normalized {
			t.Fatalf("%s does not read back as itself: %v", normalized, err)
		}
		if _, err := s.Retagged(nil, s.Tags()); err != nil {
			t.Errorf("tags: %v", err)
		}
		if v := s.Validate(true); v != nil && !errors.Is(v, format.ErrInvalid) && !errors.Is(v, format.ErrTooLarge) {
			t.Errorf("validate: %v", v)
		}
	})
}

// FuzzCheck: any two schemas compare within their limits, every finding has words, and what is compatible strictly is
// compatible leniently. A schema is compatible with itself.
func FuzzCheck(f *testing.F) {
	texts := seeds(f)
	for i, s := range texts {
		f.Add(s, texts[(i+1)%len(texts)])
	}
	schemas := New(patient())
	f.Fuzz(func(t *testing.T, one, other string) {
		defer bounded(t, time.Now())
		a, err := schemas.Parse(t.Context(), format.Source{Text: one, New: true})
		if err != nil {
			return
		}
		b, err := schemas.Parse(t.Context(), format.Source{Text: other, New: true})
		if err != nil {
			return
		}
		for _, p := range [][2]format.Schema{{a, b}, {b, a}, {a, a}, {b, b}} {
			strict := checked(t, schemas, p, format.Strict)
			lenient := checked(t, schemas, p, format.Lenient)
			if strict >= 0 && (lenient > strict || p[0] == p[1] && strict > 0) {
				t.Errorf("%d found strictly, %d leniently", strict, lenient)
			}
		}
	})
}

// checked answers how many findings there are, -1 and no complaint where a limit was reached.
func checked(t *testing.T, schemas *Format, p [2]format.Schema, policy format.Policy) int {
	t.Helper()
	found, err := schemas.Check(t.Context(), p[0], p[1], format.CheckOptions{Policy: policy})
	if err != nil && !errors.Is(err, format.ErrTooLarge) && !errors.Is(err, errMatchTime) {
		t.Errorf("an error of no kind: %v", err)
	}
	if err != nil {
		return -1
	}
	for _, i := range found {
		if i.Type == "" || !strings.HasPrefix(i.Path, "#/") || i.Description == "" {
			t.Errorf("a finding without words: %+v", i)
		}
	}
	return len(found)
}
