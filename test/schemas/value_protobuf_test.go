package schemas

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"moldau/registry/format/protobuf"
)

// protobufValues makes a value of each message up, also of those within others.
func protobufValues(t *testing.T, s *schema) []made {
	t.Helper()
	file := s.parsed.(*protobuf.Schema).Descriptor()
	return messageValues(t, file.Messages())
}

func messageValues(t *testing.T, messages protoreflect.MessageDescriptors) []made {
	t.Helper()
	var out []made
	for i := range messages.Len() {
		d := messages.Get(i)
		if d.IsMapEntry() {
			continue
		}
		m := dynamicpb.NewMessage(d)
		fill(m, 0)
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Fatalf("%s: %v", d.FullName(), err)
		}
		out = append(out, made{string(d.FullName()), string(text)})
		out = append(out, messageValues(t, d.Messages())...)
	}
	return out
}

// filled is how deeply messages are filled.
const filled = 3

// wellKnown are the messages whose JSON is not just that of their fields; they stay empty, but for those in which any number
// is one of their values.
var wellKnown = map[protoreflect.FullName]bool{
	"google.protobuf.Any": true, "google.protobuf.FieldMask": true, "google.protobuf.Struct": true, "google.protobuf.ListValue": true,
	"google.protobuf.Empty": true,
}

// fill gives every field of a message a value.
func fill(m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		switch {
		case f.Message() != nil && depth >= filled && f.Cardinality() != protoreflect.Required:
		case f.IsMap():
			entries := m.Mutable(f).Map()
			key := scalar(f.MapKey()).MapKey()
			if f.MapValue().Message() == nil {
				entries.Set(key, scalar(f.MapValue()))
			} else if v := entries.NewValue(); fillMessage(v.Message(), depth+1) {
				entries.Set(key, v)
			}
		case f.IsList():
			list := m.Mutable(f).List()
			if f.Message() == nil {
				list.Append(scalar(f))
			} else if v := list.NewElement(); fillMessage(v.Message(), depth+1) {
				list.Append(v)
			}
		case f.Message() != nil:
			if v := m.NewField(f); fillMessage(v.Message(), depth+1) {
				m.Set(f, v)
			}
		default:
			m.Set(f, scalar(f))
		}
	}
}

// fillMessage fills a message; false says that it may not stand there with what is in it.
func fillMessage(m protoreflect.Message, depth int) bool {
	name := m.Descriptor().FullName()
	if name == "google.protobuf.Value" {
		m.Set(m.Descriptor().Fields().ByName("bool_value"), protoreflect.ValueOfBool(true))
		return true
	}
	if !wellKnown[name] {
		fill(m, depth)
	}
	return true
}

func scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(values.Len() - 1).Number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(7)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(7)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(7)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(7)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(0.5)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(0.5)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{0, 0xff})
	default:
		return protoreflect.ValueOfString("grüße")
	}
}
