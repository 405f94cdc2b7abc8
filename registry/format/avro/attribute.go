package avro

import (
	"math"
	"strconv"
	"strings"

	"moldau/registry/format"
)

// The attributes that mean something to the language; all others are properties of the user's.
var (
	schemaWords = wordSet("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
	enumWords   = wordSet("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases", "default")
	// logicalWords are the properties that make a logical type.
	logicalWords = wordSet("logicalType", "precision", "scale")
	fieldWords   = wordSet("default", "doc", "name", "order", "type", "aliases")
)

func wordSet(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

func properties(v *value, words map[string]bool) []member {
	var props []member
	for _, m := range v.members {
		if !words[m.name] {
			props = append(props, m)
		}
	}
	return props
}

// compoundProperties are those of a record, an array or a map. The Java library copies them, which it cannot do with
// integers beyond 64 bits; a schema with one would be of no use to Java programs and is refused here too.
func compoundProperties(v *value) ([]member, error) {
	props := properties(v, schemaWords)
	for _, m := range props {
		if !m.value.copyable() {
			return nil, format.Invalid("property %q has an integer of more than 64 bits", m.name)
		}
	}
	return props, nil
}

func (v *value) copyable() bool {
	if v.kind == jsonInteger {
		_, ok := v.integer(64)
		return ok
	}
	for _, item := range v.items {
		if !item.copyable() {
			return false
		}
	}
	for _, m := range v.members {
		if !m.value.copyable() {
			return false
		}
	}
	return true
}

// optional is a text attribute; one that is no text counts as absent.
func optional(v *value) *string {
	if s, ok := v.str(); ok {
		return &s
	}
	return nil
}

func readAliases(v *value) ([]string, error) {
	list := v.get("aliases")
	if list == nil {
		return nil, nil
	}
	if list.kind != jsonArray {
		return nil, format.Invalid("aliases %s are no array", brief(list))
	}
	aliases := make([]string, 0, len(list.items))
	for _, item := range list.items {
		s, ok := item.str()
		if !ok {
			return nil, format.Invalid("alias %s is no string", brief(item))
		}
		aliases = append(aliases, s)
	}
	return distinct(aliases), nil
}

// distinct keeps the first of those that are equal.
func distinct[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	kept := list[:0]
	for _, x := range list {
		if !seen[x] {
			seen[x] = true
			kept = append(kept, x)
		}
	}
	return kept
}

func readOrder(v *value) (order, error) {
	if v == nil {
		return ascending, nil
	}
	s, _ := v.str()
	switch o := order(strings.ToLower(s)); o {
	case ascending, descending, ignore:
		return o, nil
	}
	return "", format.Invalid("order %s is none of ascending, descending and ignore", brief(v))
}

// readDefault turns the text default of a floating-point field into the number it means.
func readDefault(v *value, typ *node) (*value, error) {
	if v == nil || v.kind != jsonString || typ.kind != kindFloat && typ.kind != kindDouble {
		return v, nil
	}
	d, err := strconv.ParseFloat(strings.TrimSpace(v.text), 64)
	if err != nil && !math.IsInf(d, 0) {
		return nil, format.Invalid("default %s is no number", brief(v))
	}
	return &value{kind: jsonDouble, double: d}, nil
}

// brief is a value for a message.
func brief(v *value) string {
	const enough = 80
	text := string(appendValue(nil, v))
	if len(text) > enough {
		return strings.ToValidUTF8(text[:enough], "") + "..."
	}
	return text
}

func article(k kind) string {
	if strings.ContainsRune("aeiou", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}
