package jsonschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"moldau/registry/format"
)

const tagged = `{
	"type": "object", "confluent:tags": ["PII", "PII", 7],
	"properties": {
		"name": {"type": "string", "confluent:tags": ["A"]},
		"address": {"type": "object", "confluent:tags": ["B"], "properties": {"street": {"type": "string", "confluent:tags": ["C"]}}},
		"list": {"type": "array", "items": {"confluent:tags": ["D"], "properties": {"e": {"confluent:tags": ["E"]}}}},
		"either": {"oneOf": [
			{"type": "string"},
			{"type": "object", "properties": {"b": {"confluent:tags": ["F"]}, "c": {}}},
			{"type": "object", "properties": {"a": {"confluent:tags": ["G"]}}}
		]},
		"types": {"type": ["null", "object"], "properties": {"t": {"confluent:tags": ["H"]}}},
		"excluded": {"not": {"properties": {"n": {"confluent:tags": ["I"]}}}},
		"conditional": {"if": {}, "then": {"properties": {"x": {"confluent:tags": ["J"]}}}},
		"several": {"enum": [{}], "type": "object", "properties": {"s": {"confluent:tags": ["K"]}}},
		"referred": {"$ref": "#/definitions/d", "confluent:tags": ["L"]},
		"open": true
	},
	"definitions": {"d": {"type": "object", "confluent:tags": ["M"], "properties": {"o": {"confluent:tags": ["N"]}}}}
}`

func TestTags(t *testing.T) {
	want := []string{
		"sr_record object [PII 7]",
		"sr_field object.name [A]",
		"sr_field object.address [B]",
		"sr_field object.address.object.street [C]",
		"sr_record object.list.array.object [D]",
		"sr_field object.list.array.object.e [E]",
		"sr_field object.either.oneof.0.object.a [G]",
		"sr_field object.either.oneof.1.object.b [F]",
		"sr_field object.types.anyof.1.object.t [H]",
		"sr_field object.excluded.not.object.n [I]",
		"sr_field object.conditional.conditional.then.object.x [J]",
		"sr_field object.several.allof.1.object.s [K]",
		"sr_field object.referred [L]",
		"sr_record object.definitions.d.object [M]",
		"sr_field object.definitions.d.object.o [N]",
	}
	var got []string
	for _, e := range parseNew(t, tagged).Tags() {
		got = append(got, fmt.Sprintf("%s %s %v", e.Entity.Type, e.Entity.Path, e.Tags))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if tags := parseNew(t, `true`).Tags(); tags != nil {
		t.Errorf("a boolean schema has tags %v", tags)
	}
}

func field(path string, tags ...string) format.TaggedEntity {
	return format.TaggedEntity{Entity: format.Entity{Path: path, Type: format.FieldEntity}, Tags: tags}
}

func record(path string, tags ...string) format.TaggedEntity {
	return format.TaggedEntity{Entity: format.Entity{Path: path, Type: format.RecordEntity}, Tags: tags}
}

func TestRetagged(t *testing.T) {
	const text = `{"type":"object","properties":{"a":{"type":"string","confluent:tags":["X","Y"]},"b":{"type":"object"}}}`
	for _, test := range []struct {
		name        string
		add, remove []format.TaggedEntity
		want        string
	}{
		{"nothing", nil, nil, text},
		{
			"a field",
			[]format.TaggedEntity{field("object.a", "Y", "Z")},
			nil,
			`{"type":"object","properties":{"a":{"type":"string","confluent:tags":["X","Y","Z"]},"b":{"type":"object"}}}`,
		},
		{
			"a leading dot", nil,
			[]format.TaggedEntity{field(".object.a", "X")},
			`{"type":"object","properties":{"a":{"type":"string","confluent:tags":["Y"]},"b":{"type":"object"}}}`,
		},
		{
			"the last ones", nil,
			[]format.TaggedEntity{field("object.a", "X", "Y")},
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object"}}}`,
		},
		{
			"added before removed",
			[]format.TaggedEntity{record("object", "P", "Q")},
			[]format.TaggedEntity{record("object", "Q")},
			`{"type":"object","properties":{"a":{"type":"string","confluent:tags":["X","Y"]},"b":{"type":"object"}},"confluent:tags":["P"]}`,
		},
		{
			"the object that a property is",
			[]format.TaggedEntity{record("object.b.object", "P")},
			nil,
			`{"type":"object","properties":{"a":{"type":"string","confluent:tags":["X","Y"]},"b":{"type":"object","confluent:tags":["P"]}}}`,
		},
	} {
		s := parseNew(t, text)
		got, err := s.Retagged(test.add, test.remove)
		if err != nil || got != test.want {
			t.Errorf("%s: got %s %v, want %s", test.name, got, err, test.want)
		}
		if s.Canonical() != text || !slices.Equal(s.Tags()[0].Tags, []string{"X", "Y"}) {
			t.Errorf("%s: the schema itself changed", test.name)
		}
	}
	for _, e := range []format.TaggedEntity{field("object.c", "X"), record("object.a", "X"), field("", "X")} {
		for _, lists := range [][2][]format.TaggedEntity{{{e}, nil}, {nil, {e}}} {
			if got, err := parseNew(t, text).Retagged(lists[0], lists[1]); !errors.Is(err, format.ErrInvalid) {
				t.Errorf("%v: got %s %v, want it not found", e, got, err)
			}
		}
	}
}

// What the tags say of every entity is what adding and removing them reaches.
func TestTagsAndRetaggedAgree(t *testing.T) {
	s := parseNew(t, tagged)
	text, err := s.Retagged(nil, s.Tags())
	if err != nil {
		t.Fatal(err)
	}
	if left := parseNew(t, text).Tags(); len(left) > 0 {
		t.Errorf("removing all tags leaves %v", left)
	}
}
