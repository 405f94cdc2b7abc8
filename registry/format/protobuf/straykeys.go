package protobuf

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MaxNesting is how deeply the decoders for Java, C++ and Python follow messages and groups into each other.
const MaxNesting = 100

// ErrTooDeep says that a payload nests more deeply than that.
var ErrTooDeep = errors.New("nested too deeply")

// Extensions finds extensions by the name of the message that they extend and their number, as those of the library do.
type Extensions interface {
	FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error)
}

// WithoutStrayKeys returns the bytes of a message without those fields in entries of maps that have the number of the key and another
// wire type. Every runtime of the language skips them; the library (1.36.12) loses the key that came before them and panics when
// it enters none. What comes back is b where there is nothing to leave out, and never shares memory with b otherwise.
// Bytes that are no message stay as they are, behind what could be read: the library refuses them. The error is ErrTooDeep.
func WithoutStrayKeys(d protoreflect.MessageDescriptor, x Extensions, b []byte) ([]byte, error) {
	return strayKeys{x}.message(d, b, 0)
}

// strayKeys leaves such fields out.
type strayKeys struct{ extensions Extensions }

func (s strayKeys) message(d protoreflect.MessageDescriptor, b []byte, depth int) ([]byte, error) {
	if depth > MaxNesting {
		return nil, ErrTooDeep
	}
	return edit(b, func(f wireField) ([]byte, bool, error) {
		fd := s.field(d, f.number)
		if fd == nil || fd.Message() == nil {
			return nil, false, nil
		}
		if fd.IsMap() {
			return s.replace(f, func(in []byte) ([]byte, error) { return s.entry(fd, in, depth) })
		}
		return s.replace(f, func(in []byte) ([]byte, error) { return s.message(fd.Message(), in, depth+1) })
	})
}

// entry does it for an entry of a map.
func (s strayKeys) entry(fd protoreflect.FieldDescriptor, b []byte, depth int) ([]byte, error) {
	key, value := wireType(fd.MapKey().Kind()), fd.MapValue().Message()
	return edit(b, func(f wireField) ([]byte, bool, error) {
		switch {
		case f.number == 1 && f.kind != key:
			return nil, true, nil
		case f.number == 2 && value != nil:
			return s.replace(f, func(in []byte) ([]byte, error) { return s.message(value, in, depth+1) })
		}
		return nil, false, nil
	})
}

func (s strayKeys) field(d protoreflect.MessageDescriptor, n protowire.Number) protoreflect.FieldDescriptor {
	if fd := d.Fields().ByNumber(n); fd != nil || !d.ExtensionRanges().Has(n) {
		return fd
	}
	xt, err := s.extensions.FindExtensionByNumber(d.FullName(), n)
	if err != nil {
		return nil // protoregistry.NotFound: the library keeps it as unknown
	}
	return xt.TypeDescriptor()
}

// replace edits what a field holds, if that is a message in either form.
func (s strayKeys) replace(f wireField, do func([]byte) ([]byte, error)) (out []byte, changed bool, err error) {
	var in []byte
	switch f.kind {
	case protowire.BytesType:
		in, _ = protowire.ConsumeBytes(f.value)
	case protowire.StartGroupType:
		in, _ = protowire.ConsumeGroup(f.number, f.value)
	default:
		return nil, false, nil
	}
	edited, err := do(in)
	if err != nil || len(edited) == len(in) { // nothing but leaving out happens
		return nil, false, err
	}
	out = protowire.AppendTag(nil, f.number, f.kind)
	if f.kind == protowire.StartGroupType {
		return protowire.AppendGroup(out, f.number, edited), true, nil
	}
	return protowire.AppendBytes(out, edited), true, nil
}

// wireField is a field as it stands in a payload.
type wireField struct {
	number protowire.Number
	kind   protowire.Type
	value  []byte // behind the tag
}

// edit puts other bytes in the place of the fields that change says so of.
func edit(b []byte, change func(wireField) (instead []byte, changed bool, err error)) ([]byte, error) {
	var out []byte
	kept := 0 // up to here b is in out
	for at := 0; at < len(b); {
		number, kind, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			break
		}
		m := protowire.ConsumeFieldValue(number, kind, b[at+n:])
		if m < 0 {
			break
		}
		instead, changed, err := change(wireField{number, kind, b[at+n : at+n+m]})
		if err != nil {
			return nil, err
		}
		if changed {
			out = append(append(out, b[kept:at]...), instead...)
			kept = at + n + m
		}
		at += n + m
	}
	if kept == 0 {
		return b, nil
	}
	return append(out, b[kept:]...), nil
}

// wireType is how a key of a map is written.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	case protoreflect.StringKind:
		return protowire.BytesType
	default:
		return protowire.VarintType
	}
}
