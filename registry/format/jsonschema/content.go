package jsonschema

import (
	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// content is what a schema says about the properties or items that it does not list: nothing, that there are none, or what
// they have to conform to.
type content struct {
	closed bool
	schema *node
}

// contentOf reads additionalProperties or additionalItems of a node: nil, a boolean or a schema.
func contentOf(n *node, keyword any) content {
	switch keyword := keyword.(type) {
	case bool:
		return content{closed: !keyword}
	case *library.Schema:
		return content{schema: n.graph.node(keyword)}
	default:
		return content{}
	}
}

// coveringRest answers what is neither listed nor matched by a pattern has to conform to, nil where it may not be there.
func coveringRest(additional content, unevaluated *node) *node {
	if additional.schema != nil || additional.closed {
		return additional.schema
	}
	if unevaluated == nil || unevaluated.kind == falseKind || unevaluated.kind == emptyKind {
		return nil
	}
	return unevaluated
}

// opening is the changes of a keyword that says what content may be there beyond what is listed.
type opening struct{ added, removed, extended, narrowed Change }

var (
	additionalProperties = opening{
		AdditionalPropertiesAdded, AdditionalPropertiesRemoved, AdditionalPropertiesExtended, AdditionalPropertiesNarrowed,
	}
	unevaluatedProperties = opening{
		UnevaluatedPropertiesAdded, UnevaluatedPropertiesRemoved, UnevaluatedPropertiesExtended, UnevaluatedPropertiesNarrowed,
	}
	additionalItems  = opening{AdditionalItemsAdded, AdditionalItemsRemoved, AdditionalItemsExtended, AdditionalItemsNarrowed}
	unevaluatedItems = opening{UnevaluatedItemsAdded, UnevaluatedItemsRemoved, UnevaluatedItemsExtended, UnevaluatedItemsNarrowed}
)

// additional compares what additional content there may be.
func (s *scope) additional(writer, reader content, o opening) {
	switch {
	case writer.closed && !reader.closed:
		s.add(o.added)
	case !writer.closed && reader.closed:
		s.add(o.removed)
	case writer.schema == nil && reader.schema != nil:
		s.add(o.narrowed)
	case writer.schema != nil && reader.schema == nil:
		s.add(o.extended)
	default:
		s.compare(writer.schema, reader.schema)
	}
}

// unevaluated compares what content there may be that no other keyword has looked at.
func (s *scope) unevaluated(writer, reader *node, o opening) {
	switch {
	case writer == nil && reader == nil:
	case writer == nil && reader.kind == falseKind:
		s.add(o.removed)
	case writer == nil:
		s.add(o.narrowed)
	case reader == nil && writer.kind == falseKind:
		s.add(o.added)
	case reader == nil:
		s.add(o.extended)
	case writer.kind == falseKind && reader.kind != falseKind:
		s.add(o.added)
	case writer.kind != falseKind && reader.kind == falseKind:
		s.add(o.removed)
	case writer.kind == emptyKind && reader.kind != emptyKind:
		s.add(o.narrowed)
	case writer.kind != emptyKind && reader.kind == emptyKind:
		s.add(o.extended)
	default:
		s.compare(writer, reader)
	}
}
