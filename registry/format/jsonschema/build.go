package jsonschema

import (
	"fmt"
	"slices"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"moldau/registry/format"
)

// build makes the graph of a compiled schema. It works through a list instead of by recursion, as references make chains
// as long as the schema has parts.
func build(c *compiled, d *documents, maxNodes int) (*node, error) {
	b := builder{
		graph:     &graph{nodes: make(map[*library.Schema]*node), stray: make(map[*library.Schema]any)},
		compiled:  c,
		documents: d,
		index:     make(memberIndex),
		strays:    d.mention("additionalItems"),
	}
	n := b.node(c.root)
	for len(b.todo) > 0 {
		if len(b.graph.nodes) > maxNodes {
			return nil, fmt.Errorf("%w: more than %d schemas, references included", format.ErrTooLarge, maxNodes)
		}
		next := b.todo[len(b.todo)-1]
		b.todo = b.todo[:len(b.todo)-1]
		if err := b.stray(next.schema); err != nil {
			return nil, err
		}
		b.fill(next)
	}
	c.patterns.sealed = true
	return n, nil
}

type builder struct {
	graph     *graph
	compiled  *compiled
	documents *documents
	index     memberIndex
	// strays says that there may be schemas with additionalItems that the library passes over.
	strays bool
	todo   []*node
}

// node answers the node of a schema, which is filled later.
func (b *builder) node(s *library.Schema) *node {
	s = follow(s)
	if n, ok := b.graph.nodes[s]; ok {
		return n
	}
	n := &node{schema: s, rules: s, graph: b.graph}
	b.graph.nodes[s] = n
	b.todo = append(b.todo, n)
	return n
}

func (b *builder) fill(n *node) {
	s := n.schema
	b.reach(s)
	switch {
	case s.Bool != nil && *s.Bool:
		n.kind = emptyKind
		return
	case s.Bool != nil:
		n.kind = falseKind
		return
	}
	switch pieces := b.pieces(s); len(pieces) {
	case 0:
		n.kind = emptyKind
	case 1:
		*n = *pieces[0]
		n.schema, n.rules, n.graph = s, s, b.graph
	default:
		n.kind, n.criterion, n.branches = combinedKind, allOf, pieces
	}
}

// pieces answers a node for each kind of keyword in a schema.
func (b *builder) pieces(s *library.Schema) []*node {
	if bareReference(s) != nil {
		return nil // a reference that leads back to itself
	}
	var pieces []*node
	for _, target := range references(s) {
		pieces = append(pieces, b.node(target))
	}
	if s.Enum != nil {
		pieces = append(pieces, b.piece(s, enumKind))
	}
	pieces = append(pieces, b.combined(s)...)
	if s.Not != nil {
		n := b.piece(s, notKind)
		n.inner = b.node(s.Not)
		pieces = append(pieces, n)
	}
	if s.Const != nil {
		pieces = append(pieces, b.piece(s, constKind))
	}
	typed, kinds := b.types(s)
	pieces = append(pieces, typed...)
	for _, kind := range []nodeKind{arrayKind, objectKind, numberKind, stringKind} {
		strayed := kind == arrayKind && b.graph.stray[s] != nil
		if (strayed || hasRules(s, kind)) && !slices.Contains(kinds, kind) {
			pieces = append(pieces, b.piece(s, kind))
		}
	}
	if s.If != nil {
		pieces = append(pieces, b.piece(s, conditionalKind))
	}
	return pieces
}

func (b *builder) piece(s *library.Schema, kind nodeKind) *node {
	return &node{kind: kind, rules: s, graph: b.graph}
}

// combined answers the nodes of allOf, anyOf and oneOf.
func (b *builder) combined(s *library.Schema) []*node {
	var combined []*node
	for _, c := range []struct {
		criterion criterion
		branches  []*library.Schema
	}{{allOf, s.AllOf}, {anyOf, s.AnyOf}, {oneOf, s.OneOf}} {
		if c.branches == nil {
			continue
		}
		n := b.piece(s, combinedKind)
		n.criterion = c.criterion
		for _, branch := range b.distinct(c.branches) {
			n.branches = append(n.branches, b.node(branch))
		}
		combined = append(combined, n)
	}
	return combined
}

// distinct takes branches with the same text together.
func (b *builder) distinct(branches []*library.Schema) []*library.Schema {
	if len(branches) < 2 {
		return branches
	}
	seen := make(map[string]bool, len(branches))
	return slices.DeleteFunc(slices.Clone(branches), func(branch *library.Schema) bool {
		v := b.documents.at(branch.Location, b.index)
		if v == nil {
			return false
		}
		text := printJSON(v, true)
		repeated := seen[text]
		seen[text] = true
		return repeated
	})
}

// types answers the nodes of the type keyword and their kinds. Keywords of a kind that is among the types belong to it;
// those of another kind still count, for values that some other branch lets through.
func (b *builder) types(s *library.Schema) ([]*node, []nodeKind) {
	if s.Types == nil {
		return nil, nil
	}
	var typed []*node
	var kinds []nodeKind
	for _, name := range s.Types.ToStrings() {
		n := b.piece(s, typeKinds[name])
		n.integer = name == "integer"
		typed, kinds = append(typed, n), append(kinds, n.kind)
	}
	if len(typed) < 2 {
		return typed, kinds
	}
	n := b.piece(s, combinedKind)
	n.criterion, n.branches = anyOf, typed
	return []*node{n}, kinds
}

var typeKinds = map[string]nodeKind{
	"string": stringKind, "integer": numberKind, "number": numberKind, "boolean": booleanKind, "null": nullKind,
	"object": objectKind, "array": arrayKind,
}

// reach makes nodes of all schemas inside one.
func (b *builder) reach(s *library.Schema) {
	for _, inner := range append(inside(s), references(s)...) {
		b.node(inner)
	}
}

// stray finds additionalItems without a list of items beside it. It says nothing about values, and other registries compare
// it all the same.
func (b *builder) stray(s *library.Schema) error {
	if !b.strays || s.Items != nil || s.DraftVersion >= 2020 {
		return nil
	}
	v := b.documents.at(s.Location, b.index).get("additionalItems")
	switch {
	case v == nil:
	case v.kind == boolean:
		b.graph.stray[s] = v.text == "true"
	default:
		schema, err := b.compiled.part(s.Location + "/additionalItems")
		if err != nil {
			return explain(err)
		}
		b.graph.stray[s] = schema
		b.node(schema)
	}
	return nil
}
