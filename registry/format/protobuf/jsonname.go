package protobuf

import (
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
)

// jsonNameOption is the option of a field that gives it another name in JSON.
const jsonNameOption = "json_name"

// defaultJSONName is the name in JSON of a field that is given none: its own without underscores, and in capitals what followed
// them.
func defaultJSONName(field string) string {
	var b strings.Builder
	up := false
	for i := range len(field) {
		c := field[i]
		switch {
		case c == '_':
			up = true
			continue
		case up && c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}

// withoutDefaultName are a field's options but for the JSON name that it has anyway.
func (f *field) withoutDefaultName() []option {
	for i, o := range f.options {
		if !o.custom && o.name == jsonNameOption && o.value.kind == stringValue && o.value.text == defaultJSONName(f.name) {
			return append(f.options[:i:i], f.options[i+1:]...)
		}
	}
	return f.options
}

// dropDefaultNames takes the JSON names out of a descriptor that fields have anyway. Some compilers write them all.
func dropDefaultNames(fd *descriptorpb.FileDescriptorProto) {
	eachField(fd, func(_ string, x *descriptorpb.FieldDescriptorProto) {
		if x.GetJsonName() == defaultJSONName(x.GetName()) {
			x.JsonName = nil
		}
	})
}

// dropImpliedNames takes the JSON names out of a compiled text that the text does not give itself.
func dropImpliedNames(fd *descriptorpb.FileDescriptorProto, f *file) {
	given := map[string]bool{}
	f.fields(func(scope string, x *field) {
		for _, o := range x.options {
			if !o.custom && o.name == jsonNameOption {
				given[scope+"."+x.name] = true
			}
		}
	})
	eachField(fd, func(scope string, x *descriptorpb.FieldDescriptorProto) {
		if !given[scope+"."+x.GetName()] {
			x.JsonName = nil
		}
	})
}

// eachField visits the fields and extensions of a file with the names of the messages around them.
func eachField(fd *descriptorpb.FileDescriptorProto, visit func(scope string, x *descriptorpb.FieldDescriptorProto)) {
	var walk func(scope string, messages []*descriptorpb.DescriptorProto)
	all := func(scope string, fields []*descriptorpb.FieldDescriptorProto) {
		for _, x := range fields {
			visit(scope, x)
		}
	}
	walk = func(scope string, messages []*descriptorpb.DescriptorProto) {
		for _, m := range messages {
			in := scope + "." + m.GetName()
			all(in, m.GetField())
			all(in, m.GetExtension())
			walk(in, m.GetNestedType())
		}
	}
	all("", fd.GetExtension())
	walk("", fd.GetMessageType())
}
