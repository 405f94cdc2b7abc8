package protobuf

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry/format"
)

// Schema is a parsed Protobuf file.
type Schema struct {
	limits    format.Limits
	unit      *unit
	canonical string
	// leaf is the file that this one does nothing but import publicly, else this one.
	leaf *file
	// broken is why a stored text does not compile.
	broken error
}

func newSchema(f *Format, c *compiler, u *unit, broken error) *Schema {
	schema := &Schema{limits: f.limits, unit: u, canonical: printer{}.file(u.file), leaf: u.file, broken: broken}
	if path := u.file.wraps(); path != "" {
		schema.leaf = c.leaf(path, u.file)
	}
	return schema
}

// wraps answers the path of the one file that a file imports publicly, if it has nothing else.
func (f *file) wraps() string {
	if len(f.publicImports) == 1 && len(f.imports)+len(f.messages)+len(f.enums)+len(f.services)+len(f.extends) == 0 {
		return f.publicImports[0]
	}
	return ""
}

// leaf answers the elements of an imported file that has types, else the file that imports it.
func (c *compiler) leaf(path string, f *file) *file {
	leaf := f
	if u := c.done[path]; u != nil {
		leaf = u.file
	} else if built, ok, err := c.built.find(path); ok && err == nil {
		leaf = describeFile(built)
	}
	if len(leaf.messages)+len(leaf.enums) == 0 {
		return f
	}
	return leaf
}

// compiles is false for a stored text that only parses.
func (s *Schema) compiles() bool { return s.broken == nil }

// Format is format.Protobuf.
func (s *Schema) Format() string { return format.Protobuf }

// Name is the full name of the file's first message, or of its first enum where it has no message.
func (s *Schema) Name() string {
	switch {
	case len(s.leaf.messages) > 0:
		return s.leaf.qualified(s.leaf.messages[0].name)
	case len(s.leaf.enums) > 0:
		return s.leaf.qualified(s.leaf.enums[0].name)
	}
	return ""
}

func (f *file) qualified(name string) string {
	if f.pkg == "" {
		return name
	}
	return f.pkg + "." + name
}

// Canonical is the stored text: that of the file without comments, in one layout, types and options as they are written.
func (s *Schema) Canonical() string { return s.canonical }

// Normalized is the stored text with types by their full names, everything whose order means nothing in order, and maps
// written as maps.
func (s *Schema) Normalized() (string, error) {
	if !s.compiles() {
		return s.canonical, nil
	}
	return printer{}.file(normalized(s.unit)), nil
}

// Formatted answers format.FormSerialized, the base64 of a FileDescriptorProto, and format.FormIgnoreExtensions.
func (s *Schema) Formatted(form string) (string, error) {
	switch strings.ToLower(form) {
	case format.FormIgnoreExtensions:
		return printer{plain: true}.file(s.unit.file), nil
	case format.FormSerialized:
		if s.broken != nil {
			return "", s.broken
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(s.unit.proto)
		if err != nil {
			return "", fmt.Errorf("protobuf: serialize a descriptor: %w", err)
		}
		return base64.StdEncoding.EncodeToString(raw), nil
	}
	return s.canonical, nil
}

// Validate has nothing to add to what Parse refuses.
func (s *Schema) Validate(bool) error { return nil }

// HasTopLevelField says whether one of the file's messages has a field of this name.
func (s *Schema) HasTopLevelField(name string) bool {
	return slices.ContainsFunc(s.leaf.messages, func(m *message) bool { return m.hasField(name) })
}

func (m *message) hasField(name string) bool {
	named := func(f *field) bool { return f.name == name }
	if slices.ContainsFunc(m.fields, named) {
		return true
	}
	return slices.ContainsFunc(m.oneofs, func(o *oneof) bool { return slices.ContainsFunc(o.fields, named) })
}

// Equivalent compares what the files say: the texts after normalization, without the JSON names that fields have anyway. So a
// file that was registered as a text is found when it is looked up as a descriptor.
func (s *Schema) Equivalent(other format.Schema) bool {
	o, ok := other.(*Schema)
	return ok && (s.canonical == o.canonical || s.meaning() == o.meaning())
}

// meaning is a text that two files have in common when they say the same.
func (s *Schema) meaning() string {
	if !s.compiles() {
		return s.canonical
	}
	f := normalized(s.unit)
	f.fields(func(_ string, x *field) { x.options = x.withoutDefaultName() })
	return printer{}.file(f)
}

// Descriptor is the compiled file, for those who read and write values of its messages. It is nil for a stored schema that
// does not compile.
func (s *Schema) Descriptor() protoreflect.FileDescriptor {
	if s.broken != nil {
		return nil
	}
	return s.unit.linked
}

// FileDescriptorProto is the file as serializers send it. It is nil for a stored schema that does not compile.
func (s *Schema) FileDescriptorProto() *descriptorpb.FileDescriptorProto {
	if s.broken != nil {
		return nil
	}
	return proto.Clone(s.unit.proto).(*descriptorpb.FileDescriptorProto)
}
