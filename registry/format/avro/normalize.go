package avro

import (
	"cmp"
	"slices"
)

// normalized makes a copy of a graph in which everything whose order means nothing is in order: aliases, properties, and
// the members of objects inside properties and defaults. Defaults get the form that their type gives them, an empty
// documentation of a type goes, and an error becomes the record that it is.
func normalized(root *node) *node {
	n := normalizer{done: map[*node]*node{}}
	return n.node(root)
}

type normalizer struct{ done map[*node]*node }

func (z *normalizer) node(n *node) *node {
	if c, ok := z.done[n]; ok {
		return c
	}
	c := new(node)
	*c = *n
	z.done[n] = c
	c.isError = false
	c.props = sortedProps(n)
	if n.doc != nil && *n.doc == "" {
		c.doc = nil
	}
	c.aliases = slices.Clone(n.aliases)
	slices.SortFunc(c.aliases, func(a, b name) int { return cmp.Compare(a.listed(n.name.space), b.listed(n.name.space)) })
	c.fields, c.byName = nil, nil
	for _, f := range n.fields {
		g := *f
		g.typ = z.node(f.typ)
		g.props = sorted(f.props)
		g.aliases = slices.Sorted(slices.Values(f.aliases))
		g.def = typed(f.def, f.typ)
		c.fields = append(c.fields, &g)
	}
	c.branches = nil
	for _, b := range n.branches {
		c.branches = append(c.branches, z.node(b))
	}
	if n.items != nil {
		c.items = z.node(n.items)
	}
	return c
}

// sortedProps orders the properties of a type. Those of a logical type that is in force stand before all others.
func sortedProps(n *node) []member {
	props := sorted(n.props)
	if !logical(n) {
		return props
	}
	first := []string{"logicalType"}
	if s, _ := prop(props, "logicalType").str(); s == "decimal" {
		first = append(first, "precision")
		if scale := prop(props, "scale"); scale != nil && scale.text != "0" {
			first = append(first, "scale")
		}
	}
	slices.SortStableFunc(props, func(a, b member) int { return rank(first, a.name) - rank(first, b.name) })
	return props
}

func rank(first []string, name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

func sorted(props []member) []member {
	out := make([]member, 0, len(props))
	for _, m := range props {
		out = append(out, member{m.name, sortedValue(m.value)})
	}
	slices.SortFunc(out, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return out
}

func sortedValue(v *value) *value {
	switch v.kind {
	case jsonArray:
		c := &value{kind: jsonArray}
		for _, item := range v.items {
			c.items = append(c.items, sortedValue(item))
		}
		return c
	case jsonObject:
		return &value{kind: jsonObject, members: sorted(v.members)}
	default:
		return v
	}
}
