//go:build interop

package decoders

import (
	"fmt"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// protoMaker makes random files and messages of them.
type protoMaker struct {
	r *rand.Rand
	// left is how many fields may still be made.
	left int
}

var scalarTypes = []descriptorpb.FieldDescriptorProto_Type{1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 12, 13, 15, 16, 17, 18}

const (
	typeGroup   = descriptorpb.FieldDescriptorProto_TYPE_GROUP
	typeMessage = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	typeEnum    = descriptorpb.FieldDescriptorProto_TYPE_ENUM
	typeString  = descriptorpb.FieldDescriptorProto_TYPE_STRING
)

func (m *protoMaker) file() *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("default"), Package: proto.String("t")}
	old := m.r.IntN(2) == 0
	if !old {
		f.Syntax = proto.String("proto3")
	}
	f.EnumType = []*descriptorpb.EnumDescriptorProto{{Name: proto.String("E"), Value: []*descriptorpb.EnumValueDescriptorProto{
		{Name: proto.String("ZERO"), Number: proto.Int32(0)}, {Name: proto.String("TWO"), Number: proto.Int32(2)},
	}}}
	count := 1 + m.r.IntN(3)
	for i := range count {
		f.MessageType = append(f.MessageType, m.message(i, count, old))
	}
	return f
}

func (m *protoMaker) message(place, count int, old bool) *descriptorpb.DescriptorProto {
	d := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("M%d", place))}
	if m.r.IntN(3) == 0 {
		d.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}}
	}
	number := int32(0)
	for i := range 1 + m.r.IntN(6) {
		number += 1 + m.r.Int32N(3)
		if m.r.IntN(12) == 0 {
			number += 2000
		}
		f := m.field(d, fmt.Sprintf("f%d", i), number, count, old)
		if i < 2 && len(d.OneofDecl) > 0 {
			f.Label, f.OneofIndex, f.Options = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), proto.Int32(0), nil
		}
		d.Field = append(d.Field, f)
	}
	if len(d.OneofDecl) == 0 && m.r.IntN(2) == 0 {
		m.mapField(d, number+1, count)
	}
	return d
}

func (m *protoMaker) field(d *descriptorpb.DescriptorProto, name string, number int32, count int, old bool) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(number), Label: m.label(old)}
	switch kind := m.r.IntN(10); {
	case kind < 2:
		f.Type, f.TypeName = typeMessage.Enum(), proto.String(fmt.Sprintf(".t.M%d", m.r.IntN(count)))
		if f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED {
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		}
	case kind == 2:
		f.Type, f.TypeName = typeEnum.Enum(), proto.String(".t.E")
	case kind == 3 && old && d.GetName()[0] == 'M': // not inside another group
		group := "G" + name
		inner := &descriptorpb.DescriptorProto{Name: proto.String(group)}
		inner.Field = append(inner.Field, m.field(inner, "g"+name, 1+m.r.Int32N(3), count, old))
		d.NestedType = append(d.NestedType, inner)
		f.Type, f.TypeName = typeGroup.Enum(), proto.String(fmt.Sprintf(".t.%s.%s", d.GetName(), group))
		f.Name = proto.String("g" + name)
	default:
		f.Type = scalarTypes[m.r.IntN(len(scalarTypes))].Enum()
		if f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED && f.GetType() != typeString && f.GetType() != 12 {
			f.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(m.r.IntN(2) == 0)}
		}
	}
	return f
}

func (m *protoMaker) label(old bool) *descriptorpb.FieldDescriptorProto_Label {
	switch n := m.r.IntN(6); {
	case n < 2:
		return descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	case n == 2 && old:
		return descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
	}
	return descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
}

func (m *protoMaker) mapField(d *descriptorpb.DescriptorProto, number int32, count int) {
	value := &descriptorpb.FieldDescriptorProto{
		Name: proto.String("value"), Number: proto.Int32(2), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		Type: typeMessage.Enum(), TypeName: proto.String(fmt.Sprintf(".t.M%d", m.r.IntN(count))),
	}
	if m.r.IntN(2) == 0 {
		value.Type, value.TypeName = scalarTypes[m.r.IntN(len(scalarTypes))].Enum(), nil
	}
	d.NestedType = append(d.NestedType, &descriptorpb.DescriptorProto{
		Name: proto.String("MEntry"), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
		Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("key"), Number: proto.Int32(1), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type: typeString.Enum(),
		}, value},
	})
	d.Field = append(d.Field, &descriptorpb.FieldDescriptorProto{
		Name: proto.String("m"), Number: proto.Int32(number), Label: descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(),
		Type: typeMessage.Enum(), TypeName: proto.String(".t." + d.GetName() + ".MEntry"),
	})
}

// value appends a random message.
func (m *protoMaker) value(b []byte, f *descriptorpb.FileDescriptorProto, d *descriptorpb.DescriptorProto, depth int) []byte {
	for _, field := range d.GetField() {
		times := m.r.IntN(3)
		if field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED && m.r.IntN(20) > 0 {
			times = max(times, 1)
		}
		for range times {
			b = m.fieldValue(b, f, d, field, depth)
		}
	}
	if m.r.IntN(4) == 0 {
		b = m.unknown(b, 3)
	}
	return b
}

func (m *protoMaker) unknown(b []byte, depth int) []byte {
	number := protowire.Number(1 + m.r.IntN(40))
	switch m.r.IntN(5) {
	case 0:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), m.r.Uint64()>>m.r.IntN(64))
	case 1:
		return protowire.AppendFixed32(protowire.AppendTag(b, number, protowire.Fixed32Type), m.r.Uint32())
	case 2:
		return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), m.r.Uint64())
	case 3:
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), texts[m.r.IntN(len(texts))])
	}
	b = protowire.AppendTag(b, number, protowire.StartGroupType)
	for range m.r.IntN(depth + 1) {
		b = m.unknown(b, depth-1)
	}
	return protowire.AppendTag(b, number, protowire.EndGroupType)
}

func (m *protoMaker) fieldValue(b []byte, f *descriptorpb.FileDescriptorProto, d *descriptorpb.DescriptorProto,
	field *descriptorpb.FieldDescriptorProto, depth int,
) []byte {
	number := protowire.Number(field.GetNumber())
	m.left--
	switch field.GetType() {
	case typeMessage, typeGroup:
		if depth < 0 || m.left < 0 {
			return b
		}
		inner := find(f, d, field.GetTypeName())
		body := m.value(nil, f, inner, depth-1)
		if field.GetType() == typeGroup {
			b = append(protowire.AppendTag(b, number, protowire.StartGroupType), body...)
			return protowire.AppendTag(b, number, protowire.EndGroupType)
		}
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), body)
	case typeString, descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), texts[m.r.IntN(len(texts))])
	default:
		return m.scalars(b, number, field)
	}
}

// scalars appends one value, or a run of them in one piece.
func (m *protoMaker) scalars(b []byte, number protowire.Number, field *descriptorpb.FieldDescriptorProto) []byte {
	wire, one := m.scalar(field.GetType())
	if field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED && m.r.IntN(2) == 0 {
		var run []byte
		for range m.r.IntN(4) {
			_, more := m.scalar(field.GetType())
			run = append(run, more...)
		}
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), run)
	}
	return append(protowire.AppendTag(b, number, wire), one...)
}

func (m *protoMaker) scalar(t descriptorpb.FieldDescriptorProto_Type) (protowire.Type, []byte) {
	switch t {
	case 1, 6, 16:
		return protowire.Fixed64Type, protowire.AppendFixed64(nil, m.r.Uint64())
	case 2, 7, 15:
		return protowire.Fixed32Type, protowire.AppendFixed32(nil, m.r.Uint32())
	case typeEnum:
		return protowire.VarintType, protowire.AppendVarint(nil, uint64(m.r.IntN(4)))
	default:
		return protowire.VarintType, protowire.AppendVarint(nil, m.r.Uint64()>>m.r.IntN(64))
	}
}

func find(f *descriptorpb.FileDescriptorProto, d *descriptorpb.DescriptorProto, name string) *descriptorpb.DescriptorProto {
	for _, m := range f.GetMessageType() {
		if ".t."+m.GetName() == name {
			return m
		}
		for _, inner := range m.GetNestedType() {
			if ".t."+m.GetName()+"."+inner.GetName() == name {
				return inner
			}
		}
	}
	return d
}
