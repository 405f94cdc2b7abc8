package avro

// maxExtent bounds the values that all defaults of a schema come to when each is written out with the defaults of the fields it
// leaves out. A schema of a few kilobytes may double them with every level.
const maxExtent = 100_000

// extents counts what defaults come to; each question is answered once.
type extents struct {
	known map[question]int
	seen  map[*node]bool
}

// of is how many values the defaults of a type and of those within it come to, or more than maxExtent.
func (x *extents) of(typ *node) int {
	if typ == nil || x.seen[typ] {
		return 0
	}
	x.seen[typ] = true
	n := x.of(typ.items)
	for _, b := range typ.branches {
		n = min(n+x.of(b), maxExtent+1)
	}
	for _, f := range typ.fields {
		n = min(n+x.of(f.typ), maxExtent+1)
		if f.def != nil {
			n = min(n+x.value(f.typ, f.def), maxExtent+1)
		}
	}
	return n
}

func (x *extents) value(typ *node, v *value) int {
	q := question{typ, v}
	if n, ok := x.known[q]; ok {
		return n
	}
	x.known[q] = 0 // a default that leads back to itself fits nothing and is not used
	n := 1
	add := func(typ *node, v *value) {
		if n <= maxExtent {
			n = min(n+x.value(typ, v), maxExtent+1)
		}
	}
	switch typ.kind {
	case kindUnion:
		for _, b := range typ.branches {
			add(b, v)
		}
	case kindArray:
		for _, item := range v.items {
			add(typ.items, item)
		}
	case kindMap:
		for _, m := range v.members {
			add(typ.items, m.value)
		}
	case kindRecord:
		index := v.index()
		for _, f := range typ.fields {
			if given := index[f.name]; given != nil {
				add(f.typ, given)
			} else if f.def != nil {
				add(f.typ, f.def)
			}
		}
	default: // one value
	}
	x.known[q] = n
	return n
}
