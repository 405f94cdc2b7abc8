package avro

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"moldau/registry/format"
)

// TestWhiteSpaceAndOrder: texts that differ in white space, or in the order of the language's own attributes, are one
// schema with one id. Registries were found to make a new one for each.
func TestWhiteSpaceAndOrder(t *testing.T) {
	want := mustParse(t, format.Source{Text: `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`}).Canonical()
	for _, text := range []string{
		"{\n  \"type\": \"record\",\n\t\"name\": \"R\",\r\n \"fields\": [ {\"name\":\"a\", \"type\":\"int\"} ] }\n",
		`{"fields":[{"type":"int","name":"a"}],"name":"R","type":"record"}`,
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"int"},"order":"ascending"}]}`,
	} {
		if got := mustParse(t, format.Source{Text: text}).Canonical(); got != want {
			t.Errorf("%s\n got  %s\n want %s", text, got, want)
		}
	}
}

// TestReferences: named types of references are found by full name, through references of references. Registries were
// found to look only at the text itself.
func TestReferences(t *testing.T) {
	refs := []format.Resolved{
		{Name: "a.Zip", Text: `{"type":"string","name":"unused"}`},
		{Name: "a.Street", Text: `{"type":"record","name":"Street","namespace":"a","fields":[{"name":"n","type":"string"}]}`},
		{Name: "a.Address", Text: `{"type":"record","name":"Address","namespace":"a","fields":[{"name":"street","type":"Street"}]}`},
	}
	s := mustParse(t, format.Source{Text: `{"type":"record","name":"Person","namespace":"b","fields":[{"name":"home","type":"a.Address"}]}`, References: refs, New: true})
	if want := `{"type":"record","name":"Person","namespace":"b","fields":[{"name":"home","type":"a.Address"}]}`; s.Canonical() != want {
		t.Errorf("got %s", s.Canonical())
	}
	resolved, err := s.Formatted("RESOLVED")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"record","name":"Person","namespace":"b","fields":[{"name":"home","type":{"type":"record","name":"Address","namespace":"a",` +
		`"fields":[{"name":"street","type":{"type":"record","name":"Street","fields":[{"name":"n","type":"string"}]}}]}}]}`
	if resolved != want {
		t.Errorf("got  %s\nwant %s", resolved, want)
	}
	whole := mustParse(t, format.Source{Text: resolved})
	if !s.Equivalent(whole) || !whole.Equivalent(s) {
		t.Error("a schema is not equivalent to itself with its references written out")
	}
	if s.Equivalent(mustParse(t, format.Source{Text: `"int"`})) || s.Equivalent(other{s}) {
		t.Error("another schema is equivalent")
	}
	if _, err := New(patient()).Parse(context.Background(), format.Source{Text: s.Canonical(), References: refs[2:]}); err == nil ||
		!strings.Contains(err.Error(), `reference "a.Address"`) || !strings.Contains(err.Error(), "a.Street") {
		t.Errorf("a reference is missing: %v", err)
	}
}

func TestNamesAndFields(t *testing.T) {
	s := mustParse(t, format.Source{Text: `{"type":"record","name":"n.R","fields":[{"name":"a","type":"int"}]}`})
	if s.Name() != "n.R" || !s.HasTopLevelField("a") || s.HasTopLevelField("b") || s.Format() != "AVRO" || s.Validate(true) != nil {
		t.Errorf("name %q", s.Name())
	}
	u := mustParse(t, format.Source{Text: `["null","int"]`})
	if u.Name() != "" || u.HasTopLevelField("a") {
		t.Errorf("name %q", u.Name())
	}
}

// TestReasons holds the words of refusals, which users read.
func TestReasons(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"type\": \"int\",\n ]": "line 3, column 2: no JSON: invalid character ']'",
		`{"type":"record"`:           "the text ends before the schema does",
		`{"type":"int"} 5`:           "line 1, column 15: there is more after the end of the schema",
		`/* {"type":"int"}`:          "line 1, column 1: a comment without end",
		`{"type":"record","name":"R","fields":[{"name":"a","type":"Addr"}]}`:              `type "Addr" is defined neither here nor in a reference`,
		`{"type":"record","name":"R","fields":[{"name":"a-b","type":"int"}]}`:             `record "R", field 1: invalid schema: name "a-b" contains '-'`,
		`{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}`: `record "R", field "a": the default "x" does not fit type int`,
		`{"type":"enum","name":"E","symbols":["A","A"]}`:                                  `enum "E" has symbol "A" twice`,
		`["int","int"]`:                           `a union has "int" more than once`,
		`{"name":"x"}`:                            `{"name":"x"} has no type`,
		`{"type":"array"}`:                        `an array {"type":"array"} has no items`,
		strings.Repeat("[", 500):                  "nested too deeply",
		`{"type":"int","n":` + digits(2000) + `}`: "a number of 2000 characters",
	} {
		_, err := New(patient()).Parse(context.Background(), format.Source{Text: text, New: true})
		if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s\n got  %v\n want %s", text, err, want)
		}
	}
}

func digits(n int) string { return strings.Repeat("1", n) }

func TestLimits(t *testing.T) {
	l := format.DefaultLimits()
	l.TextBytes, l.TotalBytes, l.References, l.Fields, l.Depth = 5_000, 6_000, 2, 20, 8
	deep := `"int"`
	for range 10 {
		deep = `{"type":"array","items":` + deep + `}`
	}
	var fields []string
	for i := range 20 {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":"int"}`, i))
	}
	many := `{"type":"record","name":"R","fields":[` + strings.Join(fields, ",") + `]}`
	for name, s := range map[string]format.Source{
		"text":       {Text: `"int"` + strings.Repeat(" ", 5_000)},
		"total":      {Text: `"int"`, References: []format.Resolved{{Text: strings.Repeat(" ", 3_000)}, {Text: strings.Repeat(" ", 3_000)}}},
		"references": {Text: `"int"`, References: make([]format.Resolved, 3)},
		"fields":     {Text: many},
		"symbols":    {Text: `{"type":"enum","name":"E","symbols":["a"` + strings.Repeat(`,"a"`, 20) + `]}`},
		"depth":      {Text: deep},
	} {
		if _, err := New(l).Parse(context.Background(), s); !errors.Is(err, format.ErrTooLarge) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(patient()).Parse(gone, format.Source{Text: many}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

const tagged = `{"type":"record","name":"R","namespace":"n","fields":[` +
	`{"name":"a","type":{"type":"record","name":"In","fields":[{"name":"x","type":"int","confluent:tags":["T"]}],"confluent:tags":["I"]}},` +
	`{"name":"b","type":["null",{"type":"array","items":"In"}],"confluent:tags":["P","Q","P"]}],"confluent:tags":["W"]}`

func TestTags(t *testing.T) {
	s := mustParse(t, format.Source{Text: tagged})
	want := []format.TaggedEntity{
		{Entity: format.Entity{Path: "n.R", Type: format.RecordEntity}, Tags: []string{"W"}},
		{Entity: format.Entity{Path: "n.In", Type: format.RecordEntity}, Tags: []string{"I"}},
		{Entity: format.Entity{Path: "n.In.x", Type: format.FieldEntity}, Tags: []string{"T"}},
		{Entity: format.Entity{Path: "n.R.b", Type: format.FieldEntity}, Tags: []string{"P", "Q"}},
	}
	if got := s.Tags(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestRetagged(t *testing.T) {
	tag := func(typ, path string, tags ...string) []format.TaggedEntity {
		return []format.TaggedEntity{{Entity: format.Entity{Path: path, Type: typ}, Tags: tags}}
	}
	s := mustParse(t, format.Source{Text: tagged})
	for _, c := range []struct {
		name        string
		add, remove []format.TaggedEntity
		old, new    string
	}{
		{"nothing", nil, nil, "", ""},
		{"one more", tag(format.RecordEntity, ".n.R", "W", "X"), nil, `"confluent:tags":["W"]`, `"confluent:tags":["W","X"]`},
		{"the last one goes", nil, tag(format.FieldEntity, "n.In.x", "T"), `,"confluent:tags":["T"]`, ``},
		{"the first one comes", tag(format.FieldEntity, "R.a", "N"), nil, `"confluent:tags":["I"]}}`, `"confluent:tags":["I"]},"confluent:tags":["N"]}`},
		{"added before removed", tag(format.FieldEntity, "n.R.b", "Z"), tag(format.FieldEntity, "n.R.b", "P", "Z"), `["P","Q","P"]`, `["Q"]`},
	} {
		got, err := s.Retagged(c.add, c.remove)
		if err != nil || got != strings.Replace(tagged, c.old, c.new, 1) {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
	if _, err := s.Retagged(tag(format.FieldEntity, "n.R.zzz", "A"), nil); !errors.Is(err, format.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if s.Canonical() != tagged {
		t.Error("the schema changed")
	}
}

func TestCodec(t *testing.T) {
	s := mustParse(t, format.Source{Text: `{"type":"record","name":"R","fields":[{"name":"b","type":"int","aliases":["a"]},{"name":"a","type":"bytes"}]}`})
	c, err := s.Codec()
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Encode(map[string]any{"a": []byte("x"), "b": 3})
	if err != nil || string(b) != "\x06\x02x" {
		t.Errorf("%q, %v", b, err)
	}
}
