package jsonschema

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"moldau/registry/format"
)

// TestCompare runs testdata/compare: two schemas, one a line, and everything that differs in either direction.
func TestCompare(t *testing.T) {
	seen := make(map[Change]bool)
	datadriven.RunTest(t, "testdata/compare.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		if len(lines) != 2 {
			d.Fatalf(t, "%d schemas", len(lines))
		}
		for i, draft := range map[string]string{
			"4": "http://json-schema.org/draft-04/schema#", "2019": "https://json-schema.org/draft/2019-09/schema",
			"2020": "https://json-schema.org/draft/2020-12/schema",
		} {
			if d.HasArg("draft") && d.CmdArgs[0].Vals[0] == i {
				for l := range lines {
					lines[l] = strings.Replace(lines[l], "{", `{"$schema":"`+draft+`",`, 1)
				}
			}
		}
		first, second := parseNew(t, lines[0]), parseNew(t, lines[1])
		return direction(t, "1 to 2", first, second, seen) + direction(t, "2 to 1", second, first, seen)
	})
	for name, change := range changes(t) {
		if !seen[change] {
			t.Errorf("no case shows %s", name)
		}
	}
}

func direction(t *testing.T, name string, writer, reader *Schema, seen map[Change]bool) string {
	t.Helper()
	f := New(patient())
	judgement := "compatible"
	for _, policy := range []format.Policy{format.Lenient, format.Strict} {
		found, err := f.Check(t.Context(), reader, writer, format.CheckOptions{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 && policy == format.Lenient {
			judgement = "incompatible"
		} else if len(found) > 0 && judgement == "compatible" {
			judgement = "compatible leniently"
		}
	}
	differences, err := f.compare(t.Context(), writer, reader, format.Strict, true)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", name, judgement)
	for _, d := range differences {
		seen[d.change] = true
		fmt.Fprintf(&b, "  %s %s\n", d.change, d.path)
	}
	return b.String()
}

// changes answers the constants of change.go by their names.
func changes(t *testing.T) map[string]Change {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "change.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]Change)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		name, err := strconv.Unquote(literal.Value)
		if err != nil || spec.Doc == nil {
			t.Errorf("%s: no documentation, or %v", spec.Names[0], err)
		}
		found[spec.Names[0].Name] = Change(name)
		return true
	})
	return found
}

// Every change is either always allowed or has a sentence, and only those.
func TestSentences(t *testing.T) {
	all := changes(t)
	for name, change := range all {
		sentence := difference{change, "#/a"}.incompatibility("new", "old").Description
		if allowed[change] != (sentence == "") {
			t.Errorf("%s: allowed %v, says %q", name, allowed[change], sentence)
		}
		if strings.ContainsAny(sentence, "{}") || sentence != "" && !strings.Contains(sentence, "'#/a'") {
			t.Errorf("%s: %s", name, sentence)
		}
		if allowed[change] && allowedLeniently[change] {
			t.Errorf("%s is allowed twice", name)
		}
	}
	if len(allowed)+len(allowedLeniently) >= len(all) {
		t.Error("everything is allowed")
	}
}

func TestCheckWords(t *testing.T) {
	f := New(patient())
	writer, reader := parseNew(t, `{"properties":{"a":{"maxLength":5}}}`), parseNew(t, `{"properties":{"a":{"maxLength":4}}}`)
	found, err := f.Check(t.Context(), reader, writer, format.CheckOptions{Reader: "new", Writer: "old"})
	if err != nil || len(found) != 1 {
		t.Fatalf("got %v %v", found, err)
	}
	const want = `{errorType:"MAX_LENGTH_DECREASED", description:"the limit at path '#/properties/a/maxLength' is lower ` +
		`in the new schema than in the old schema"}`
	if got := found[0].String(); got != want || found[0].Path != "#/properties/a/maxLength" {
		t.Errorf("got %s, want %s", got, want)
	}
	if found, err := f.Check(t.Context(), reader, reader, format.CheckOptions{}); err != nil || len(found) > 0 {
		t.Errorf("with itself: %v %v", found, err)
	}
}

type foreign struct{ format.Schema }

func (foreign) Format() string { return format.Avro }

func TestForeign(t *testing.T) {
	f, s := New(patient()), parseNew(t, `{}`)
	for _, p := range [][2]format.Schema{{s, foreign{}}, {foreign{}, s}} {
		if _, err := f.Check(t.Context(), p[0], p[1], format.CheckOptions{}); !errors.Is(err, format.ErrForeign) {
			t.Errorf("got %v, want the other format refused", err)
		}
	}
}

// tangle is a schema of many definitions each of which refers to all, which has as many pairs as definitions squared and
// exponentially many paths.
func tangle(n int, leaf string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"type":"string","maxLength":%s}`, i, leaf)
		for j := range n {
			fmt.Fprintf(&b, `,{"type":"object","properties":{"p%d":{"$ref":"#/definitions/d%d"}}}`, j, j)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`}}`)
	return b.String()
}

func TestBudgets(t *testing.T) {
	f := New(patient())
	writer, reader := parseNew(t, tangle(12, "3")), parseNew(t, tangle(12, "4"))
	for _, p := range [][2]*Schema{{writer, reader}, {reader, writer}} {
		found, err := f.Check(t.Context(), p[0], p[1], format.CheckOptions{})
		if err != nil || (len(found) > 0) != (p[0] == writer) {
			t.Errorf("a tangle: %d found, %v", len(found), err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Check(ended, reader, writer, format.CheckOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v from an ended context", err)
	}
	impatient := format.DefaultLimits()
	impatient.CheckTime = time.Nanosecond
	if _, err := New(impatient).Check(t.Context(), reader, writer, format.CheckOptions{}); !errors.Is(err, format.ErrTooLarge) {
		t.Errorf("got %v without time", err)
	}
}

// What a chain of references nests is bounded, and so are the differences that many paths to one place make.
func TestDepthAndNumberOfDifferences(t *testing.T) {
	f := New(patient())
	chain := func(n int, last string) *Schema {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"items":{"$ref":"#/definitions/d%d"}},`, i, i+1)
		}
		fmt.Fprintf(&b, `"d%d":%s}}`, n, last)
		return parseNew(t, b.String())
	}
	found, err := f.Check(t.Context(), chain(1500, `{"maximum":1}`), chain(1500, `{"maximum":2}`), format.CheckOptions{})
	if err != nil || len(found) != 1 || !strings.HasSuffix(found[0].Path, "items/items/maximum") {
		t.Errorf("a long chain: %v %v", found, err)
	}
	doubling := func(last string) *Schema {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
		for i := range 40 {
			fmt.Fprintf(&b, `"d%d":{"properties":{"l":{"$ref":"#/definitions/d%d"},"r":{"$ref":"#/definitions/d%d"}}},`, i, i+1, i+1)
		}
		return parseNew(t, b.String()+`"d40":`+last+`}}`)
	}
	found, err = f.Check(t.Context(), doubling(`{"maximum":1}`), doubling(`{"maximum":2}`), format.CheckOptions{})
	if err != nil || len(found) != maxDifferences {
		t.Errorf("2^40 paths: %d found, %v", len(found), err)
	}
}

// TestRecursion has schemas that refer to themselves, where a difference must not hide behind the assumption that a pair
// already under comparison is compatible.
func TestRecursion(t *testing.T) {
	f := New(patient())
	for _, test := range []struct {
		name, writer, reader string
		compatible           bool
	}{
		{
			"a list that stays as it is",
			`{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`,
			`{"properties":{"next":{"$ref":"#"},"v":{"type":"number"}}}`, true,
		},
		{
			"a list whose values are narrowed",
			`{"properties":{"next":{"$ref":"#"},"v":{"type":"number"}}}`,
			`{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`, false,
		},
		{
			"a reference to itself says nothing",
			`{"$ref":"#"}`, `{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}`, true,
		},
		{
			// Comparing a leads to b and from there to a again. b is concluded to be compatible before a's own difference is
			// found, and the branch beside it must not build on that.
			"a conclusion from an assumption that fails",
			`{"properties":{"x":{"$ref":"#/definitions/a"},"y":{"oneOf":[{"$ref":"#/definitions/b"},{"type":"null"}]}},
			  "definitions":{"a":{"type":"object","properties":{"b":{"$ref":"#/definitions/b"},"v":{"maxLength":2}}},
			                 "b":{"type":"object","properties":{"a":{"$ref":"#/definitions/a"}}}}}`,
			`{"properties":{"x":{"$ref":"#/definitions/a"},"y":{"oneOf":[{"$ref":"#/definitions/b"},{"type":"null"}]}},
			  "definitions":{"a":{"type":"object","properties":{"b":{"$ref":"#/definitions/b"},"v":{"maxLength":1}}},
			                 "b":{"type":"object","properties":{"a":{"$ref":"#/definitions/a"}}}}}`, false,
		},
		{
			"a dynamic reference",
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"n","properties":{"n":{"$dynamicRef":"#n"},"v":{"maximum":2}}}`,
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"n","properties":{"n":{"$dynamicRef":"#n"},"v":{"maximum":3}}}`, true,
		},
		{
			"a recursive reference",
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"n":{"$recursiveRef":"#"},"v":{"maximum":3}}}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"n":{"$recursiveRef":"#"},"v":{"maximum":2}}}`, false,
		},
		{
			"the metaschema",
			`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, true,
		},
	} {
		found, err := f.Check(t.Context(), parseNew(t, test.reader), parseNew(t, test.writer), format.CheckOptions{})
		if err != nil || (len(found) == 0) != test.compatible {
			t.Errorf("%s: %v %v, want compatible %v", test.name, found, err, test.compatible)
		}
	}
}

// TestFixpoint shows that the first pass alone would answer wrongly: the branch of y can only be told from the pass that
// knows a to be incompatible.
func TestFixpoint(t *testing.T) {
	const schema = `{"properties":{"x":{"$ref":"#/definitions/a"},"y":{"$ref":"#/definitions/b"}},
	  "definitions":{"a":{"type":"object","properties":{"b":{"$ref":"#/definitions/b"},"v":{"maxLength":%d}}},
	                 "b":{"type":"object","properties":{"a":{"$ref":"#/definitions/a"}}}}}`
	writer, reader := parseNew(t, fmt.Sprintf(schema, 2)), parseNew(t, fmt.Sprintf(schema, 1))
	found, err := New(patient()).Check(t.Context(), reader, writer, format.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	below := make(map[string]bool)
	for _, i := range found {
		below[strings.Split(i.Path, "/")[2]] = true
	}
	if !below["x"] || !below["y"] {
		t.Errorf("got %v, want differences below x and below y", found)
	}
}

func TestBytes(t *testing.T) {
	f := New(patient())
	number, text := `{"properties":{"d":{"type":"number","connect.type":"bytes"}}}`, `{"properties":{"d":{"type":"string","connect.type":"bytes"}}}`
	for _, p := range [][2]string{{number, text}, {text, number}} {
		if found, err := f.Check(t.Context(), parseNew(t, p[0]), parseNew(t, p[1]), format.CheckOptions{}); err != nil || len(found) > 0 {
			t.Errorf("bytes of the converter: %v %v", found, err)
		}
	}
	plain := parseNew(t, `{"properties":{"d":{"type":"string"}}}`)
	if found, err := f.Check(t.Context(), plain, parseNew(t, number), format.CheckOptions{}); err != nil || len(found) != 1 {
		t.Errorf("bytes on one side only: %v %v", found, err)
	}
}
