package protobuf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"moldau/registry/format"
)

// shared is one format for all tests, so that what is built in is compiled once.
var shared = sync.OnceValue(func() *Format { return New(patient()) })

func mustParse(tb testing.TB, s format.Source) *Schema {
	tb.Helper()
	parsed, err := shared().Parse(context.Background(), s)
	if err != nil {
		tb.Fatalf("%s: %v", s.Text, err)
	}
	return parsed.(*Schema)
}

func source(text string, refs ...format.Resolved) format.Source {
	return format.Source{Text: text, References: refs, New: true}
}

// scenario reads a reader's and a writer's file from a script, each with the files it imports: parts after the first begin
// with a line of ===, whose they are, and the path of an import.
func scenario(t *testing.T, input string) (reader, writer format.Source) {
	t.Helper()
	parts := strings.Split(input, "=== ")
	reader = source(parts[0])
	for _, p := range parts[1:] {
		head, text, _ := strings.Cut(p, "\n")
		whose, path, imported := strings.Cut(head, " ")
		of := &reader
		if whose == "writer" {
			of = &writer
		}
		if imported {
			of.References = append(of.References, format.Resolved{Name: path, Text: text})
		} else {
			of.Text, of.New = text, true
		}
	}
	return reader, writer
}

// TestCheck runs testdata/check.txt.
func TestCheck(t *testing.T) {
	f := shared()
	datadriven.RunTest(t, "testdata/check.txt", func(t *testing.T, d *datadriven.TestData) string {
		reader, writer := scenario(t, d.Input)
		found, err := f.Check(context.Background(), mustParse(t, reader), mustParse(t, writer), format.CheckOptions{})
		if err != nil {
			return err.Error() + "\n"
		}
		if len(found) == 0 {
			return "compatible\n"
		}
		var b strings.Builder
		for _, i := range found {
			fmt.Fprintf(&b, "%s %s\n", i.Type, i.Path)
		}
		return b.String()
	})
}

func TestSentences(t *testing.T) {
	reader := mustParse(t, source(`syntax = "proto3"; package p; message M { string a = 1; }`))
	writer := mustParse(t, source(`syntax = "proto3"; package p; message M { int32 a = 1; } message N {}`))
	found, err := shared().Check(context.Background(), reader, writer, format.CheckOptions{Reader: "new", Writer: "old"})
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v", found, err)
	}
	want := []string{
		`{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"Field a is string in the new schema and int32 in the old schema,` +
			` which is written differently (path '#/M/1')"}`,
		`{errorType:"MESSAGE_REMOVED", description:"The new schema lacks message p.N of the old schema (path '#/N')"}`,
	}
	for i, f := range found {
		if f.String() != want[i] {
			t.Errorf("got  %s\nwant %s", f, want[i])
		}
	}
}

// TestStoredButBroken: what an older registry stored although a type of it is nowhere can be read but not compared.
func TestStoredButBroken(t *testing.T) {
	s := source(`syntax = "proto3"; message M { Nowhere n = 1; }`)
	f := shared()
	if _, err := f.Parse(context.Background(), s); !errors.Is(err, format.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	s.New = false
	old := mustParse(t, s)
	if want := "syntax = \"proto3\";\n\nmessage M {\n  Nowhere n = 1;\n}\n"; old.Canonical() != want {
		t.Errorf("got %s", old.Canonical())
	}
	if normalized, err := old.Normalized(); err != nil || normalized != old.Canonical() {
		t.Errorf("%s, %v", normalized, err)
	}
	if _, err := old.Formatted(format.FormSerialized); !errors.Is(err, format.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if old.Descriptor() != nil || old.FileDescriptorProto() != nil {
		t.Error("a schema that does not compile has a descriptor")
	}
	whole := mustParse(t, source(`message M {}`))
	if _, err := f.Check(context.Background(), old, whole, format.CheckOptions{}); !errors.Is(err, format.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	s.Text = `syntax = "proto3"; message M {`
	if _, err := f.Parse(context.Background(), s); !errors.Is(err, format.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// TestStoredWithoutImports: an import that only options came from was not looked at.
func TestStoredWithoutImports(t *testing.T) {
	s := source(`syntax = "proto3"; import "acme/options.proto"; message M { string a = 1 [(acme.secret) = true]; }`)
	f := shared()
	if _, err := f.Parse(context.Background(), s); err == nil || !strings.Contains(err.Error(), `import "acme/options.proto"`) {
		t.Fatalf("got %v", err)
	}
	s.New = false
	old := mustParse(t, s)
	found, err := f.Check(context.Background(), old, mustParse(t, source(`syntax = "proto3"; message M { int32 a = 1; }`)), format.CheckOptions{})
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := old.Normalized(); err != nil {
		t.Error(err)
	}
}

func TestForeign(t *testing.T) {
	s := mustParse(t, source(`message M {}`))
	for _, pair := range [][2]format.Schema{{s, other{s}}, {other{s}, s}} {
		if _, err := shared().Check(context.Background(), pair[0], pair[1], format.CheckOptions{}); !errors.Is(err, format.ErrForeign) {
			t.Errorf("got %v", err)
		}
	}
	if s.Equivalent(other{s}) {
		t.Error("a schema of another format is equivalent")
	}
}

// other is a schema of another format.
type other struct{ format.Schema }

// TestManyWays has 2^30 ways through imported messages to one change.
func TestManyWays(t *testing.T) {
	tower := func(leaf string) *Schema {
		var b strings.Builder
		b.WriteString("syntax = \"proto3\"; package q; message N0 { " + leaf + " v = 1; }\n")
		for i := 1; i <= 30; i++ {
			fmt.Fprintf(&b, "message N%d { N%d a = 1; N%d b = 2; }\n", i, i-1, i-1)
		}
		return mustParse(t, source(`syntax = "proto3"; import "r.proto"; message M { q.N30 n = 1; }`, format.Resolved{Name: "r.proto", Text: b.String()}))
	}
	found, err := shared().Check(context.Background(), tower("int32"), tower("string"), format.CheckOptions{})
	if err != nil || len(found) != 62 {
		t.Fatalf("%d findings, %v", len(found), err)
	}
}
