package protobuf

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// extensionNames finds extensions by the names under which a scope knows them.
type extensionNames struct{ types linker.Resolver }

func newExtensionNames(f linker.File) extensionNames {
	return extensionNames{linker.ResolverFromFile(f)}
}

// find looks a name up in a scope, then in the scopes around it. It answers nil when the name stands for no extension.
func (e extensionNames) find(scope, name string) protoreflect.ExtensionDescriptor {
	if full, ok := strings.CutPrefix(name, "."); ok {
		scope, name = "", full
	}
	for {
		full := protoreflect.FullName(inside(scope, name))
		if t, err := e.types.FindExtensionByName(full); err == nil {
			return t.TypeDescriptor().Descriptor()
		}
		if scope == "" {
			return nil
		}
		scope = scope[:max(0, strings.LastIndexByte(scope, '.'))]
	}
}

// options gives extensions their full names and one map for all that is said about one, and orders all by name.
func (n *normalizer) options(scope string, list []option) []option {
	out := make([]option, 0, len(list))
	known := map[string]protoreflect.ExtensionDescriptor{}
	for _, o := range list {
		if o.custom {
			if x := n.extensions.find(scope, o.name); x != nil {
				o = option{name: string(x.FullName()), custom: true, value: n.unfolded(scope, o.value)}
				known[o.name] = x
			}
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b option) int { return cmp.Compare(a.name, b.name) })
	var merged []option
	for _, o := range out {
		x, last := known[o.name], len(merged)-1
		if o.custom && x != nil && !x.IsList() && last >= 0 && merged[last].name == o.name && merged[last].custom {
			merged[last].value = merge(x.Message(), merged[last].value, o.value)
			continue
		}
		merged = append(merged, o)
	}
	for i := range merged {
		merged[i].value = n.value(scope, merged[i].value)
	}
	return merged
}

// unfolded makes maps of the rest of a dotted name.
func (n *normalizer) unfolded(scope string, v value) value {
	if v.kind != pathValue {
		return v
	}
	name := v.rest.name
	if v.rest.custom {
		name = "[" + name + "]"
	}
	return value{kind: mapValue, entries: []entry{{n.entryName(scope, name), n.unfolded(scope, v.rest.value)}}}
}

// entryName gives an extension inside a map its full name.
func (n *normalizer) entryName(scope, name string) string {
	inner, ok := strings.CutPrefix(name, "[")
	if !ok {
		return name
	}
	if x := n.extensions.find(scope, strings.TrimSuffix(inner, "]")); x != nil {
		return "[" + string(x.FullName()) + "]"
	}
	return name
}

// merge joins two values of one option: maps member by member, lists one behind the other, else the later one counts.
func merge(of protoreflect.MessageDescriptor, a, b value) value {
	if a.kind != mapValue || b.kind != mapValue {
		return b
	}
	out := value{kind: mapValue, entries: slices.Clone(a.entries)}
	for _, e := range b.entries {
		i := slices.IndexFunc(out.entries, func(x entry) bool { return x.name == e.name })
		if i < 0 {
			out.entries = append(out.entries, e)
			continue
		}
		var fd protoreflect.FieldDescriptor
		if of != nil {
			fd = of.Fields().ByName(protoreflect.Name(e.name))
		}
		switch {
		case fd == nil || fd.Cardinality() == protoreflect.Repeated:
			out.entries[i].value = joined(cloned(out.entries[i].value), e.value)
		default:
			out.entries[i].value = merge(fd.Message(), out.entries[i].value, e.value)
		}
	}
	return out
}

// cloned makes a list that can be appended to.
func cloned(v value) value {
	v.items = slices.Clone(v.items)
	return v
}

// value orders the members of maps, leaves out empty lists, writes lists of one item as that item, and numbers in one way.
func (n *normalizer) value(scope string, v value) value {
	switch v.kind {
	case numberValue:
		return number(plainNumber(v.text))
	case listValue:
		out := value{kind: listValue}
		for _, item := range v.items {
			out.items = append(out.items, n.value(scope, item))
		}
		return out
	case mapValue:
		out := value{kind: mapValue}
		for _, e := range v.entries {
			if e.value.kind == listValue && len(e.value.items) == 0 {
				continue
			}
			item := n.value(scope, e.value)
			if item.kind == listValue && len(item.items) == 1 {
				item = item.items[0]
			}
			out.entries = append(out.entries, entry{n.entryName(scope, e.name), item})
		}
		slices.SortStableFunc(out.entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
		return out
	case pathValue:
		rest := *v.rest
		rest.value = n.value(scope, rest.value)
		return value{kind: pathValue, rest: &rest}
	default:
		return v
	}
}

// plainNumber writes a number in decimal, without an exponent where that is not too long.
func plainNumber(text string) string {
	digits, negative := strings.CutPrefix(text, "-")
	if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
		text = strconv.FormatUint(u, 10)
		if negative && u != 0 {
			text = "-" + text
		}
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return text
	}
	return decimal(f, 64)
}
