package avro

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strings"

	"moldau/registry/format"
)

// maxFixed is the largest size of a fixed that Java can hold.
const maxFixed = math.MaxInt32 - 8

// parser makes graphs out of texts that share their named types.
type parser struct {
	ctx    context.Context
	strict bool
	types  map[string]*node
	// left is how many nodes and symbols may still be made, depth how deep they may nest.
	left, depth int
	// awaiting are the places where a type was named before it was defined; unions and defaults are checked once every
	// name has its type.
	awaiting []**node
	unions   []*node
	defaults []defaultOf
	fitting  *fitting
}

// defaultOf is a field with a default, in the record that has it.
type defaultOf struct {
	record *node
	field  *field
}

// graphs are the roots of a source's texts.
type graphs struct {
	refs []*node
	root *node
	// borrowed says that a reference defines the root.
	borrowed bool
}

// parse reads the texts of a source in order.
func parse(ctx context.Context, s format.Source, l format.Limits) (g graphs, err error) {
	p := &parser{ctx: ctx, strict: s.New, types: map[string]*node{}, left: l.Fields, depth: l.Depth, fitting: &fitting{}}
	for _, r := range s.References {
		n, err := p.text(r.Text)
		if err != nil {
			return graphs{}, fmt.Errorf("reference %q: %w", r.Name, err)
		}
		g.refs = append(g.refs, n)
	}
	borrowed := maps.Clone(p.types)
	if g.root, err = p.text(s.Text); err != nil {
		return graphs{}, err
	}
	g.borrowed = borrowed[g.root.fullName()] == g.root
	if !s.New {
		err = checkNames(g.root)
	}
	return g, err
}

func (p *parser) text(text string) (*node, error) {
	v, err := readJSON(text, 4*p.depth+4)
	if err != nil {
		return nil, err
	}
	root := new(*node)
	if err := p.place(root, v, ""); err != nil {
		return nil, err
	}
	if err := p.resolve(); err != nil {
		return nil, err
	}
	if known := p.types[(*root).fullName()]; known != nil {
		return known, nil // a definition of an earlier text counts, when this one repeats it
	}
	return *root, nil
}

// resolve puts the types in their places that were named before they were defined.
func (p *parser) resolve() error {
	for _, slot := range p.awaiting {
		awaited := (*slot).awaits
		n, ok := p.types[awaited]
		if !ok {
			return format.Invalid("type %q is defined neither here nor in a reference", awaited)
		}
		*slot = n
	}
	for _, u := range p.unions {
		if err := checkUnion(u); err != nil {
			return err
		}
	}
	p.fitting = &fitting{}
	for _, d := range p.defaults {
		if err := p.fitting.check(d.record, d.field); err != nil {
			return err
		}
	}
	p.awaiting, p.unions, p.defaults = nil, nil, nil
	return nil
}

// place parses a type into its place.
func (p *parser) place(slot **node, v *value, space string) error {
	if p.depth--; p.depth < 0 {
		return fmt.Errorf("%w: types nest too deeply", format.ErrTooLarge)
	}
	defer func() { p.depth++ }()
	n, err := p.node(v, space)
	if err != nil {
		return err
	}
	*slot = n
	if n.awaits != "" {
		p.awaiting = append(p.awaiting, slot)
	}
	return nil
}

func (p *parser) node(v *value, space string) (*node, error) {
	if err := p.spend(1); err != nil {
		return nil, err
	}
	switch v.kind {
	case jsonString:
		return p.find(v.text, space)
	case jsonArray:
		return p.union(v, space)
	case jsonObject:
		return p.object(v, space)
	default:
		return nil, format.Invalid("%s is no type: a name, an object or an array is needed", brief(v))
	}
}

// spend counts what is made against the limit.
func (p *parser) spend(n int) error {
	if p.left -= n; p.left < 0 {
		return fmt.Errorf("%w: too many types, fields and symbols", format.ErrTooLarge)
	}
	return p.ctx.Err()
}

// find answers the type that a word stands for, or a placeholder for one that is yet to come.
func (p *parser) find(word, space string) (*node, error) {
	if word == "" {
		return nil, format.Invalid("a type with an empty name")
	}
	if k, ok := primitives[word]; ok {
		return &node{kind: k}, nil
	}
	full := word
	if space != "" && !strings.Contains(word, ".") {
		full = space + "." + word
	}
	for _, known := range []string{full, word} {
		if n := p.types[known]; n != nil {
			return n, nil
		}
	}
	return &node{kind: kindRecord, awaits: full}, nil
}

func (p *parser) object(v *value, space string) (*node, error) {
	word, ok := v.get("type").str()
	if !ok {
		return nil, format.Invalid("%s has no type", brief(v))
	}
	if k, ok := primitives[word]; ok {
		return &node{kind: k, props: properties(v, schemaWords)}, nil
	}
	switch kind(word) {
	case kindRecord, "error":
		return p.record(v, space, word == "error")
	case kindEnum:
		return p.enum(v, space)
	case kindFixed:
		return p.fixed(v, space)
	case kindArray:
		return p.container(v, kindArray, "items", space)
	case kindMap:
		return p.container(v, kindMap, "values", space)
	default:
		return p.find(word, space)
	}
}

func (p *parser) container(v *value, k kind, word, space string) (*node, error) {
	of := v.get(word)
	if of == nil {
		return nil, format.Invalid("%s %s has no %s", article(k), brief(v), word)
	}
	props, err := compoundProperties(v)
	if err != nil {
		return nil, err
	}
	n := &node{kind: k, props: props}
	return n, p.place(&n.items, of, space)
}

func (p *parser) union(v *value, space string) (*node, error) {
	n := &node{kind: kindUnion, branches: make([]*node, len(v.items))}
	for i, item := range v.items {
		if err := p.place(&n.branches[i], item, space); err != nil {
			return nil, err
		}
	}
	p.unions = append(p.unions, n)
	return n, nil
}

func checkUnion(u *node) error {
	seen := make(map[string]bool, len(u.branches))
	for _, b := range u.branches {
		if b.kind == kindUnion {
			return format.Invalid("a union directly inside a union")
		}
		if seen[b.fullName()] {
			return format.Invalid("a union has %q more than once", b.fullName())
		}
		seen[b.fullName()] = true
	}
	return nil
}

// head reads what all named types have: name, documentation, aliases and properties.
func (p *parser) head(v *value, k kind, space string, words map[string]bool) (*node, error) {
	if own, ok := v.get("namespace").str(); ok {
		space = own
	}
	text, ok := v.get("name").str()
	if !ok {
		return nil, format.Invalid("%s %s has no name", article(k), brief(v))
	}
	n := &node{kind: k, name: newName(text, space), doc: optional(v.get("doc")), props: properties(v, words)}
	if _, taken := primitives[n.name.full()]; taken {
		return nil, format.Invalid("%s cannot be named %s, which is a primitive type", article(k), n.name.full())
	}
	if p.strict {
		if err := checkName(n.name.simple, true, "name"); err != nil {
			return nil, err
		}
		if err := checkSpace(n.name.space); err != nil {
			return nil, err
		}
	}
	aliases, err := readAliases(v)
	if err != nil {
		return nil, err
	}
	for _, a := range aliases {
		alias := newName(a, n.name.space)
		if p.strict {
			if err := checkName(alias.simple, true, "alias"); err != nil {
				return nil, err
			}
		}
		n.aliases = append(n.aliases, alias)
	}
	n.aliases = distinct(n.aliases)
	return n, nil
}

// define makes a named type known. The same definition may occur twice, another one of the same name may not.
func (p *parser) define(n *node) (*node, error) {
	full := n.name.full()
	if known, ok := p.types[full]; ok {
		if !(&comparison{}).same(known, n) {
			return nil, format.Invalid("type %q is defined twice, differently", full)
		}
		return n, nil
	}
	p.types[full] = n
	return n, nil
}

func (p *parser) record(v *value, space string, isError bool) (*node, error) {
	if _, err := compoundProperties(v); err != nil {
		return nil, err
	}
	n, err := p.head(v, kindRecord, space, schemaWords)
	if err != nil {
		return nil, err
	}
	n.isError = isError
	fields := v.get("fields")
	if fields == nil || fields.kind != jsonArray {
		return nil, format.Invalid("record %q has no fields", n.name.full())
	}
	n.byName = make(map[string]*field, len(fields.items))
	for i, item := range fields.items {
		f, err := p.field(item, n)
		if err != nil {
			return nil, fmt.Errorf("record %q, field %d: %w", n.name.full(), i+1, err)
		}
		if n.byName[f.name] != nil {
			return nil, format.Invalid("record %q has field %q twice", n.name.full(), f.name)
		}
		n.byName[f.name] = f
		n.fields = append(n.fields, f)
	}
	return p.define(n)
}

func (p *parser) field(v *value, record *node) (*field, error) {
	if v.kind != jsonObject {
		return nil, format.Invalid("%s is no field", brief(v))
	}
	text, ok := v.get("name").str()
	if !ok {
		return nil, format.Invalid("%s has no name", brief(v))
	}
	if p.strict {
		if err := checkName(text, true, "name"); err != nil {
			return nil, err
		}
	}
	typ := v.get("type")
	if typ == nil {
		return nil, format.Invalid("field %q has no type", text)
	}
	f := &field{name: text, doc: optional(v.get("doc")), props: properties(v, fieldWords)}
	if err := p.place(&f.typ, typ, record.name.space); err != nil {
		return nil, err
	}
	var err error
	if f.order, err = readOrder(v.get("order")); err != nil {
		return nil, err
	}
	if f.aliases, err = readAliases(v); err != nil {
		return nil, err
	}
	if f.def, err = readDefault(v.get("default"), f.typ); err != nil || f.def == nil || !p.strict {
		return f, err
	}
	p.defaults = append(p.defaults, defaultOf{record, f})
	return f, p.fitting.check(record, f)
}

func (p *parser) enum(v *value, space string) (*node, error) {
	n, err := p.head(v, kindEnum, space, enumWords)
	if err != nil {
		return nil, err
	}
	symbols := v.get("symbols")
	if symbols == nil || symbols.kind != jsonArray {
		return nil, format.Invalid("enum %q has no symbols", n.name.full())
	}
	if err := p.spend(len(symbols.items)); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(symbols.items))
	for _, item := range symbols.items {
		s, ok := item.str()
		if !ok {
			return nil, format.Invalid("enum %q: %s is no symbol", n.name.full(), brief(item))
		}
		if err := checkName(s, p.strict, "symbol"); err != nil {
			return nil, fmt.Errorf("enum %q: %w", n.name.full(), err)
		}
		if seen[s] {
			return nil, format.Invalid("enum %q has symbol %q twice", n.name.full(), s)
		}
		seen[s] = true
		n.symbols = append(n.symbols, s)
	}
	n.symbolDefault = optional(v.get("default"))
	if n.symbolDefault != nil && !seen[*n.symbolDefault] {
		return nil, format.Invalid("enum %q: the default %q is not one of the symbols", n.name.full(), *n.symbolDefault)
	}
	return p.define(n)
}

func (p *parser) fixed(v *value, space string) (*node, error) {
	n, err := p.head(v, kindFixed, space, schemaWords)
	if err != nil {
		return nil, err
	}
	size := v.get("size")
	if size == nil {
		return nil, format.Invalid("fixed %q has no size", n.name.full())
	}
	bytes, ok := size.integer(32)
	if !ok || bytes < 0 || bytes > maxFixed {
		return nil, format.Invalid("fixed %q: %s is no size", n.name.full(), brief(size))
	}
	n.size = int(bytes)
	return p.define(n)
}
