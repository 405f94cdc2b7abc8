package avro

import (
	"slices"
	"strconv"
)

// printer writes a graph in the form in which it is stored: no white space, the attributes of the language in one order,
// then the properties in the order in which they came. A type of a known name is written as its name.
type printer struct {
	known map[string]bool
	// bare leaves out what only matters for resolving one schema with another, what only people and programs read, and
	// defaults that cannot be used.
	bare   bool
	usable fitting
	dst    []byte
}

func printSchema(root *node, known map[string]bool) string {
	p := printer{known: known}
	p.node(root, "")
	return string(p.dst)
}

func (p *printer) raw(s string) { p.dst = append(p.dst, s...) }

func (p *printer) attribute(name, text string) {
	p.raw(`,"` + name + `":`)
	p.dst = appendString(p.dst, text)
}

func (p *printer) optional(name string, text *string) {
	if text != nil && (name != "doc" || !p.bare) {
		p.attribute(name, *text)
	}
}

// typeProps writes the properties of a type; of a bare one, those of a logical type that is in force.
func (p *printer) typeProps(n *node) {
	if !p.bare {
		p.props(n.props)
		return
	}
	if logical(n) {
		p.props(slices.DeleteFunc(slices.Clone(n.props), func(m member) bool { return !logicalWords[m.name] }))
	}
}

func (p *printer) props(props []member) {
	for _, m := range props {
		p.raw(",")
		p.dst = append(appendString(p.dst, m.name), ':')
		p.dst = appendValue(p.dst, m.value)
	}
}

func (p *printer) node(n *node, space string) {
	switch n.kind {
	case kindRecord, kindEnum, kindFixed:
		p.named(n, space)
	case kindUnion:
		p.raw("[")
		for i, b := range n.branches {
			if i > 0 {
				p.raw(",")
			}
			p.node(b, space)
		}
		p.raw("]")
	case kindArray, kindMap:
		p.raw(`{"type":"` + string(n.kind) + `"`)
		if n.kind == kindArray {
			p.raw(`,"items":`)
		} else {
			p.raw(`,"values":`)
		}
		p.node(n.items, space)
		p.typeProps(n)
		p.raw("}")
	default:
		if len(n.props) == 0 {
			p.raw(`"` + string(n.kind) + `"`)
			return
		}
		p.raw(`{"type":"` + string(n.kind) + `"`)
		p.typeProps(n)
		p.raw("}")
	}
}

func (p *printer) named(n *node, space string) {
	full := n.name.full()
	if p.known[full] {
		p.dst = appendString(p.dst, n.name.in(space))
		return
	}
	p.known[full] = true
	word := string(n.kind)
	if n.isError {
		word = "error"
	}
	p.raw(`{"type":"` + word + `"`)
	p.attribute("name", n.name.simple)
	if n.name.space != space {
		p.attribute("namespace", n.name.space)
	}
	p.optional("doc", n.doc)
	switch n.kind {
	case kindRecord:
		p.fields(n)
	case kindEnum:
		p.raw(`,"symbols":`)
		p.list(n.symbols)
		p.optional("default", n.symbolDefault)
	default:
		p.raw(`,"size":` + strconv.Itoa(n.size))
	}
	p.typeProps(n)
	if len(n.aliases) > 0 && !p.bare {
		aliases := make([]string, len(n.aliases))
		for i, a := range n.aliases {
			aliases[i] = a.in(n.name.space)
		}
		p.raw(`,"aliases":`)
		p.list(aliases)
	}
	p.raw("}")
}

func (p *printer) fields(n *node) {
	p.raw(`,"fields":[`)
	for i, f := range n.fields {
		if i > 0 {
			p.raw(",")
		}
		p.raw(`{"name":`)
		p.dst = appendString(p.dst, f.name)
		p.raw(`,"type":`)
		p.node(f.typ, n.name.space)
		p.optional("doc", f.doc)
		if f.def != nil && (!p.bare || p.usable.fits(f.typ, f.def)) {
			p.raw(`,"default":`)
			p.dst = appendValue(p.dst, f.def)
		}
		if f.order != ascending {
			p.attribute("order", string(f.order))
		}
		if len(f.aliases) > 0 && !p.bare {
			p.raw(`,"aliases":`)
			p.list(f.aliases)
		}
		if !p.bare {
			p.props(f.props)
		}
		p.raw("}")
	}
	p.raw("]")
}

func (p *printer) list(texts []string) {
	p.raw("[")
	for i, t := range texts {
		if i > 0 {
			p.raw(",")
		}
		p.dst = appendString(p.dst, t)
	}
	p.raw("]")
}
