package avro

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"moldau/registry/format"
)

// TestCheck runs testdata/check.txt: a reader's schema on the first line, a writer's on the second, then what keeps the one
// from reading the other: kind, path and what else is known.
func TestCheck(t *testing.T) {
	f := New(patient())
	datadriven.RunTest(t, "testdata/check.txt", func(t *testing.T, d *datadriven.TestData) string {
		readerText, writerText, _ := strings.Cut(d.Input, "\n")
		reader := mustParse(t, format.Source{Text: readerText})
		writer := mustParse(t, format.Source{Text: writerText})
		found, err := f.Check(context.Background(), reader, writer, format.CheckOptions{})
		if err != nil {
			return err.Error() + "\n"
		}
		if len(found) == 0 {
			return "compatible\n"
		}
		var b strings.Builder
		for _, i := range found {
			fmt.Fprintf(&b, "%s %s (%s)\n", i.Type, i.Path, i.Additional)
		}
		return b.String()
	})
}

func TestSentences(t *testing.T) {
	reader := mustParse(t, format.Source{Text: `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}`})
	writer := mustParse(t, format.Source{Text: `{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}`})
	o := format.CheckOptions{Reader: "new", Writer: "old"}
	found, err := New(patient()).Check(context.Background(), reader, writer, o)
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v", found, err)
	}
	want := []string{
		`{errorType:'TYPE_MISMATCH', description:'The new schema has an int where the old schema has a string` +
			` (path '/fields/0/type')', additionalInfo:'reader type: INT, writer type: STRING'}`,
		`{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'Field "b" of the new schema has no default and is not` +
			` in the old schema (path '/fields/1')', additionalInfo:'b'}`,
	}
	for i, f := range found {
		if f.String() != want[i] {
			t.Errorf("got  %s\nwant %s", f, want[i])
		}
	}
}

// TestManyPairs asks for more pairs of types than a check may compare: two rings of records whose lengths have no common
// divisor meet in every combination.
func TestManyPairs(t *testing.T) {
	ring := func(n int) *Schema {
		var b strings.Builder
		b.WriteString(`[`)
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `{"type":"record","name":"R%d","fields":[{"name":"next","type":["null","R%d"]}]}`, i, (i+1)%n)
		}
		b.WriteString(`]`)
		return mustParse(t, format.Source{Text: b.String()})
	}
	_, err := New(patient()).Check(context.Background(), ring(1021), ring(1031), format.CheckOptions{})
	if !errors.Is(err, format.ErrTooLarge) {
		t.Fatalf("got %v", err)
	}
}

// TestRepeatedFindings has 2^40 ways to the same obstacle; it is reported once.
func TestRepeatedFindings(t *testing.T) {
	tower := func(leaf string) *Schema {
		text := leaf
		for i := range 40 {
			text = fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":%s},{"name":"b","type":%q}]}`, i, text, fmt.Sprintf("R%d", i-1))
			if i == 0 {
				text = fmt.Sprintf(`{"type":"record","name":"R0","fields":[{"name":"a","type":%s}]}`, leaf)
			}
		}
		return mustParse(t, format.Source{Text: text})
	}
	found, err := New(patient()).Check(context.Background(), tower(`"int"`), tower(`"string"`), format.CheckOptions{})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d findings, %v", len(found), err)
	}
}

func TestForeign(t *testing.T) {
	s := mustParse(t, format.Source{Text: `"int"`})
	if _, err := New(patient()).Check(context.Background(), s, other{s}, format.CheckOptions{}); !errors.Is(err, format.ErrForeign) {
		t.Errorf("got %v", err)
	}
	if _, err := New(patient()).Check(context.Background(), other{s}, s, format.CheckOptions{}); !errors.Is(err, format.ErrForeign) {
		t.Errorf("got %v", err)
	}
}

// other is a schema of another format.
type other struct{ format.Schema }
