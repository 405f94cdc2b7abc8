package jsonschema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"moldau/registry/format"
)

func repeat(n int, open, item, end string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i))
	}
	return open + strings.Join(items, ",") + end
}

// What would take the library more than a moment is refused before it is asked, and not before that.
func TestSurvey(t *testing.T) {
	addresses := func(n int) string { return repeat(n, `{"definitions":{`, `"p#":{"$id":"i#"}`, `}}`) }
	hidden := func(n int) string {
		return strings.ReplaceAll(repeat(n, `{"properties":{`, `"p#":{"$ref":"@/x/a#"}`, `},`), "@", "#") + repeat(n, `"x":{`, `"a#":{}`, `}}`)
	}
	known := strings.ReplaceAll(repeat(1000, `{"properties":{`, `"p#":{"$ref":"@/definitions/a#"}`, `},`), "@", "#") +
		repeat(1000, `"definitions":{`, `"a#":{}`, `}}`)
	// A hidden place hides further ones.
	nested := repeat(maxHidden+1, `{"$ref":"@/x/a0","x":{`, `"a#":{"not":{"$ref":"@/x/b#"}},"b#":{"not":{"$ref":"@/x/c#"}},"c#":{}`, `},`) +
		repeat(maxHidden+1, `"allOf":[`, `{"$ref":"@/x/a#"}`, `]}`)
	nested = strings.ReplaceAll(nested, "@", "#")
	for _, test := range []struct {
		name, text string
		refused    bool
	}{
		{"addresses", addresses(maxAddresses), false},
		{"too many addresses", addresses(maxAddresses + 1), true},
		{"hidden references", hidden(maxHidden), false},
		{"too many hidden references", hidden(maxHidden + 1), true},
		{"too many hidden in each other", nested, true},
		{"references to definitions", known, false},
		{"references beside an address", `{"$id":"http://example.com/a","properties":{"p":{"$id":"b","properties":{"q":{"$ref":"#/properties/r"},"r":{}}}}}`, false},
	} {
		_, err := New(patient()).Parse(t.Context(), format.Source{Text: test.text, New: true})
		if refused := errors.Is(err, format.ErrTooLarge); refused != test.refused || err != nil && !refused {
			t.Errorf("%s: %v, want refused %v", test.name, err, test.refused)
		}
	}
}

// A repetition that the linear engine would write out goes to the other one.
func TestLongPrograms(t *testing.T) {
	p := newPatterns()
	for text, linear := range map[string]bool{`^a{1,1000}$`: true, `^((a{1,1000}){1,900}b)$`: false, strings.Repeat(`(a{1,1000})`, 700): false} {
		re, err := p.compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := re.(backtracking); ok == linear {
			t.Errorf("%.30s: the engine is %T", text, re)
		}
		if again, err := p.compile(text); err != nil || again != re {
			t.Errorf("%.30s is compiled twice", text)
		}
	}
	if p.instructions < 0 {
		t.Errorf("%d instructions left", p.instructions)
	}
}
