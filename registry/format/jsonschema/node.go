package jsonschema

import (
	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// nodeKind is what a node says about values. Comparing begins with it: nodes of different kinds are different types.
type nodeKind int

const (
	// emptyKind accepts everything, falseKind nothing.
	emptyKind nodeKind = iota
	falseKind
	stringKind
	numberKind
	booleanKind
	nullKind
	objectKind
	arrayKind
	enumKind
	constKind
	notKind
	conditionalKind
	combinedKind
)

// criterion is how many branches of a combined node a value conforms to.
type criterion string

const (
	allOf criterion = "allOf"
	anyOf criterion = "anyOf"
	oneOf criterion = "oneOf"
)

// node is a schema with one kind. A schema whose keywords are of several kinds, as enum beside type, is a combined node
// with allOf and a branch for each; one with a list of types is anyOf with a branch for each type.
type node struct {
	kind nodeKind
	// schema is where the annotations come from, nil in a branch that was made for a part of a schema.
	schema *library.Schema
	// rules is where the keywords of the kind come from.
	rules *library.Schema
	// integer is whether a number has to be whole.
	integer bool
	// criterion and branches are those of a combined node; branches with the same text are one.
	criterion criterion
	branches  []*node
	// inner is what must not match in a not.
	inner *node
	// graph is what the schemas that rules refers to became.
	graph *graph
}

// graph is the nodes of a compiled schema and everything it refers to.
type graph struct {
	nodes map[*library.Schema]*node
	// stray is additionalItems, a boolean or a schema, where the draft gives it no meaning.
	stray map[*library.Schema]any
}

// node answers the node of a schema that the rules of another one hold, nil for none.
func (g *graph) node(s *library.Schema) *node {
	if s == nil {
		return nil
	}
	return g.nodes[follow(s)]
}

// follow answers what a schema stands for: where it is nothing but a reference, what it refers to. A reference that leads
// back to itself says nothing, and is answered as the schema it is.
func follow(s *library.Schema) *library.Schema {
	seen := 0
	for slow := s; ; seen++ {
		target := bareReference(s)
		if target == nil {
			return s
		}
		s = target
		if seen%2 == 1 {
			slow = bareReference(slow)
		}
		if s == slow {
			return s
		}
	}
}

// bareReference answers the target of a schema that has no keyword that counts beside its reference.
func bareReference(s *library.Schema) *library.Schema {
	targets := references(s)
	if len(targets) != 1 {
		return nil
	}
	if s.DraftVersion >= 2019 && hasPieces(s) {
		return nil
	}
	return targets[0]
}

func references(s *library.Schema) []*library.Schema {
	var targets []*library.Schema
	if s.Ref != nil {
		targets = append(targets, s.Ref)
	}
	if s.RecursiveRef != nil {
		targets = append(targets, s.RecursiveRef)
	}
	if s.DynamicRef != nil && s.DynamicRef.Ref != nil {
		targets = append(targets, s.DynamicRef.Ref)
	}
	return targets
}
