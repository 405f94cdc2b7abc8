package jsonschema

import (
	"maps"
	"slices"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

func (s *scope) objects(writer, reader *node) {
	w, r := writer.rules, reader.rules
	s.within("required", func() { s.required(w, r) })
	s.within("properties", func() { s.properties(writer, reader) })
	s.within("dependencies", func() { s.dependencies(writer, reader) })
	s.within("additionalProperties", func() {
		s.additional(contentOf(writer, w.AdditionalProperties), contentOf(reader, r.AdditionalProperties), additionalProperties)
	})
	s.within("unevaluatedProperties", func() {
		s.unevaluated(writer.graph.node(w.UnevaluatedProperties), reader.graph.node(r.UnevaluatedProperties), unevaluatedProperties)
	})
	limits(s, bound{"maxProperties", MaxPropertiesAdded, MaxPropertiesRemoved, MaxPropertiesIncreased, MaxPropertiesDecreased},
		w.MaxProperties, r.MaxProperties, orderInts)
	limits(s, bound{"minProperties", MinPropertiesAdded, MinPropertiesRemoved, MinPropertiesIncreased, MinPropertiesDecreased},
		w.MinProperties, r.MinProperties, orderInts)
}

// required compares whether the properties that both list are required.
func (s *scope) required(w, r *library.Schema) {
	byWriter, byReader := names(w.Required), names(r.Required)
	for _, name := range sortedKeys(w.Properties) {
		inReader, ok := r.Properties[name]
		switch {
		case !ok || byWriter[name] == byReader[name]:
		case byWriter[name]:
			s.add(RequiredAttributeRemoved, name)
		case inReader.Default != nil:
			s.add(RequiredAttributeWithDefaultAdded, name)
		default:
			s.add(RequiredAttributeAdded, name)
		}
	}
}

func names(list []string) map[string]bool {
	s := make(map[string]bool, len(list))
	for _, name := range list {
		s[name] = true
	}
	return s
}

func (s *scope) properties(writer, reader *node) {
	w, r := writer.rules, reader.rules
	for _, name := range sortedKeys(w.Properties) {
		if !s.proceed() {
			return
		}
		s.within(name, func() {
			if inReader, ok := r.Properties[name]; ok {
				s.compare(writer.graph.node(w.Properties[name]), reader.graph.node(inReader))
				return
			}
			s.propertyRemoved(writer.graph.node(w.Properties[name]), reader, name)
		})
	}
	required := names(r.Required)
	for _, name := range sortedKeys(r.Properties) {
		if _, ok := w.Properties[name]; ok {
			continue
		}
		if !s.proceed() {
			return
		}
		s.within(name, func() { s.propertyAdded(writer, reader, name, required[name]) })
	}
}

// propertyRemoved judges a property that only the writer lists, by the content model of the reader.
func (s *scope) propertyRemoved(inWriter, reader *node, name string) {
	if openObject(reader) {
		s.add(PropertyRemovedFromOpenContentModel)
		return
	}
	covering := coveringProperty(reader, name)
	switch {
	case covering != nil && s.covers(inWriter, covering):
		s.add(PropertyRemovedIsCoveredByPartiallyOpenContentModel)
	case covering != nil:
		s.add(PropertyRemovedNotCoveredByPartiallyOpenContentModel)
	case inWriter.kind == falseKind:
		s.add(PropertyWithFalseRemovedFromClosedContentModel)
	default:
		s.add(PropertyRemovedFromClosedContentModel)
	}
}

// covers compares a pair and says whether it is compatible; what it found is taken over in any case.
func (s *scope) covers(writer, reader *node) bool {
	o := s.outcome(pair{writer, reader})
	s.adopt(o)
	return !o.incompatible
}

// propertyAdded judges a property that only the reader lists, by the content model of the writer.
func (s *scope) propertyAdded(writer, reader *node, name string, required bool) {
	added := reader.rules.Properties[name]
	inReader := reader.graph.node(added)
	if openObject(writer) {
		switch {
		case inReader.kind == emptyKind:
			s.add(PropertyWithEmptySchemaAddedToOpenContentModel)
		case !required:
			s.add(OptionalPropertyAddedToOpenContentModel)
		case added.Default != nil:
			s.add(RequiredPropertyWithDefaultAddedToOpenContentModel)
		default:
			s.add(RequiredPropertyAddedToOpenContentModel)
		}
		return
	}
	if covering := coveringProperty(writer, name); covering != nil {
		if s.covers(covering, inReader) {
			s.add(PropertyAddedIsCoveredByPartiallyOpenContentModel)
		} else {
			s.add(PropertyAddedNotCoveredByPartiallyOpenContentModel)
		}
	}
	switch {
	case !required:
		s.add(OptionalPropertyAddedToUnopenContentModel)
	case added.Default != nil:
		s.add(RequiredPropertyWithDefaultAddedToUnopenContentModel)
	default:
		s.add(RequiredPropertyAddedToUnopenContentModel)
	}
}

// openObject says whether an object may have any property that it does not list.
func openObject(n *node) bool {
	c := contentOf(n, n.rules.AdditionalProperties)
	if c.closed || c.schema != nil || len(n.rules.PatternProperties) > 0 {
		return false
	}
	unevaluated := n.graph.node(n.rules.UnevaluatedProperties)
	return unevaluated == nil || unevaluated.kind == emptyKind
}

// coveringProperty answers what a property that is not listed has to conform to, nil where it may not be there.
func coveringProperty(n *node, name string) *node {
	for _, p := range propertyPatterns(n.rules) {
		if p.MatchString(name) {
			return n.graph.node(n.rules.PatternProperties[p])
		}
	}
	return coveringRest(contentOf(n, n.rules.AdditionalProperties), n.graph.node(n.rules.UnevaluatedProperties))
}

// dependencies compares the names and the schemas that the presence of a property brings in, whichever keyword of whichever
// draft says so.
func (s *scope) dependencies(writer, reader *node) {
	fromNames, toNames := requiredBy(writer.rules), requiredBy(reader.rules)
	for _, name := range union(fromNames, toNames) {
		s.within(name, func() { s.dependentNames(fromNames[name], toNames[name]) })
	}
	fromSchemas, toSchemas := schemaBy(writer), schemaBy(reader)
	for _, name := range union(fromSchemas, toSchemas) {
		s.within(name, func() {
			w, r := fromSchemas[name], toSchemas[name]
			switch {
			case r == nil:
				s.add(DependencySchemaRemoved)
			case w == nil:
				s.add(DependencySchemaAdded)
			default:
				s.compare(w, r)
			}
		})
	}
}

func (s *scope) dependentNames(w, r map[string]bool) {
	more := slices.ContainsFunc(sortedKeys(r), func(name string) bool { return !w[name] })
	fewer := slices.ContainsFunc(sortedKeys(w), func(name string) bool { return !r[name] })
	switch {
	case r == nil:
		s.add(DependencyArrayRemoved)
	case w == nil:
		s.add(DependencyArrayAdded)
	case more && fewer:
		s.add(DependencyArrayChanged)
	case more:
		s.add(DependencyArrayExtended)
	case fewer:
		s.add(DependencyArrayNarrowed)
	}
}

// requiredBy answers the names that a property requires, by its name. A property that requires none is not there.
func requiredBy(s *library.Schema) map[string]map[string]bool {
	by := make(map[string]map[string]bool)
	note := func(name string, required []string) {
		if len(required) > 0 {
			by[name] = names(required)
		}
	}
	for name, dependency := range s.Dependencies {
		if required, ok := dependency.([]string); ok {
			note(name, required)
		}
	}
	for name, required := range s.DependentRequired {
		note(name, required)
	}
	return by
}

// schemaBy answers the schemas that a property brings in, by its name.
func schemaBy(n *node) map[string]*node {
	by := make(map[string]*node)
	for name, dependency := range n.rules.Dependencies {
		if schema, ok := dependency.(*library.Schema); ok {
			by[name] = n.graph.node(schema)
		}
	}
	for name, schema := range n.rules.DependentSchemas {
		by[name] = n.graph.node(schema)
	}
	return by
}

func union[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return sortedKeys(all)
}
