package jsonschema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"moldau/registry/format"
)

// entity is an object or a property that can have tags.
type entity struct {
	format.Entity
	value *value
	// property says that an object is what a property is.
	property bool
}

// entities answers the objects and properties of a schema by their paths. A path names every step: object and the name of
// a property, array, not, conditional and its keyword, and allof, anyof or oneof with the index of a branch. Branches are
// counted in an order that does not depend on the text (order.go). A schema with several kinds of keywords counts as allof,
// one with several types as anyof.
func entities(root *value) []entity {
	w := entityWalk{visited: make(map[string]bool)}
	w.schema(root, "", false)
	return w.found
}

type entityWalk struct {
	found   []entity
	visited map[string]bool
}

func (w *entityWalk) schema(v *value, scope string, property bool) {
	if v == nil || v.kind != object {
		return
	}
	parts := partsOf(v)
	for i, p := range parts {
		if len(parts) > 1 {
			w.part(v, p, scope+"allof."+strconv.Itoa(i)+".", false)
		} else {
			w.part(v, p, scope, property)
		}
	}
}

func (w *entityWalk) part(v *value, p part, scope string, property bool) {
	switch p.rank {
	case rankObject:
		w.object(v, scope+"object", property)
	case rankArray:
		w.schema(v.get("items"), scope+"array.", false)
	case rankNot:
		w.schema(v.get("not"), scope+"not.", false)
	case rankConditional:
		for _, keyword := range []string{"if", "then", "else"} {
			w.schema(v.get(keyword), scope+"conditional."+keyword+".", false)
		}
	case rankCombined:
		w.branches(v, p, scope+strings.ToLower(p.keyword)+".")
	default: // the other parts have no schemas within
	}
}

func (w *entityWalk) branches(v *value, p part, scope string) {
	if p.types != nil {
		for i, t := range p.types {
			w.part(v, t, scope+strconv.Itoa(i)+".", false)
		}
		return
	}
	branches := slices.Clone(v.get(p.keyword).items)
	slices.SortStableFunc(branches, compareSchemas)
	for i, branch := range branches {
		w.schema(branch, scope+strconv.Itoa(i)+".", false)
	}
}

func (w *entityWalk) object(v *value, path string, property bool) {
	if w.visited[path] {
		return
	}
	w.visited[path] = true
	w.found = append(w.found, entity{format.Entity{Path: path, Type: format.RecordEntity}, v, property})
	if properties := v.get("properties"); properties != nil {
		for _, m := range properties.members {
			field := path + "." + m.name
			if m.value.kind == object {
				w.found = append(w.found, entity{format.Entity{Path: field, Type: format.FieldEntity}, m.value, false})
			}
			w.schema(m.value, field+".", true)
		}
	}
	for _, keyword := range []string{"definitions", "$defs"} {
		definitions := v.get(keyword)
		if definitions == nil {
			continue
		}
		for _, m := range definitions.members {
			w.schema(m.value, path+"."+keyword+"."+m.name+".", false)
		}
	}
}

// rank is the kind of a part of a schema, in the order in which branches are counted.
type rank int

const (
	rankArray rank = iota
	rankBoolean
	rankCombined
	rankConditional
	rankConst
	rankEmpty
	rankEnum
	rankFalse
	rankNot
	rankNull
	rankNumber
	rankObject
	rankReference
	rankString
	rankTrue
)

// part is the keywords of a schema that are of one kind.
type part struct {
	rank rank
	// keyword is allOf, anyOf or oneOf of a combined part; types are its branches where it is a list of types.
	keyword string
	types   []part
}

// partsOf answers the parts of a schema in the order in which they are counted.
func partsOf(v *value) []part {
	if _, ok := v.get("$ref").characters(); ok {
		return []part{{rank: rankReference}}
	}
	parts, typed := typeParts(v)
	for keyword, rank := range map[string]rank{
		"enum": rankEnum, "not": rankNot, "const": rankConst, "if": rankConditional,
		"allOf": rankCombined, "anyOf": rankCombined, "oneOf": rankCombined,
	} {
		if v.get(keyword) != nil {
			parts = append(parts, part{rank: rank, keyword: keyword})
		}
	}
	for rank, keywords := range ruleKeywords {
		if !typed[rank] && slices.ContainsFunc(keywords, func(k string) bool { return v.get(k) != nil }) {
			parts = append(parts, part{rank: rank})
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.keyword, b.keyword))
	})
	return parts
}

// ruleKeywords is the keywords that make a part of a kind where no type does.
var ruleKeywords = map[rank][]string{
	rankArray: {"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems"},
	rankObject: {
		"properties", "required", "minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas",
		"patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties",
	},
	rankNumber: {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	rankString: {"minLength", "maxLength", "pattern"},
}

var typeRanks = map[string]rank{
	"array": rankArray, "boolean": rankBoolean, "null": rankNull, "number": rankNumber, "integer": rankNumber,
	"object": rankObject, "string": rankString,
}

// typeParts answers the part of the type keyword and which kinds it names.
func typeParts(v *value) ([]part, map[rank]bool) {
	typed := make(map[rank]bool)
	t := v.get("type")
	if name, ok := t.characters(); ok {
		rank, known := typeRanks[name]
		if !known {
			return nil, typed
		}
		typed[rank] = true
		return []part{{rank: rank}}, typed
	}
	if t == nil || t.kind != array {
		return nil, typed
	}
	p := part{rank: rankCombined, keyword: string(anyOf), types: []part{}}
	for _, item := range t.items {
		if rank, known := typeRanks[item.text]; known {
			typed[rank] = true
			p.types = append(p.types, part{rank: rank})
		}
	}
	slices.SortStableFunc(p.types, func(a, b part) int { return cmp.Compare(a.rank, b.rank) })
	return []part{p}, typed
}
