package avro

import "slices"

// comparison compares graphs. Pairs of records that are being compared, or have been, count as equal, which ends cycles.
type comparison struct {
	// documented compares documentation, aliases and enum defaults too.
	documented bool
	seen       map[pair]bool
}

type pair struct{ a, b *node }

// same says whether two types mean the same.
func (c *comparison) same(a, b *node) bool {
	if a == b {
		return true
	}
	if a.kind != b.kind || a.name != b.name || a.size != b.size || a.awaits != "" || b.awaits != "" {
		return false
	}
	if !slices.Equal(a.symbols, b.symbols) || len(a.branches) != len(b.branches) || !sameProps(a.props, b.props) {
		return false
	}
	if c.documented && !c.sameDocumentation(a, b) {
		return false
	}
	for i := range a.branches {
		if !c.same(a.branches[i], b.branches[i]) {
			return false
		}
	}
	if a.kind == kindRecord {
		return c.sameFields(a, b)
	}
	return a.items == nil || c.same(a.items, b.items)
}

func (c *comparison) sameDocumentation(a, b *node) bool {
	return sameText(a.doc, b.doc) && sameText(a.symbolDefault, b.symbolDefault) && sameSet(a.aliases, b.aliases)
}

func (c *comparison) sameFields(a, b *node) bool {
	p := pair{a, b}
	if c.seen[p] {
		return true
	}
	if c.seen == nil {
		c.seen = map[pair]bool{}
	}
	c.seen[p] = true
	if len(a.fields) != len(b.fields) {
		return false
	}
	for i, f := range a.fields {
		g := b.fields[i]
		if f.name != g.name || f.order != g.order || !f.def.equal(g.def) || !sameProps(f.props, g.props) {
			return false
		}
		if c.documented && !(sameText(f.doc, g.doc) && sameSet(f.aliases, g.aliases)) {
			return false
		}
		if !c.same(f.typ, g.typ) {
			return false
		}
	}
	return true
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameSet compares lists in which nothing occurs twice.
func sameSet[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	in := make(map[T]bool, len(b))
	for _, x := range b {
		in[x] = true
	}
	for _, x := range a {
		if !in[x] {
			return false
		}
	}
	return true
}

func sameProps(a, b []member) bool {
	return (&value{kind: jsonObject, members: a}).equal(&value{kind: jsonObject, members: b})
}
