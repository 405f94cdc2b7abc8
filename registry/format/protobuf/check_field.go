package protobuf

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// wireGroup is a set of scalar types that read each other's bytes.
type wireGroup int

const (
	varint wireGroup = iota + 1
	zigzag
	fixed32
	fixed64
	float32bits
	float64bits
	lengthDelimited
)

var wireGroups = map[protoreflect.Kind]wireGroup{
	protoreflect.Int32Kind: varint, protoreflect.Int64Kind: varint, protoreflect.Uint32Kind: varint,
	protoreflect.Uint64Kind: varint, protoreflect.BoolKind: varint, protoreflect.EnumKind: varint,
	protoreflect.Sint32Kind: zigzag, protoreflect.Sint64Kind: zigzag,
	protoreflect.Fixed32Kind: fixed32, protoreflect.Sfixed32Kind: fixed32,
	protoreflect.Fixed64Kind: fixed64, protoreflect.Sfixed64Kind: fixed64,
	protoreflect.FloatKind: float32bits, protoreflect.DoubleKind: float64bits,
	protoreflect.StringKind: lengthDelimited, protoreflect.BytesKind: lengthDelimited,
}

// shape is what kind of value a field has.
type shape string

const (
	scalarShape  shape = "a scalar"
	messageShape shape = "a message"
	mapShape     shape = "a map"
)

func shapeOf(f protoreflect.FieldDescriptor) shape {
	switch {
	case f.IsMap():
		return mapShape
	case f.Message() != nil:
		return messageShape
	default:
		return scalarShape
	}
}

// labelOf is the label that a field is written with; it is empty where none is written.
func labelOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap() || oneofOf(f) != nil:
		return ""
	case f.Cardinality() == protoreflect.Repeated:
		return "repeated"
	case f.Cardinality() == protoreflect.Required:
		return "required"
	case f.HasOptionalKeyword():
		return "optional"
	default:
		return ""
	}
}

// field compares what two fields of one number hold.
func (c *checker) field(at []string, r, w protoreflect.FieldDescriptor) (findings, error) {
	return c.value(at, r, w, labelOf(r), labelOf(w))
}

func (c *checker) value(at []string, r, w protoreflect.FieldDescriptor, rLabel, wLabel string) (findings, error) {
	if shapeOf(r) != shapeOf(w) {
		return c.found(fieldKindChanged, at, "Field %s is %s in the %s schema and %s in the %s schema",
			w.Name(), shapeOf(r), c.reader, shapeOf(w), c.writer), nil
	}
	switch shapeOf(r) {
	case mapShape:
		all, err := c.value(at, r.MapKey(), w.MapKey(), "", "")
		if err != nil {
			return nil, err
		}
		found, err := c.value(at, r.MapValue(), w.MapValue(), "", "")
		return all.with(found), err
	case messageShape:
		return c.named(at, r, w)
	default:
		return c.scalar(at, r, w, rLabel, wLabel), nil
	}
}

// scalar compares how two scalars are written, and whether a number was written alone and is read as many, or so.
func (c *checker) scalar(at []string, r, w protoreflect.FieldDescriptor, rLabel, wLabel string) findings {
	rg, wg := wireGroups[r.Kind()], wireGroups[w.Kind()]
	switch {
	case rg != wg:
		return c.found(scalarKindChanged, at, "Field %s is %s in the %s schema and %s in the %s schema, which is written differently",
			w.Name(), r.Kind(), c.reader, w.Kind(), c.writer)
	case rg != lengthDelimited && rLabel != "" && wLabel != "" && rLabel != wLabel:
		return c.found(numericLabelChanged, at, "The numeric field %s is %s in the %s schema and %s in the %s schema",
			w.Name(), rLabel, c.reader, wLabel, c.writer)
	}
	return nil
}

// named compares two fields that hold messages. Those of the files themselves are compared where they stand.
func (c *checker) named(at []string, r, w protoreflect.FieldDescriptor) (findings, error) {
	rm, wm := r.Message(), w.Message()
	if localName(rm) != localName(wm) {
		return c.found(namedTypeChanged, at, "Field %s is a %s in the %s schema and a %s in the %s schema",
			w.Name(), rm.FullName(), c.reader, wm.FullName(), c.writer), nil
	}
	if rm == wm || rm.ParentFile().Path() == c.rRoot.Path() && wm.ParentFile().Path() == c.wRoot.Path() {
		return nil, nil
	}
	found, err := c.imported(rm, wm)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return append(findings(nil), found...).with(c.found(namedTypeChanged, at,
		"The message %s of field %s in the %s schema cannot read that of the %s schema", rm.FullName(), w.Name(), c.reader, c.writer)), nil
}
