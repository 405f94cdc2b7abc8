package protobuf

import (
	"context"
	"errors"
	"io/fs"
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
	texts := []string{nested, "edition = \"2023\"; message M { int32 a = 1; }"}
	dir := filepath.Join(input.Dir(), "schemas", "proto", "google", "type")
	if _, err := os.Stat(dir); err == nil {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			texts = append(texts, readFile(f, path))
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	for part := range strings.SplitSeq(readFile(f, "testdata/check.txt"), "\ncheck\n") {
		text, _, _ := strings.Cut(part, "=== ")
		texts = append(texts, text)
	}
	if s, err := mustParse(f, source(nested)).Formatted(format.FormSerialized); err == nil {
		texts = append(texts, s)
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
		f.Add(s)
	}
	p := shared()
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded(t, time.Now())
		s, err := p.Parse(context.Background(), source(text))
		if err != nil {
			if !errors.Is(err, format.ErrInvalid) && !errors.Is(err, format.ErrTooLarge) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		again, err := p.Parse(context.Background(), source(s.Canonical()))
		if err != nil {
			t.Fatalf("%q does not read back: %v", s.Canonical(), err)
		}
		if again.Canonical() != s.Canonical() {
			t.Fatalf("stored as %q, reads back as %q", s.Canonical(), again.Canonical())
		}
		for _, form := range []string{format.FormSerialized, format.FormIgnoreExtensions} {
			if _, err := s.Formatted(form); err != nil {
				t.Fatal(err)
			}
		}
		normalized, err := s.Normalized()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Parse(context.Background(), source(normalized)); err != nil {
			t.Fatalf("normalized to %q, which does not read back: %v", normalized, err)
		}
		_ = s.Tags()
		if found, err := p.Check(context.Background(), s, again, format.CheckOptions{}); err != nil || len(found) > 0 {
			t.Fatalf("%q is not compatible with itself: %v, %v", s.Canonical(), found, err)
		}
	})
}

// FuzzCheck: any two schemas can be compared in bounded time, with the same answer every time.
func FuzzCheck(f *testing.F) {
	texts := seeds(f)
	for i, s := range texts {
		f.Add(s, texts[(i+1)%len(texts)])
	}
	p := shared()
	f.Fuzz(func(t *testing.T, a, b string) {
		defer bounded(t, time.Now())
		r, err := p.Parse(context.Background(), source(a))
		if err != nil {
			return
		}
		w, err := p.Parse(context.Background(), source(b))
		if err != nil {
			return
		}
		first, err1 := p.Check(context.Background(), r, w, format.CheckOptions{})
		second, err2 := p.Check(context.Background(), r, w, format.CheckOptions{})
		if (err1 == nil) != (err2 == nil) || len(first) != len(second) {
			t.Fatalf("answers differ: %v %v, %v %v", first, err1, second, err2)
		}
	})
}
