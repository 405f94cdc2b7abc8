package jsonschema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"moldau/registry/format"
)

func parseNew(t *testing.T, text string, references ...format.Resolved) *Schema {
	t.Helper()
	s, err := New(patient()).Parse(t.Context(), format.Source{Text: text, References: references, New: true})
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s.(*Schema)
}

func TestRefusedTexts(t *testing.T) {
	for _, test := range []struct{ name, text, reason string }{
		{"nothing", " ", "the text is empty"},
		{"end", "{\n  \"type\":", "line 2, column 10: the text ends before the value does"},
		{"end of a string", `{"a`, "column 4: the text ends"},
		{"end of an escape", `{"a\u00`, "the text ends"},
		{"comma", `{"type":"object",}`, `line 1, column 18: '}' is not expected here`},
		{"no name", `{type:1}`, `column 2: 't' is not expected here`},
		{"no colon", `{"type" 1}`, `column 9: '1' is not expected here`},
		{"zero first", `{"minimum":01}`, "no number begins so"},
		{"point last", `{"minimum":1.}`, `'}' is not expected here`},
		{"exponent", `{"minimum":1e99999}`, "exponent beyond 5000"},
		{"long number", `{"minimum":` + strings.Repeat("1", 1001) + `}`, "more than 1000 characters"},
		{"escape", `{"a\x":1}`, `'x' is not expected here`},
		{"hexadecimal", `{"a\uzzzz":1}`, "four hexadecimal digits"},
		{"line feed in a string", "{\"a\n\":1}", `'\n' is not expected here`},
		{"encoding", "{\"a\xff\":1}", "no valid UTF-8"},
		{"second value", `{} {}`, "column 4: there is more after the end"},
		{"number", `7`, "a schema is an object or a boolean, this is a number"},
		{"array", `[]`, "a schema is an object or a boolean, this is an array"},
		{"type", `{"properties":{"a":{"type":"text"}}}`, "at #/properties/a/type"},
		{"minimum", `{"minimum":"1"}`, "at #/minimum"},
		{"maximum of draft 4 in draft 7", `{"maximum":1,"exclusiveMaximum":true}`, "at #/exclusiveMaximum"},
		{"required of draft 3", `{"properties":{"a":{"required":true}}}`, "at #/properties/a/required"},
		{"pattern", `{"pattern":"("}`, "at #/pattern"},
		{"pattern of properties", `{"patternProperties":{"[":{}}}`, "patternProperties"},
		{"pattern length", `{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, "8193 bytes, 8192 are allowed"},
		{"pointer", `{"$ref":"#/definitions/A"}`, `the schema refers to "#/definitions/A", which is not there`},
		{"anchor", `{"$ref":"#a"}`, `#a", which is not there`},
		{"document", `{"$ref":"other.json"}`, `the schema refers to "other.json": it is neither a part`},
		{"network", `{"$ref":"http://127.0.0.1:1/a.json"}`, `refers to "http://127.0.0.1:1/a.json"`},
		{"file", `{"$ref":"file:///etc/hostname"}`, `refers to "file:///etc/hostname"`},
		{"address of a reference", `{"$ref":"http://["}`, "invalid schema"},
		{"repeated address", `{"definitions":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, "duplicate id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(patient()).Parse(t.Context(), format.Source{Text: test.text, New: true})
			if !errors.Is(err, format.ErrInvalid) || !strings.Contains(fmt.Sprint(err), test.reason) {
				t.Errorf("got %v %v, want invalid because of %q", s, err, test.reason)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	small := format.DefaultLimits()
	small.TextBytes, small.TotalBytes, small.Depth, small.Fields, small.References = 400, 500, 4, 10, 2
	reference := func(name, text string) format.Resolved { return format.Resolved{Name: name, Text: text} }
	for name, source := range map[string]format.Source{
		"text":       {Text: `{"title":"` + strings.Repeat("a", 400) + `"}`},
		"total":      {Text: `{}`, References: []format.Resolved{reference("a", strings.Repeat(" ", 499)+"{}")}},
		"depth":      {Text: strings.Repeat(`{"not":`, 9) + "{}" + strings.Repeat("}", 9)},
		"schemas":    {Text: `{"allOf":[` + strings.Repeat("{},", 10) + `{}]}`},
		"values":     {Text: `{"enum":[1,2,3,4,5,6,7,8,9,10]}`},
		"together":   {Text: `{"enum":[1,2,3,4,5]}`, References: []format.Resolved{reference("a", `{"enum":[1,2,3,4,5]}`)}},
		"references": {Text: `{}`, References: make([]format.Resolved, 3)},
	} {
		for _, isNew := range []bool{true, false} {
			source.New = isNew
			if s, err := New(small).Parse(t.Context(), source); !errors.Is(err, format.ErrTooLarge) {
				t.Errorf("%s: got %v %v, want it too large", name, s, err)
			}
		}
	}
	fits := format.Source{Text: strings.Repeat(`{"not":`, 7) + "{}" + strings.Repeat("}", 7), New: true}
	if _, err := New(small).Parse(t.Context(), fits); err != nil {
		t.Errorf("8 levels of JSON are 4 of a schema: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(small).Parse(ended, format.Source{Text: "{}"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v from an ended context", err)
	}
}

// What a metaschema forbids but other registries accept, as it changes nothing, is accepted.
func TestTolerated(t *testing.T) {
	for _, text := range []string{
		`{"$schema":"http://json-schema.org/draft-04/schema#","required":[]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","enum":["a","a"]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","dependencies":{"a":[]}}`,
		`{"required":["a","a"],"type":["string","string"],"allOf":[]}`,
		`{"dependencies":{"a":["b","b"]}}`,
		`{"examples":"a","$comment":1}`,
		`{"type":"string","$schema":"http://example.com/mine"}`,
		`{"$ref":"#/$defs/A","definitions":{"A":{"type":"string"}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/A","definitions":{"A":{}},"$defs":{"B":{}}}`,
		`{"$ref":"http://json-schema.org/draft-07/schema#"}`,
		`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`,
	} {
		s := parseNew(t, text)
		if s.Canonical() != text {
			t.Errorf("%s is stored as %s", text, s.Canonical())
		}
	}
}

func TestDraft(t *testing.T) {
	for url, text := range map[string]string{
		`http://json-schema.org/draft-04/schema#`:      `"maximum":1,"exclusiveMaximum":true`,
		`https://json-schema.org/draft-04/schema`:      `"maximum":1,"exclusiveMaximum":true`,
		`http://json-schema.org/schema#`:               `"maximum":1,"exclusiveMaximum":true`,
		`http://json-schema.org/draft-06/schema#`:      `"exclusiveMaximum":1,"type":"number"`,
		`https://json-schema.org/draft-07/schema#`:     `"if":{"minimum":2},"then":false`,
		`http://json-schema.org/draft/2019-09/schema`:  `"$ref":"#/$defs/x","$defs":{"x":{}},"maximum":1`,
		`https://json-schema.org/draft/2020-12/schema`: `"$ref":"#/$defs/x","$defs":{"x":{}},"maximum":1`,
		`https://example.com/unheard-of`:               `"if":{"minimum":2},"then":false`,
	} {
		s := parseNew(t, `{"$schema":"`+url+`",`+text+`}`)
		if err := s.Accept("0"); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if err := s.Accept("2"); !errors.Is(err, ErrRejected) {
			t.Errorf("%s: got %v, want 2 rejected", url, err)
		}
	}
}

func TestReferences(t *testing.T) {
	name := format.Resolved{Name: "name.json", Text: `{"type":"string","maxLength":3}`}
	for title, test := range map[string]struct {
		text       string
		references []format.Resolved
	}{
		"name":          {`{"$ref":"name.json"}`, []format.Resolved{name}},
		"dotted name":   {`{"$ref":"./name.json"}`, []format.Resolved{name}},
		"dots in name":  {`{"$ref":"name.json"}`, []format.Resolved{{Name: "./name.json", Text: name.Text}}},
		"pointer":       {`{"$ref":"all.json#/definitions/name"}`, []format.Resolved{{Name: "all.json", Text: `{"definitions":{"name":{"maxLength":3}}}`}}},
		"beside an id":  {`{"$id":"http://example.com/root.json","$ref":"#/definitions/a","definitions":{"a":{"$ref":"name.json"}}}`, []format.Resolved{name}},
		"below an id":   {`{"$id":"http://example.com/x/root.json","allOf":[{"$id":"y/z.json","allOf":[{"$ref":"name.json"}]}]}`, []format.Resolved{name}},
		"address":       {`{"$ref":"https://example.com/name.json"}`, []format.Resolved{{Name: "https://example.com/name.json", Text: name.Text}}},
		"own address":   {`{"$ref":"https://example.com/n"}`, []format.Resolved{{Name: "any", Text: `{"$id":"https://example.com/n","maxLength":3}`}}},
		"chain":         {`{"$ref":"a.json"}`, []format.Resolved{name, {Name: "a.json", Text: `{"$ref":"name.json"}`}}},
		"chain with id": {`{"$ref":"a.json"}`, []format.Resolved{name, {Name: "a.json", Text: `{"$id":"http://elsewhere.org/d/a.json","allOf":[{"$ref":"name.json"}]}`}}},
		"longer name":   {`{"$ref":"deep/name.json"}`, []format.Resolved{{Name: "name.json", Text: `{"type":"null"}`}, {Name: "deep/name.json", Text: name.Text}}},
		"own draft":     {`{"$ref":"four.json"}`, []format.Resolved{{Name: "four.json", Text: `{"$schema":"http://json-schema.org/draft-04/schema#","maxLength":3,"maximum":1,"exclusiveMaximum":true}`}}},
		"back":          {`{"$ref":"a.json","definitions":{"n":{"maxLength":3}}}`, []format.Resolved{{Name: "a.json", Text: `{"$ref":"input.json#/definitions/n"}`}}},
	} {
		s := parseNew(t, test.text, test.references...)
		if err := s.Accept(`"abc"`); err != nil {
			t.Errorf("%s: %v", title, err)
		}
		if err := s.Accept(`"abcd"`); !errors.Is(err, ErrRejected) {
			t.Errorf("%s: got %v, want a long name rejected", title, err)
		}
	}
	_, err := New(patient()).Parse(t.Context(), format.Source{Text: `{}`, References: []format.Resolved{{Name: "bad", Text: "{"}}})
	if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), `reference "bad"`) {
		t.Errorf("got %v, want the bad reference named", err)
	}
}

// A stored schema that does not compile, as one whose references another registry fetched, still reads back.
func TestStored(t *testing.T) {
	const text = `{"$ref": "http://example.com/remote.json", "title": "Remote"}`
	f := New(patient())
	s, err := f.Parse(t.Context(), format.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Canonical(); got != `{"$ref":"http://example.com/remote.json","title":"Remote"}` || s.Name() != "Remote" {
		t.Errorf("got %s named %q", got, s.Name())
	}
	if err := s.Validate(false); !errors.Is(err, format.ErrInvalid) {
		t.Errorf("validate: %v", err)
	}
	if err := s.(*Schema).Accept("1"); !errors.Is(err, format.ErrInvalid) {
		t.Errorf("accept: %v", err)
	}
	good := parseNew(t, `{}`)
	for name, p := range map[string][2]format.Schema{"old": {good, s}, "new": {s, good}} {
		_, err := f.Check(t.Context(), p[0], p[1], format.CheckOptions{Reader: "new", Writer: "old"})
		if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), "the "+name+" schema") {
			t.Errorf("check: got %v, want the %s schema named", err, name)
		}
	}
}

func TestSchema(t *testing.T) {
	s := parseNew(t, ` { "title" : "Order", "type": "object",
		"properties": {"id": {"type": "string"}, "b": {}, "a": {"minimum": 1.50}} } `)
	const canonical = `{"title":"Order","type":"object","properties":{"id":{"type":"string"},"b":{},"a":{"minimum":1.50}}}`
	if s.Format() != format.JSON || s.Name() != "Order" || s.Canonical() != canonical {
		t.Errorf("got %s %q %s", s.Format(), s.Name(), s.Canonical())
	}
	if got, err := s.Normalized(); err != nil || got != `{"properties":{"a":{"minimum":1.50},"b":{},"id":{"type":"string"}},"title":"Order","type":"object"}` {
		t.Errorf("normalized: %s %v", got, err)
	}
	for _, form := range []string{"", format.FormResolved, "newer"} {
		if got, err := s.Formatted(form); err != nil || got != canonical {
			t.Errorf("form %q: %s %v", form, got, err)
		}
	}
	if !s.HasTopLevelField("a") || s.HasTopLevelField("type") {
		t.Error("the properties are not the top level fields")
	}
	if !s.Equivalent(parseNew(t, canonical)) || s.Equivalent(parseNew(t, `{}`)) {
		t.Error("equivalent are schemas with the same canonical text")
	}
	if name := parseNew(t, `true`).Name(); name != "" {
		t.Errorf("a boolean schema is named %q", name)
	}
}

func TestValidate(t *testing.T) {
	s := parseNew(t, `{"properties":{"a":{},"$$b":{}}}`)
	if err := s.Validate(false); err != nil {
		t.Error(err)
	}
	if err := s.Validate(true); !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), "#/properties/$$b") {
		t.Errorf("got %v, want the reserved name refused", err)
	}
	for _, text := range []string{`{"properties":{"$a":{}}}`, `true`, `{"type":"string"}`} {
		if err := parseNew(t, text).Validate(true); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct{ pattern, matches, differs string }{
		{`^a+$`, `"aa"`, `"ab"`},
		{`^(?=.*[0-9])(?!.*x).+$`, `"a1"`, `"a1x"`},
		{`^(.)\\1$`, `"aa"`, `"ab"`},
		{`^(?<=)a(?<!b)$`, `"a"`, `"b"`},
		{`^\\u00e4$`, `"ä"`, `"a"`},
		{`^\\cA$`, `"\u0001"`, `"cA"`},
		{`^\\p{L}+$`, `"ä"`, `"1"`},
	} {
		s := parseNew(t, `{"pattern":"`+test.pattern+`"}`)
		if err := s.Accept(test.matches); err != nil {
			t.Errorf("%s: %v", test.pattern, err)
		}
		if err := s.Accept(test.differs); !errors.Is(err, ErrRejected) {
			t.Errorf("%s: got %v, want %s rejected", test.pattern, err, test.differs)
		}
	}
}

// A pattern that takes exponential time is stopped, and that is no judgement about the value or the schema.
func TestSlowPattern(t *testing.T) {
	name := strings.Repeat("a", 40) + "!"
	if err := parseNew(t, `{"pattern":"^(?!x)(a+)+$"}`).Accept(`"` + name + `"`); !errors.Is(err, errMatchTime) || errors.Is(err, ErrRejected) {
		t.Errorf("got %v, want the pattern stopped", err)
	}
	slow := parseNew(t, `{"additionalProperties":false,"patternProperties":{"^(?!x)(a+)+$":{}}}`)
	writer := parseNew(t, `{"properties":{"`+name+`":{}},"additionalProperties":false}`)
	found, err := New(patient()).Check(t.Context(), slow, writer, format.CheckOptions{})
	if !errors.Is(err, errMatchTime) || found != nil {
		t.Errorf("got %v %v, want the comparison stopped", found, err)
	}
}

// A format that asks whether a value is a pattern is asked by many at once.
func TestPatternsInValues(t *testing.T) {
	s := parseNew(t, `{"format":"regex","pattern":"a"}`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := s.Accept(fmt.Sprintf(`"a%d(?!b)"`, i)); err != nil {
				t.Error(err)
			}
			if err := s.Accept(fmt.Sprintf(`"a%d("`, i)); !errors.Is(err, ErrRejected) {
				t.Errorf("got %v, want no pattern", err)
			}
		})
	}
	all.Wait()
}
