package protobuf

import "strings"

// fields visits every field of a file, groups included as fields, with the scope that it is in: "" for extensions at the
// top, else the message's name with a leading dot, without the package.
func (f *file) fields(visit func(scope string, x *field)) {
	visitExtends("", f.extends, visit)
	for _, m := range f.messages {
		m.fieldsIn("", visit)
	}
}

func (m *message) fieldsIn(outer string, visit func(scope string, x *field)) {
	scope := outer + "." + m.name
	for _, x := range m.fields {
		visit(scope, x)
	}
	visitGroups(scope, m.groups, visit)
	for _, o := range m.oneofs {
		for _, x := range o.fields {
			visit(scope, x)
		}
		visitGroups(scope, o.groups, visit)
	}
	visitExtends(scope, m.extends, visit)
	for _, n := range m.messages {
		n.fieldsIn(scope, visit)
	}
}

func visitExtends(scope string, extends []*extend, visit func(scope string, x *field)) {
	for _, e := range extends {
		for _, x := range e.fields {
			visit(scope, x)
		}
		visitGroups(scope, e.groups, visit)
	}
}

func visitGroups(scope string, groups []*group, visit func(scope string, x *field)) {
	for _, g := range groups {
		visit(scope, g.asField())
		g.body.fieldsIn(scope, visit)
	}
}

// asField is the field that a group declares.
func (g *group) asField() *field {
	return &field{label: g.label, typ: g.body.name, name: strings.ToLower(g.body.name), number: g.number, options: g.options}
}

// count is how many messages, fields and values there are.
func (f *file) count() int {
	n := 0
	f.fields(func(string, *field) { n++ })
	var types func(messages []*message, enums []*enum)
	types = func(messages []*message, enums []*enum) {
		for _, m := range messages {
			n++
			types(m.messages, m.enums)
		}
		for _, e := range enums {
			n += 1 + len(e.values)
		}
	}
	types(f.messages, f.enums)
	return n
}
