package protobuf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile/ast"

	"moldau/registry/format"
)

// reader makes elements out of a syntax tree.
type reader struct {
	info *ast.FileNode
	// left is how many elements may still be made, depth how deep they may nest.
	left, depth int
}

// read answers the elements of a file, or an error when there are too many.
func read(n *ast.FileNode, l format.Limits) (*file, error) {
	r := &reader{info: n, left: l.Fields, depth: l.Depth}
	f := &file{}
	if n.Syntax != nil {
		f.syntax = n.Syntax.Syntax.AsString()
	}
	if n.Edition != nil {
		f.edition = n.Edition.Edition.AsString()
	}
	for _, d := range n.Decls {
		if err := r.file(f, d); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (r *reader) spend() error {
	if r.left--; r.left < 0 {
		return fmt.Errorf("%w: too many messages, fields and values", format.ErrTooLarge)
	}
	return nil
}

// deeper runs a step one level down.
func (r *reader) deeper(do func() error) error {
	if r.depth--; r.depth < 0 {
		return fmt.Errorf("%w: nested too deeply", format.ErrTooLarge)
	}
	err := do()
	r.depth++
	return err
}

func (r *reader) file(f *file, d ast.FileElement) (err error) {
	switch d := d.(type) {
	case *ast.PackageNode:
		f.pkg = string(d.Name.AsIdentifier())
	case *ast.ImportNode:
		switch path := d.Name.AsString(); {
		case d.Public != nil:
			f.publicImports = append(f.publicImports, path)
		case d.Weak != nil:
			f.weakImports = append(f.weakImports, path)
		default:
			f.imports = append(f.imports, path)
		}
	case *ast.OptionNode:
		f.options, err = r.addOption(f.options, d)
	case *ast.MessageNode:
		err = r.addMessage(&f.messages, d)
	case *ast.EnumNode:
		err = r.addEnum(&f.enums, d)
	case *ast.ExtendNode:
		err = r.addExtend(&f.extends, d)
	case *ast.ServiceNode:
		err = r.addService(f, d)
	}
	return err
}

func (r *reader) addMessage(to *[]*message, n *ast.MessageNode) error {
	m, err := r.body(n.Name.Val, n.Decls)
	*to = append(*to, m)
	return err
}

// body reads a message or the type of a group.
func (r *reader) body(name string, decls []ast.MessageElement) (*message, error) {
	m := &message{name: name}
	if err := r.spend(); err != nil {
		return nil, err
	}
	return m, r.deeper(func() error {
		for _, d := range decls {
			if err := r.member(m, d); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *reader) member(m *message, d ast.MessageElement) (err error) {
	switch d := d.(type) {
	case *ast.OptionNode:
		m.options, err = r.addOption(m.options, d)
	case *ast.FieldNode:
		err = r.addField(&m.fields, d)
	case *ast.MapFieldNode:
		err = r.addMap(&m.fields, d)
	case *ast.GroupNode:
		err = r.addGroup(&m.groups, d)
	case *ast.OneofNode:
		err = r.addOneof(m, d)
	case *ast.MessageNode:
		err = r.addMessage(&m.messages, d)
	case *ast.EnumNode:
		err = r.addEnum(&m.enums, d)
	case *ast.ExtendNode:
		err = r.addExtend(&m.extends, d)
	case *ast.ExtensionRangeNode:
		x := extensions{ranges: ranges(d.Ranges, maxNumber)}
		x.options, err = r.compact(d.Options)
		m.extensions = append(m.extensions, x)
	case *ast.ReservedNode:
		m.reserved = append(m.reserved, readReserved(d, maxNumber))
	}
	return err
}

func label(l ast.FieldLabel) string {
	if l.KeywordNode == nil {
		return ""
	}
	return l.Val
}

func (r *reader) addField(to *[]*field, n *ast.FieldNode) (err error) {
	if err := r.spend(); err != nil {
		return err
	}
	f := &field{label: label(n.Label), typ: string(n.FldType.AsIdentifier()), name: n.Name.Val, number: clamp(n.Tag.Val)}
	f.options, err = r.fieldOptions(n.Options)
	*to = append(*to, f)
	return err
}

func (r *reader) addMap(to *[]*field, n *ast.MapFieldNode) (err error) {
	if err := r.spend(); err != nil {
		return err
	}
	f := &field{
		key: n.MapType.KeyType.Val, value: string(n.MapType.ValueType.AsIdentifier()),
		name: n.Name.Val, number: clamp(n.Tag.Val),
	}
	f.options, err = r.fieldOptions(n.Options)
	*to = append(*to, f)
	return err
}

func (r *reader) addGroup(to *[]*group, n *ast.GroupNode) (err error) {
	g := &group{label: label(n.Label), number: clamp(n.Tag.Val)}
	if g.options, err = r.fieldOptions(n.Options); err != nil {
		return err
	}
	g.body, err = r.body(n.Name.Val, n.Decls)
	*to = append(*to, g)
	return err
}

func (r *reader) addOneof(m *message, n *ast.OneofNode) (err error) {
	o := &oneof{name: n.Name.Val}
	m.oneofs = append(m.oneofs, o)
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			o.options, err = r.addOption(o.options, d)
		case *ast.FieldNode:
			err = r.addField(&o.fields, d)
		case *ast.GroupNode:
			err = r.addGroup(&o.groups, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) addExtend(to *[]*extend, n *ast.ExtendNode) (err error) {
	x := &extend{extendee: string(n.Extendee.AsIdentifier())}
	*to = append(*to, x)
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.FieldNode:
			err = r.addField(&x.fields, d)
		case *ast.GroupNode:
			err = r.addGroup(&x.groups, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) addEnum(to *[]*enum, n *ast.EnumNode) (err error) {
	e := &enum{name: n.Name.Val}
	*to = append(*to, e)
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			e.options, err = r.addOption(e.options, d)
		case *ast.EnumValueNode:
			err = r.addEnumValue(e, d)
		case *ast.ReservedNode:
			e.reserved = append(e.reserved, readReserved(d, math.MaxInt32))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) addEnumValue(e *enum, n *ast.EnumValueNode) (err error) {
	if err := r.spend(); err != nil {
		return err
	}
	v := enumValue{name: n.Name.Val, number: int32Of(n.Number)}
	v.options, err = r.compact(n.Options)
	e.values = append(e.values, v)
	return err
}

func (r *reader) addService(f *file, n *ast.ServiceNode) (err error) {
	s := &service{name: n.Name.Val}
	f.services = append(f.services, s)
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			s.options, err = r.addOption(s.options, d)
		case *ast.RPCNode:
			err = r.addRPC(s, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) addRPC(s *service, n *ast.RPCNode) (err error) {
	if err := r.spend(); err != nil {
		return err
	}
	m := rpc{
		name:       n.Name.Val,
		request:    string(n.Input.MessageType.AsIdentifier()),
		response:   string(n.Output.MessageType.AsIdentifier()),
		streamsIn:  n.Input.Stream != nil,
		streamsOut: n.Output.Stream != nil,
	}
	for _, d := range n.Decls {
		if o, ok := d.(*ast.OptionNode); ok {
			if m.options, err = r.addOption(m.options, o); err != nil {
				return err
			}
		}
	}
	s.rpcs = append(s.rpcs, m)
	return nil
}

func readReserved(n *ast.ReservedNode, last int32) reserved {
	r := reserved{ranges: ranges(n.Ranges, last)}
	for _, s := range n.Names {
		r.names = append(r.names, s.AsString())
	}
	for _, s := range n.Identifiers {
		r.names = append(r.names, s.Val)
	}
	return r
}

func ranges(nodes []*ast.RangeNode, last int32) []numbers {
	var list []numbers
	for _, n := range nodes {
		x := numbers{first: int32Of(n.StartVal), last: int32Of(n.StartVal)}
		switch {
		case n.Max != nil:
			x.last = last
		case n.EndVal != nil:
			x.last = int32Of(n.EndVal)
			x.spelled = x.last == x.first
		}
		list = append(list, x)
	}
	return list
}

// int32Of answers a number that the compiler will have checked, or the nearest one.
func int32Of(n ast.IntValueNode) int32 {
	if v, ok := n.AsInt64(); ok {
		return int32(max(math.MinInt32, min(math.MaxInt32, v)))
	}
	return math.MaxInt32
}

func clamp(n uint64) int32 { return int32(min(n, math.MaxInt32)) }

// fieldOptions reads the options of a field; its default and its JSON name stand last.
func (r *reader) fieldOptions(n *ast.CompactOptionsNode) ([]option, error) {
	all, err := r.compact(n)
	if err != nil {
		return nil, err
	}
	var own, def, json []option
	for _, o := range all {
		switch {
		case !o.custom && o.name == "default":
			def = append(def, o)
		case !o.custom && o.name == "json_name":
			json = append(json, o)
		default:
			own = append(own, o)
		}
	}
	return append(append(own, def...), json...), nil
}

func (r *reader) compact(n *ast.CompactOptionsNode) (options []option, err error) {
	if n == nil {
		return nil, nil
	}
	for _, o := range n.Options {
		if options, err = r.addOption(options, o); err != nil {
			return nil, err
		}
	}
	return options, nil
}

func (r *reader) addOption(to []option, n *ast.OptionNode) ([]option, error) {
	v, err := r.value(n.Val)
	if err != nil {
		return nil, err
	}
	// A name that begins with an extension is that extension with a path below it; one that does not is one name.
	parts := n.Name.Parts
	if !parts[0].IsExtension() {
		names := make([]string, len(parts))
		for i, p := range parts {
			names[i] = p.Value()
		}
		return append(to, option{name: strings.Join(names, "."), value: v}), nil
	}
	o := option{value: v}
	for i := len(parts) - 1; i >= 0; i-- {
		o.name, o.custom = string(parts[i].Name.AsIdentifier()), parts[i].IsExtension()
		if i > 0 {
			below := o
			o = option{value: value{kind: pathValue, rest: &below}}
		}
	}
	return append(to, o), nil
}

func (r *reader) value(n ast.ValueNode) (v value, err error) {
	if err := r.spend(); err != nil {
		return v, err
	}
	switch n := n.(type) {
	case ast.StringValueNode:
		return quoted(n.AsString()), nil
	case ast.IdentValueNode:
		return word(string(n.AsIdentifier())), nil
	case *ast.MessageLiteralNode:
		v.kind = mapValue
		err = r.deeper(func() error { return r.entries(&v, n) })
		return v, err
	case *ast.ArrayLiteralNode:
		v.kind = listValue
		err = r.deeper(func() error {
			for _, e := range n.Elements {
				item, err := r.value(e)
				if err != nil {
					return err
				}
				v.items = append(v.items, item)
			}
			return nil
		})
		return v, err
	default:
		return r.number(n), nil
	}
}

// number keeps a number as it is written.
func (r *reader) number(n ast.ValueNode) value {
	return numeral(strings.Join(strings.Fields(r.info.NodeInfo(n).RawText()), ""))
}

// numeral is a number, or one of the words that stand for infinity and not-a-number.
func numeral(text string) value {
	switch strings.TrimPrefix(text, "-") {
	case "inf", "infinity", "nan":
		return word(text)
	}
	return number(text)
}

// entries reads a map value. Entries of one name are one list, in the place of the first.
func (r *reader) entries(v *value, n *ast.MessageLiteralNode) error {
	at := map[string]int{}
	for _, e := range n.Elements {
		item, err := r.value(e.Val)
		if err != nil {
			return err
		}
		name := e.Name.Value()
		if i, again := at[name]; again {
			v.entries[i].value = joined(v.entries[i].value, item)
			continue
		}
		at[name] = len(v.entries)
		v.entries = append(v.entries, entry{name, item})
	}
	return nil
}

func joined(a, b value) value {
	if a.kind != listValue {
		a = value{kind: listValue, items: []value{a}}
	}
	if b.kind == listValue {
		a.items = append(a.items, b.items...)
	} else {
		a.items = append(a.items, b)
	}
	return a
}

func itoa(n int32) string { return strconv.FormatInt(int64(n), 10) }
