package conform

import (
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// jsonType is a set of types of JSON values.
type jsonType uint8

const (
	typeNull jsonType = 1 << iota
	typeBoolean
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject
)

var jsonTypes = map[string]jsonType{
	"null": typeNull, "boolean": typeBoolean, "number": typeNumber, "integer": typeInteger, "string": typeString,
	"array": typeArray, "object": typeObject,
}

// jsonNode is one schema, as the single pass needs it. What the pass does not know it asks the library for, when it comes to
// a value that it matters to.
type jsonNode struct {
	// anything accepts every value, nothing none.
	anything, nothing bool
	// ask are the types of values that the pass cannot judge.
	ask   jsonType
	types jsonType
	// choices are the values of enum and const.
	choices []jsonChoices

	minLength, maxLength int
	pattern              *regexp.Regexp
	format               func(any) error

	bounds     []jsonBound
	multipleOf *jsonNumber

	object *jsonObject

	minItems, maxItems int
	prefix             []*jsonNode
	rest               *jsonNode

	all, any, one []*jsonNode
	not           *jsonNode
	test          *jsonNode
	then, other   *jsonNode
}

// jsonChoices are the values that one of enum and const allows.
type jsonChoices struct {
	strings    map[string]bool
	numbers    []jsonNumber
	unreadable bool // there are numbers that have too many digits
	null       bool
	no, yes    bool
	structured bool
}

// jsonObject is what a schema says of objects.
type jsonObject struct {
	properties map[string]*jsonProperty
	required   uint64
	patterns   []jsonPattern
	// additional is that of the properties that are not named; nil for no rule.
	additional *jsonNode
	// least and most bound the number of members; most is negative for no bound.
	least, most int
}

// jsonProperty is a named property: its schema, nil where it is named in required only, and its bit among those known.
type jsonProperty struct {
	node *jsonNode
	bit  uint64
}

type jsonPattern struct {
	re   *regexp.Regexp
	node *jsonNode
}

// planJSON makes the plan of a compiled schema.
func planJSON(s *library.Schema) *jsonNode {
	return (&jsonPlanner{map[*library.Schema]*jsonNode{}}).node(s)
}

type jsonPlanner struct{ done map[*library.Schema]*jsonNode }

func (p *jsonPlanner) node(s *library.Schema) *jsonNode {
	if s == nil {
		return nil
	}
	if known := p.done[s]; known != nil {
		return known
	}
	n := &jsonNode{minLength: -1, maxLength: -1, minItems: -1, maxItems: -1}
	p.done[s] = n
	if s.Bool != nil {
		n.anything, n.nothing = *s.Bool, !*s.Bool
		return n
	}
	if s.Ref != nil {
		n.all = append(n.all, p.node(s.Ref))
		if s.DraftVersion < 2019 {
			return n
		}
	}
	p.general(n, s)
	p.text(n, s)
	p.number(n, s)
	p.members(n, s)
	p.items(n, s)
	p.combined(n, s)
	n.anything = n.unconstrained()
	return n
}

// unconstrained says that a schema says nothing. What is in its place is left to the pass that first comes to it.
func (n *jsonNode) unconstrained() bool {
	values := n.ask == 0 && n.types == 0 && n.choices == nil && n.object == nil
	text := n.minLength < 0 && n.maxLength < 0 && n.pattern == nil && n.format == nil
	rest := n.bounds == nil && n.multipleOf == nil && n.minItems < 0 && n.maxItems < 0 && n.prefix == nil && n.rest == nil
	return values && text && rest && n.all == nil && n.any == nil && n.one == nil && n.not == nil && n.test == nil
}

const typeAll = typeNull | typeBoolean | typeNumber | typeInteger | typeString | typeArray | typeObject

func (p *jsonPlanner) general(n *jsonNode, s *library.Schema) {
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			n.types |= jsonTypes[name]
		}
	}
	if s.Const != nil {
		n.choices = append(n.choices, choicesOf([]any{*s.Const}))
	}
	if s.Enum != nil {
		n.choices = append(n.choices, choicesOf(s.Enum.Values))
	}
	if len(s.Extensions) > 0 {
		n.ask = typeAll
	}
	if r := s.RecursiveRef; r != nil {
		if r.RecursiveAnchor {
			n.ask = typeAll
		}
		n.all = append(n.all, p.node(r))
	}
	if d := s.DynamicRef; d != nil {
		if d.Anchor != "" && d.Ref.DynamicAnchor == d.Anchor {
			n.ask = typeAll
		}
		n.all = append(n.all, p.node(d.Ref))
	}
}

func choicesOf(values []any) jsonChoices {
	c := jsonChoices{strings: map[string]bool{}}
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			c.null = true
		case bool:
			c.yes, c.no = c.yes || v, c.no || !v
		case string:
			c.strings[v] = true
		case json.Number:
			if number, ok := parseNumber([]byte(v)); ok {
				c.numbers = append(c.numbers, number)
			} else {
				c.unreadable = true
			}
		default:
			c.structured = true
		}
	}
	return c
}

func (p *jsonPlanner) text(n *jsonNode, s *library.Schema) {
	n.minLength, n.maxLength = orNone(s.MinLength), orNone(s.MaxLength)
	if s.Pattern != nil {
		var linear bool
		if n.pattern, linear = s.Pattern.(*regexp.Regexp); !linear {
			n.ask |= typeString
		}
	}
	if s.Format != nil {
		n.format = s.Format.Validate
		if s.Format.Name == "regex" {
			n.ask |= typeString
		}
	}
	if s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil {
		n.ask |= typeString
	}
}

func orNone(limit *int) int {
	if limit == nil {
		return -1
	}
	return *limit
}

func (p *jsonPlanner) number(n *jsonNode, s *library.Schema) {
	for _, b := range []struct {
		limit *big.Rat
		jsonBound
	}{
		{s.Minimum, jsonBound{sign: -1}},
		{s.Maximum, jsonBound{sign: 1}},
		{s.ExclusiveMinimum, jsonBound{sign: -1, exclusive: true}},
		{s.ExclusiveMaximum, jsonBound{sign: 1, exclusive: true}},
	} {
		if b.limit == nil {
			continue
		}
		var ok bool
		if b.number, ok = ratNumber(b.limit); !ok {
			n.ask |= typeNumber
			continue
		}
		n.bounds = append(n.bounds, b.jsonBound)
	}
	if s.MultipleOf == nil {
		return
	}
	by, ok := ratNumber(s.MultipleOf)
	if !ok || by.digits == 0 {
		n.ask |= typeNumber
		return
	}
	n.multipleOf = &by
}

func (p *jsonPlanner) members(n *jsonNode, s *library.Schema) {
	if s.PropertyNames != nil || s.Dependencies != nil || s.DependentRequired != nil || s.DependentSchemas != nil ||
		s.UnevaluatedProperties != nil || len(s.Required) > maxRequired {
		n.ask |= typeObject
	}
	o := &jsonObject{properties: map[string]*jsonProperty{}, most: orNone(s.MaxProperties)}
	o.least = max(orNone(s.MinProperties), 0)
	bit := uint64(1)
	property := func(name string) *jsonProperty {
		known := o.properties[name]
		if known == nil {
			known = &jsonProperty{bit: bit}
			bit <<= 1
			o.properties[name] = known
		}
		return known
	}
	for _, name := range s.Required {
		o.required |= property(name).bit
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property(name).node = p.node(s.Properties[name])
	}
	for re, node := range s.PatternProperties {
		linear, ok := re.(*regexp.Regexp)
		if !ok {
			n.ask |= typeObject
			continue
		}
		o.patterns = append(o.patterns, jsonPattern{linear, p.node(node)})
	}
	switch a := s.AdditionalProperties.(type) {
	case bool:
		if !a {
			o.additional = &jsonNode{nothing: true}
		}
	case *library.Schema:
		o.additional = p.node(a)
	}
	if len(o.properties)+len(o.patterns) > 0 || o.additional != nil || o.least > 0 || o.most >= 0 {
		n.object = o
	}
}

// maxRequired bounds the required properties that the pass keeps track of.
const maxRequired = 64

func (p *jsonPlanner) items(n *jsonNode, s *library.Schema) {
	if s.Contains != nil || s.UnevaluatedItems != nil || s.UniqueItems {
		n.ask |= typeArray
	}
	n.minItems, n.maxItems = orNone(s.MinItems), orNone(s.MaxItems)
	if s.DraftVersion >= 2020 {
		n.prefix, n.rest = p.nodes(s.PrefixItems), p.node(s.Items2020)
		return
	}
	switch items := s.Items.(type) {
	case *library.Schema:
		n.rest = p.node(items)
		return
	case []*library.Schema:
		n.prefix = p.nodes(items)
	}
	switch a := s.AdditionalItems.(type) {
	case bool:
		if !a {
			n.rest = &jsonNode{nothing: true}
		}
	case *library.Schema:
		n.rest = p.node(a)
	}
}

func (p *jsonPlanner) nodes(schemas []*library.Schema) []*jsonNode {
	var nodes []*jsonNode
	for _, s := range schemas {
		nodes = append(nodes, p.node(s))
	}
	return nodes
}

func (p *jsonPlanner) combined(n *jsonNode, s *library.Schema) {
	n.all = append(n.all, p.nodes(s.AllOf)...)
	n.any, n.one, n.not = p.nodes(s.AnyOf), p.nodes(s.OneOf), p.node(s.Not)
	n.test, n.then, n.other = p.node(s.If), p.node(s.Then), p.node(s.Else)
	if n.then == nil && n.other == nil {
		n.test = nil
	}
}
