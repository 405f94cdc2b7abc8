package protobuf

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// describer makes elements out of a file descriptor, as the serializers of the registry's clients do before they register
// a compiled schema: types are full names with a leading dot, and the messages that hold a map's entries are spelled out.
type describer struct{ proto3 bool }

// Text prints a file descriptor as clients print the files of compiled types before they register them.
func Text(fd *descriptorpb.FileDescriptorProto) string { return printer{}.file(describe(fd)) }

func describe(fd *descriptorpb.FileDescriptorProto) *file {
	f := &file{pkg: fd.GetPackage()}
	switch fd.GetSyntax() {
	case "editions":
		f.edition = strings.TrimPrefix(fd.GetEdition().String(), "EDITION_")
	default:
		f.syntax = fd.GetSyntax()
	}
	d := describer{proto3: f.syntax == "proto3"}
	for i, path := range fd.GetDependency() {
		switch {
		case slices.Contains(fd.GetPublicDependency(), int32(i)): //nolint:gosec // as many as there are imports
			f.publicImports = append(f.publicImports, path)
		case slices.Contains(fd.GetWeakDependency(), int32(i)): //nolint:gosec // as above
			f.weakImports = append(f.weakImports, path)
		default:
			f.imports = append(f.imports, path)
		}
	}
	f.options = optionsOf(fd.GetOptions())
	for _, m := range fd.GetMessageType() {
		f.messages = append(f.messages, d.message(m))
	}
	for _, e := range fd.GetEnumType() {
		f.enums = append(f.enums, d.enum(e))
	}
	f.extends = d.extends(fd.GetExtension(), fd.GetMessageType())
	for _, s := range fd.GetService() {
		f.services = append(f.services, d.service(s))
	}
	return f
}

func (d describer) message(md *descriptorpb.DescriptorProto) *message {
	m := &message{name: md.GetName(), options: optionsOf(md.GetOptions())}
	oneofs := make([]*oneof, len(md.GetOneofDecl()))
	for i, od := range md.GetOneofDecl() {
		oneofs[i] = &oneof{name: od.GetName(), options: optionsOf(od.GetOptions())}
	}
	groups := map[string]bool{}
	for _, fd := range md.GetField() {
		var in *oneof
		if i := int(fd.GetOneofIndex()); fd.OneofIndex != nil && !fd.GetProto3Optional() && i < len(oneofs) {
			in = oneofs[i]
		}
		if body := groupBody(fd, md.GetNestedType()); body != nil {
			groups[body.GetName()] = true
			g := d.group(fd, body, in != nil)
			if in != nil {
				in.groups = append(in.groups, g)
			} else {
				m.groups = append(m.groups, g)
			}
			continue
		}
		if in != nil {
			in.fields = append(in.fields, d.field(fd, true))
		} else {
			m.fields = append(m.fields, d.field(fd, false))
		}
	}
	for _, o := range oneofs {
		if len(o.fields)+len(o.groups) > 0 {
			m.oneofs = append(m.oneofs, o)
		}
	}
	d.rest(m, md, groups)
	return m
}

// rest describes what is in a message besides its fields.
func (d describer) rest(m *message, md *descriptorpb.DescriptorProto, groups map[string]bool) {
	m.extends = d.extends(md.GetExtension(), md.GetNestedType())
	for _, fd := range md.GetExtension() {
		if body := groupBody(fd, md.GetNestedType()); body != nil {
			groups[body.GetName()] = true
		}
	}
	for _, n := range md.GetNestedType() {
		if !groups[n.GetName()] {
			m.messages = append(m.messages, d.message(n))
		}
	}
	for _, e := range md.GetEnumType() {
		m.enums = append(m.enums, d.enum(e))
	}
	for _, r := range md.GetReservedRange() {
		m.reserved = append(m.reserved, reserved{ranges: []numbers{{first: r.GetStart(), last: r.GetEnd() - 1}}})
	}
	for _, name := range md.GetReservedName() {
		m.reserved = append(m.reserved, reserved{names: []string{name}})
	}
	for _, r := range md.GetExtensionRange() {
		m.extensions = append(m.extensions, extensions{
			ranges:  []numbers{{first: r.GetStart(), last: r.GetEnd() - 1}},
			options: optionsOf(r.GetOptions()),
		})
	}
}

// groupBody answers the type of a field that is a group, which stands beside it.
func groupBody(fd *descriptorpb.FieldDescriptorProto, beside []*descriptorpb.DescriptorProto) *descriptorpb.DescriptorProto {
	if fd.GetType() != descriptorpb.FieldDescriptorProto_TYPE_GROUP {
		return nil
	}
	name := fd.GetTypeName()
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, m := range beside {
		if m.GetName() == name {
			return m
		}
	}
	return nil
}

func (d describer) group(fd *descriptorpb.FieldDescriptorProto, body *descriptorpb.DescriptorProto, inOneof bool) *group {
	g := &group{number: fd.GetNumber(), options: d.fieldOptions(fd), body: d.message(body)}
	if !inOneof {
		g.label = d.label(fd)
	}
	return g
}

func (d describer) field(fd *descriptorpb.FieldDescriptorProto, inOneof bool) *field {
	f := &field{typ: fd.GetTypeName(), name: fd.GetName(), number: fd.GetNumber(), options: d.fieldOptions(fd)}
	if f.typ == "" {
		f.typ = strings.ToLower(strings.TrimPrefix(fd.GetType().String(), "TYPE_"))
	}
	if !inOneof {
		f.label = d.label(fd)
	}
	return f
}

func (d describer) label(fd *descriptorpb.FieldDescriptorProto) string {
	switch {
	case fd.GetProto3Optional():
		return "optional"
	case fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED:
		return "repeated"
	case d.proto3:
		return ""
	case fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED:
		return "required"
	default:
		return "optional"
	}
}

func (d describer) fieldOptions(fd *descriptorpb.FieldDescriptorProto) []option {
	options := optionsOf(fd.GetOptions())
	if fd.DefaultValue != nil && !d.proto3 {
		options = append(options, option{name: "default", value: defaultValue(fd)})
	}
	if fd.JsonName != nil {
		options = append(options, option{name: "json_name", value: quoted(fd.GetJsonName())})
	}
	return options
}

func defaultValue(fd *descriptorpb.FieldDescriptorProto) value {
	switch text := fd.GetDefaultValue(); fd.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_STRING:
		return quoted(text)
	case descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		return quoted(unescaped(text))
	case descriptorpb.FieldDescriptorProto_TYPE_BOOL, descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		return word(text)
	default:
		return numeral(text)
	}
}

// unescaped undoes the escapes of a descriptor's default for bytes.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			n := 0
			for j := 0; j < 3 && i < len(s) && s[i] >= '0' && s[i] <= '7'; j++ {
				n = n<<3 | int(s[i]-'0')
				i++
			}
			i--
			b.WriteByte(byte(n)) //nolint:gosec // three octal digits of a byte
		case strings.IndexByte("abfnrtv", c) >= 0:
			b.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// extends groups extensions by what they extend.
func (d describer) extends(list []*descriptorpb.FieldDescriptorProto, beside []*descriptorpb.DescriptorProto) []*extend {
	var all []*extend
	for _, fd := range list {
		i := slices.IndexFunc(all, func(x *extend) bool { return x.extendee == fd.GetExtendee() })
		if i < 0 {
			i = len(all)
			all = append(all, &extend{extendee: fd.GetExtendee()})
		}
		if body := groupBody(fd, beside); body != nil {
			all[i].groups = append(all[i].groups, d.group(fd, body, false))
			continue
		}
		all[i].fields = append(all[i].fields, d.field(fd, false))
	}
	return all
}

func (d describer) enum(ed *descriptorpb.EnumDescriptorProto) *enum {
	e := &enum{name: ed.GetName(), options: optionsOf(ed.GetOptions())}
	for _, v := range ed.GetValue() {
		e.values = append(e.values, enumValue{name: v.GetName(), number: v.GetNumber(), options: optionsOf(v.GetOptions())})
	}
	for _, r := range ed.GetReservedRange() {
		e.reserved = append(e.reserved, reserved{ranges: []numbers{{first: r.GetStart(), last: r.GetEnd()}}})
	}
	for _, name := range ed.GetReservedName() {
		e.reserved = append(e.reserved, reserved{names: []string{name}})
	}
	return e
}

func (d describer) service(sd *descriptorpb.ServiceDescriptorProto) *service {
	s := &service{name: sd.GetName(), options: optionsOf(sd.GetOptions())}
	for _, m := range sd.GetMethod() {
		s.rpcs = append(s.rpcs, rpc{
			name: m.GetName(), request: m.GetInputType(), response: m.GetOutputType(),
			streamsIn: m.GetClientStreaming(), streamsOut: m.GetServerStreaming(), options: optionsOf(m.GetOptions()),
		})
	}
	return s
}

// describeFile describes a file that is built in.
func describeFile(f protoreflect.FileDescriptor) *file {
	return describe(protodesc.ToFileDescriptorProto(f))
}
