package protobuf

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// renameMapEntries gives the messages that hold the entries of maps the names that the compiler demands. Some registries
// derive others from the fields' names when they serialize a schema; on the wire the name means nothing.
func renameMapEntries(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, fd := range m.GetField() {
			entry := mapEntry(fd, m.GetNestedType())
			if entry == nil || fd.GetLabel() != descriptorpb.FieldDescriptorProto_LABEL_REPEATED {
				continue
			}
			if name := entryName(fd.GetName()); name != entry.GetName() {
				fd.TypeName = proto.String(fd.GetTypeName()[:len(fd.GetTypeName())-len(entry.GetName())] + name)
				entry.Name = proto.String(name)
			}
		}
		renameMapEntries(m.GetNestedType())
	}
}

// entryName is the name of the message that holds the entries of a map: the field's name without underscores, every word
// capitalized.
func entryName(field string) string {
	var b strings.Builder
	up := true
	for _, r := range field {
		switch {
		case r == '_':
			up = true
			continue
		case up && r < utf8.RuneSelf:
			b.WriteString(strings.ToUpper(string(r)))
		default:
			b.WriteRune(r)
		}
		up = false
	}
	return b.String() + "Entry"
}
