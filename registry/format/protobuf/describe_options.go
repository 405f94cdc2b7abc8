package protobuf

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// optionOrder is the order in which clients write the options of the language; others follow by number. Extensions stand
// behind them, those for tags and rules first.
var optionOrder = func() map[protoreflect.Name]int {
	order := map[protoreflect.Name]int{}
	for i, name := range []protoreflect.Name{
		"java_package", "java_outer_classname", "java_multiple_files", "java_generate_equals_and_hash",
		"java_string_check_utf8", "optimize_for", "go_package", "cc_generic_services", "java_generic_services",
		"py_generic_services", "ctype", "packed", "jstype", "no_standard_descriptor_accessor", "allow_alias", "deprecated",
		"idempotency_level", "map_entry", "debug_redact", "cc_enable_arenas", "objc_class_prefix", "csharp_namespace",
		"swift_prefix", "php_class_prefix", "php_namespace", "php_metadata_namespace", "ruby_package", "retention",
		"targets", "edition_defaults", "declaration", "features", "feature_support", "verification",
	} {
		order[name] = i + 1
	}
	return order
}()

// optionsOf describes the options that are set in a message of options.
func optionsOf(m proto.Message) []option {
	type set struct {
		fd protoreflect.FieldDescriptor
		v  protoreflect.Value
	}
	var all []set
	m.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Name() != "uninterpreted_option" {
			all = append(all, set{fd, v})
		}
		return true
	})
	slices.SortFunc(all, func(a, b set) int {
		return cmp.Or(cmp.Compare(optionRank(a.fd), optionRank(b.fd)), cmp.Compare(a.fd.Number(), b.fd.Number()))
	})
	var options []option
	for _, s := range all {
		name := string(s.fd.Name())
		if s.fd.IsExtension() {
			name = string(s.fd.FullName())
		}
		if s.fd.IsList() {
			for i := range s.v.List().Len() {
				options = append(options, option{name, s.fd.IsExtension(), describedValue(s.fd, s.v.List().Get(i))})
			}
			continue
		}
		options = append(options, option{name, s.fd.IsExtension(), describedValue(s.fd, s.v)})
	}
	return append(options, uninterpreted(m)...)
}

func optionRank(fd protoreflect.FieldDescriptor) int {
	const last = 1 << 10
	switch {
	case fd.IsExtension() && fd.FullName().Parent() == "confluent":
		return last + 1
	case fd.IsExtension():
		return last + 2
	}
	if rank := optionOrder[fd.Name()]; rank > 0 {
		return rank
	}
	return last
}

// describedValue describes one value, of a list's items one.
func describedValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) value {
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return describedMessage(v.Message())
	case protoreflect.EnumKind:
		if ev := fd.Enum().Values().ByNumber(v.Enum()); ev != nil {
			return word(string(ev.Name()))
		}
		return number(itoa(int32(v.Enum())))
	case protoreflect.BoolKind:
		return word(strconv.FormatBool(v.Bool()))
	case protoreflect.StringKind:
		return quoted(v.String())
	case protoreflect.BytesKind:
		return quoted(string(v.Bytes()))
	case protoreflect.FloatKind:
		return floating(v.Float(), 32)
	case protoreflect.DoubleKind:
		return floating(v.Float(), 64)
	default:
		return number(v.String())
	}
}

func floating(f float64, bits int) value {
	switch {
	case math.IsNaN(f):
		return word("nan")
	case math.IsInf(f, 1):
		return word("inf")
	case math.IsInf(f, -1):
		return word("-inf")
	}
	return number(decimal(f, bits))
}

// decimal writes a number with all of its digits and without an exponent, unless that would take too many zeros.
func decimal(f float64, bits int) string {
	const manyDigits = 40
	if s := strconv.FormatFloat(f, 'f', -1, bits); len(s) <= manyDigits {
		return s
	}
	return strconv.FormatFloat(f, 'e', -1, bits)
}

func describedMessage(m protoreflect.Message) value {
	type set struct {
		fd protoreflect.FieldDescriptor
		v  protoreflect.Value
	}
	var all []set
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		all = append(all, set{fd, v})
		return true
	})
	slices.SortFunc(all, func(a, b set) int { return cmp.Compare(a.fd.Number(), b.fd.Number()) })
	out := value{kind: mapValue}
	for _, s := range all {
		name := string(s.fd.Name())
		if s.fd.IsExtension() {
			name = "[" + string(s.fd.FullName()) + "]"
		}
		out.entries = append(out.entries, entry{name, describedField(s.fd, s.v)})
	}
	return out
}

func describedField(fd protoreflect.FieldDescriptor, v protoreflect.Value) value {
	switch {
	case fd.IsMap():
		return describedMap(fd, v.Map())
	case fd.IsList():
		list := value{kind: listValue}
		for i := range v.List().Len() {
			list.items = append(list.items, describedValue(fd, v.List().Get(i)))
		}
		return list
	default:
		return describedValue(fd, v)
	}
}

// describedMap writes a map as the list of entries that it is on the wire, ordered by key.
func describedMap(fd protoreflect.FieldDescriptor, m protoreflect.Map) value {
	var keys []protoreflect.MapKey
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return cmp.Compare(a.String(), b.String()) })
	list := value{kind: listValue}
	for _, k := range keys {
		pair := []entry{
			{"key", describedValue(fd.MapKey(), k.Value())},
			{"value", describedValue(fd.MapValue(), m.Get(k))},
		}
		if fd.FullName() == "confluent.Meta.params" && (k.String() == "precision" || k.String() == "scale") {
			slices.Reverse(pair) // as clients have always written these two
		}
		list.items = append(list.items, value{kind: mapValue, entries: pair})
	}
	return list
}

// uninterpreted describes options whose names nothing here could explain.
func uninterpreted(m proto.Message) []option {
	with, ok := m.(interface {
		GetUninterpretedOption() []*descriptorpb.UninterpretedOption
	})
	if !ok {
		return nil
	}
	var options []option
	for _, u := range with.GetUninterpretedOption() {
		var v value
		switch {
		case u.StringValue != nil:
			v = quoted(string(u.StringValue))
		case u.IdentifierValue != nil:
			v = word(u.GetIdentifierValue())
		case u.PositiveIntValue != nil:
			v = number(strconv.FormatUint(u.GetPositiveIntValue(), 10))
		case u.NegativeIntValue != nil:
			v = number(strconv.FormatInt(u.GetNegativeIntValue(), 10))
		case u.DoubleValue != nil:
			v = floating(u.GetDoubleValue(), 64)
		default:
			v = word("{" + u.GetAggregateValue() + "}")
		}
		o := option{value: v}
		for i, part := range slices.Backward(u.GetName()) {
			o.name, o.custom = part.GetNamePart(), part.GetIsExtension()
			if i > 0 {
				below := o
				o = option{value: value{kind: pathValue, rest: &below}}
			}
		}
		options = append(options, o)
	}
	return options
}
