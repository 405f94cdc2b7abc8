package avro

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moldau/registry/format"
	"moldau/test/input"
)

func seeds(f *testing.F) []string {
	f.Helper()
	var texts []string
	files, err := filepath.Glob(filepath.Join(input.Dir(), "schemas", "avro", "*"))
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
	script, err := os.ReadFile("testdata/check.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		if strings.HasPrefix(line, `{`) || strings.HasPrefix(line, `[`) {
			texts = append(texts, line)
		}
	}
	return texts
}

// bounded fails a call that took much longer than the limit of format.Limits.
func bounded(t *testing.T, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// FuzzParse: whatever the text is, there is an answer; what is accepted is stored in a form that reads back as itself.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, true)
	}
	f.Add(tagged, false)
	avro := New(patient())
	f.Fuzz(func(t *testing.T, text string, isNew bool) {
		defer bounded(t, time.Now())
		s, err := avro.Parse(context.Background(), format.Source{Text: text, New: isNew})
		if err != nil {
			if !errors.Is(err, format.ErrInvalid) && !errors.Is(err, format.ErrTooLarge) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		again, err := avro.Parse(context.Background(), format.Source{Text: s.Canonical()})
		if err != nil {
			t.Fatalf("%s does not read back: %v", s.Canonical(), err)
		}
		if again.Canonical() != s.Canonical() {
			t.Fatalf("stored as %s, reads back as %s", s.Canonical(), again.Canonical())
		}
		normalized, err := s.Normalized()
		if err != nil {
			t.Fatal(err)
		}
		third, err := avro.Parse(context.Background(), format.Source{Text: normalized})
		if err != nil {
			t.Fatalf("normalized to %s, which does not read back: %v", normalized, err)
		}
		if twice, err := third.Normalized(); err != nil || twice != normalized {
			t.Fatalf("normalized to %s, then to %s (%v)", normalized, twice, err)
		}
		_ = s.Tags()
		if found, err := avro.Check(context.Background(), s, again, format.CheckOptions{}); err == nil && len(found) > 0 {
			t.Fatalf("%s is not compatible with itself: %v", s.Canonical(), found)
		}
	})
}

// FuzzCheck: any two schemas can be compared in bounded time, and what is no obstacle stays none when asked again.
func FuzzCheck(f *testing.F) {
	texts := seeds(f)
	for i, s := range texts {
		f.Add(s, texts[(i+1)%len(texts)])
	}
	avro := New(patient())
	f.Fuzz(func(t *testing.T, a, b string) {
		defer bounded(t, time.Now())
		r, err := avro.Parse(context.Background(), format.Source{Text: a})
		if err != nil {
			return
		}
		w, err := avro.Parse(context.Background(), format.Source{Text: b})
		if err != nil {
			return
		}
		first, err1 := avro.Check(context.Background(), r, w, format.CheckOptions{})
		second, err2 := avro.Check(context.Background(), r, w, format.CheckOptions{})
		if (err1 == nil) != (err2 == nil) || len(first) != len(second) {
			t.Fatalf("answers differ: %v %v, %v %v", first, err1, second, err2)
		}
	})
}
