package jsonschema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// equalValues compares values as JSON Schema does: members in any order, numbers by what they are worth.
func equalValues(a, b any) bool { return valueKey(a) == valueKey(b) }

// containsAll says whether each of the values in the second list is in the first.
func containsAll(values, wanted []any) bool {
	keys := make(map[string]struct{}, len(values))
	for _, v := range values {
		keys[valueKey(v)] = struct{}{}
	}
	return !slices.ContainsFunc(wanted, func(v any) bool {
		_, ok := keys[valueKey(v)]
		return !ok
	})
}

// valueKey is a text that equal values, and no others, have in common.
func valueKey(v any) string {
	var b strings.Builder
	writeKey(&b, v)
	return b.String()
}

func writeKey(b *strings.Builder, v any) {
	switch v := v.(type) {
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			b.WriteString(r.RatString())
			return
		}
		b.WriteString(string(v))
	case string:
		b.WriteString(strconv.Quote(v))
	case []any:
		b.WriteByte('[')
		for _, item := range v {
			writeKey(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(strconv.Quote(name))
			b.WriteByte(':')
			writeKey(b, v[name])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}
