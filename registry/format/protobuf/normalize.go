package protobuf

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
)

// normalized makes the elements of a compiled file in which types and extensions have their full names, maps are written
// as maps, and everything is in order whose order means nothing: imports, options, fields, enum values, reserved numbers.
// Messages keep their order, because message indexes count on it.
func normalized(u *unit) *file {
	f := u.file
	n := &normalizer{
		types: resolvedTypes(u.proto), extensions: newExtensionNames(u.linked),
		proto3: f.syntax == "proto3", zeroFirst: u.proto.GetSyntax() != "",
	}
	scope := f.pkg
	g := &file{
		edition: f.edition, pkg: f.pkg, imports: sortedSet(f.imports),
		publicImports: sortedSet(f.publicImports), weakImports: sortedSet(f.weakImports),
		options: n.options(scope, f.options), extends: n.extends(scope, "", f.extends),
	}
	if n.proto3 {
		g.syntax = f.syntax
	}
	g.messages = n.messages(scope, "", f.messages)
	g.enums = n.enums(scope, f.enums)
	for i, s := range f.services {
		g.services = append(g.services, n.service(inside(scope, s.name), s, u.proto.GetService()[i]))
	}
	return g
}

type normalizer struct {
	types      map[string]resolvedType
	extensions extensionNames
	proto3     bool
	// zeroFirst says that the first value of an enum has to be zero.
	zeroFirst bool
}

// resolvedType is what the type of a field is, and what it extends.
type resolvedType struct{ typ, key, value, extendee string }

// resolvedTypes answers the types of a compiled file's fields by their names without the package.
func resolvedTypes(fd *descriptorpb.FileDescriptorProto) map[string]resolvedType {
	types := map[string]resolvedType{}
	note := func(scope string, fields []*descriptorpb.FieldDescriptorProto, beside []*descriptorpb.DescriptorProto) {
		for _, x := range fields {
			t := resolvedType{typ: typeOf(x), extendee: x.GetExtendee()}
			if entry := mapEntry(x, beside); entry != nil {
				t = resolvedType{key: typeOf(entry.GetField()[0]), value: typeOf(entry.GetField()[1])}
			}
			types[scope+"."+x.GetName()] = t
		}
	}
	var walk func(scope string, messages []*descriptorpb.DescriptorProto)
	walk = func(scope string, messages []*descriptorpb.DescriptorProto) {
		for _, m := range messages {
			in := scope + "." + m.GetName()
			note(in, m.GetField(), m.GetNestedType())
			note(in, m.GetExtension(), nil)
			walk(in, m.GetNestedType())
		}
	}
	note("", fd.GetExtension(), nil)
	walk("", fd.GetMessageType())
	return types
}

func typeOf(fd *descriptorpb.FieldDescriptorProto) string {
	if fd.GetTypeName() != "" {
		return fd.GetTypeName()
	}
	return strings.ToLower(strings.TrimPrefix(fd.GetType().String(), "TYPE_"))
}

// mapEntry answers the message that holds the entries of a field that is a map; it stands beside the field.
func mapEntry(fd *descriptorpb.FieldDescriptorProto, beside []*descriptorpb.DescriptorProto) *descriptorpb.DescriptorProto {
	name := fd.GetTypeName()
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, m := range beside {
		if m.GetName() == name && m.GetOptions().GetMapEntry() && len(m.GetField()) == 2 {
			return m
		}
	}
	return nil
}

func inside(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

func (n *normalizer) messages(scope, local string, list []*message) []*message {
	var out []*message
	for _, m := range list {
		if !m.isMapEntry() {
			out = append(out, n.message(inside(scope, m.name), local+"."+m.name, m))
		}
	}
	return out
}

// message normalizes a message; local is its name without the package, by which types know it.
func (n *normalizer) message(scope, local string, m *message) *message {
	out := &message{
		name: m.name, reserved: sortedReserved(m.reserved), options: n.options(scope, m.options),
		fields: n.fields(scope, local, m.fields), groups: n.groups(scope, local, m.groups),
		extends: n.extends(scope, local, m.extends), messages: n.messages(scope, local, m.messages),
		enums: n.enums(scope, m.enums),
	}
	for _, o := range m.oneofs {
		c := &oneof{
			name: o.name, options: n.options(scope, o.options),
			fields: n.fields(scope, local, o.fields), groups: n.groups(scope, local, o.groups),
		}
		if len(c.fields)+len(c.groups) > 0 {
			out.oneofs = append(out.oneofs, c)
		}
	}
	slices.SortStableFunc(out.oneofs, func(a, b *oneof) int { return cmp.Compare(a.first(), b.first()) })
	for _, x := range m.extensions {
		for _, r := range x.ranges {
			r.spelled = false
			out.extensions = append(out.extensions, extensions{ranges: []numbers{r}, options: n.options(scope, x.options)})
		}
	}
	slices.SortStableFunc(out.extensions, func(a, b extensions) int { return cmp.Compare(a.ranges[0].first, b.ranges[0].first) })
	return out
}

// first is the smallest number in a oneof whose fields are in order.
func (o *oneof) first() int32 {
	least := int32(maxNumber)
	if len(o.fields) > 0 {
		least = o.fields[0].number
	}
	if len(o.groups) > 0 {
		least = min(least, o.groups[0].number)
	}
	return least
}

func (n *normalizer) fields(scope, local string, list []*field) []*field {
	out := make([]*field, 0, len(list))
	for _, f := range list {
		out = append(out, n.field(scope, local, f))
	}
	slices.SortStableFunc(out, func(a, b *field) int { return cmp.Compare(a.number, b.number) })
	return out
}

func (n *normalizer) field(scope, local string, f *field) *field {
	t := n.types[local+"."+f.name]
	out := &field{label: f.label, typ: t.typ, key: t.key, value: t.value, name: f.name, number: f.number}
	if t.typ == "" {
		out.label = ""
	}
	out.options = n.options(scope, f.options)
	return out
}

func (n *normalizer) groups(scope, local string, list []*group) []*group {
	out := make([]*group, 0, len(list))
	for _, g := range list {
		body := n.message(inside(scope, g.body.name), local+"."+g.body.name, g.body)
		out = append(out, &group{label: g.label, number: g.number, options: n.options(scope, g.options), body: body})
	}
	slices.SortStableFunc(out, func(a, b *group) int { return cmp.Compare(a.number, b.number) })
	return out
}

// extends groups extensions by what they extend.
func (n *normalizer) extends(scope, local string, list []*extend) []*extend {
	var out []*extend
	of := func(name string) *extend {
		extendee := n.types[local+"."+name].extendee
		i := slices.IndexFunc(out, func(x *extend) bool { return x.extendee == extendee })
		if i < 0 {
			out = append(out, &extend{extendee: extendee})
			i = len(out) - 1
		}
		return out[i]
	}
	for _, x := range list {
		for _, f := range x.fields {
			to := of(f.name)
			to.fields = append(to.fields, n.field(scope, local, f))
		}
		for _, g := range x.groups {
			to := of(g.asField().name)
			to.groups = append(to.groups, n.groups(scope, local, []*group{g})...)
		}
	}
	for _, x := range out {
		slices.SortStableFunc(x.fields, func(a, b *field) int { return cmp.Compare(a.number, b.number) })
		slices.SortStableFunc(x.groups, func(a, b *group) int { return cmp.Compare(a.number, b.number) })
	}
	return out
}

func (n *normalizer) enums(scope string, list []*enum) []*enum {
	var out []*enum
	for _, e := range list {
		in := inside(scope, e.name)
		c := &enum{name: e.name, reserved: sortedReserved(e.reserved), options: n.options(in, e.options)}
		for _, v := range e.values {
			c.values = append(c.values, enumValue{name: v.name, number: v.number, options: n.options(in, v.options)})
		}
		slices.SortStableFunc(c.values, func(a, b enumValue) int {
			if n.zeroFirst && (a.number == 0) != (b.number == 0) {
				return cmp.Compare(btoi(b.number == 0), btoi(a.number == 0))
			}
			return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
		})
		out = append(out, c)
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (n *normalizer) service(scope string, s *service, sd *descriptorpb.ServiceDescriptorProto) *service {
	out := &service{name: s.name, options: n.options(scope, s.options)}
	for i, m := range s.rpcs {
		m.request, m.response = sd.GetMethod()[i].GetInputType(), sd.GetMethod()[i].GetOutputType()
		m.options = n.options(scope, m.options)
		out.rpcs = append(out.rpcs, m)
	}
	return out
}

// sortedReserved makes one statement of every range and name: ranges by their first number, then names.
func sortedReserved(list []reserved) []reserved {
	var ranges []numbers
	var names []string
	for _, r := range list {
		ranges = append(ranges, r.ranges...)
		names = append(names, r.names...)
	}
	slices.SortFunc(ranges, func(a, b numbers) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last)) })
	slices.Sort(names)
	var out []reserved
	for _, r := range ranges {
		r.spelled = false
		out = append(out, reserved{ranges: []numbers{r}})
	}
	for _, name := range names {
		out = append(out, reserved{names: []string{name}})
	}
	return out
}

func sortedSet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
