package jsonschema

import (
	"cmp"
	"slices"
)

// compareSchemas orders branches by their kind, their annotations and, for objects, the names of their properties and what
// is required, whatever order a text has them in.
func compareSchemas(a, b *value) int {
	return cmp.Or(
		cmp.Compare(rankOf(a), rankOf(b)),
		compareTexts(a.get("title"), b.get("title")),
		compareTexts(a.get("description"), b.get("description")),
		compareTexts(a.get("default"), b.get("default")),
		compareNames(memberNames(a.get("properties")), memberNames(b.get("properties"))),
		compareNames(itemNames(a.get("required")), itemNames(b.get("required"))),
		cmp.Compare(printJSON(a, true), printJSON(b, true)),
	)
}

func rankOf(v *value) rank {
	if v.kind == boolean {
		return map[string]rank{"true": rankTrue, "false": rankFalse}[v.text]
	}
	switch parts := partsOf(v); len(parts) {
	case 0:
		return rankEmpty
	case 1:
		return parts[0].rank
	default:
		return rankCombined
	}
}

// compareTexts compares values by their text; nothing comes before something.
func compareTexts(a, b *value) int {
	if a == nil || b == nil {
		return cmp.Compare(boolRank(a != nil), boolRank(b != nil))
	}
	return cmp.Compare(textOf(a), textOf(b))
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func textOf(v *value) string {
	if s, ok := v.characters(); ok {
		return s
	}
	return printJSON(v, false)
}

// compareNames compares lists of sorted names, shorter ones first.
func compareNames(a, b []string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
}

func memberNames(v *value) []string {
	if v == nil {
		return nil
	}
	names := make([]string, 0, len(v.members))
	for _, m := range v.members {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

func itemNames(v *value) []string {
	if v == nil {
		return nil
	}
	names := make([]string, 0, len(v.items))
	for _, item := range v.items {
		names = append(names, textOf(item))
	}
	slices.Sort(names)
	return names
}
