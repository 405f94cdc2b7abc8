package jsonschema

import (
	"cmp"
	"maps"
	"slices"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// hasPieces says whether a schema has keywords that are compared, references aside.
func hasPieces(s *library.Schema) bool {
	if s.Enum != nil || s.Const != nil || s.Not != nil || s.If != nil || s.Types != nil || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil {
		return true
	}
	return slices.ContainsFunc([]nodeKind{arrayKind, objectKind, numberKind, stringKind}, func(k nodeKind) bool { return hasRules(s, k) })
}

// hasRules says whether a schema has keywords that concern values of a kind.
func hasRules(s *library.Schema, kind nodeKind) bool {
	switch kind {
	case stringKind:
		return s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil
	case numberKind:
		return s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil
	case objectKind:
		return s.Properties != nil || s.PatternProperties != nil || s.AdditionalProperties != nil || s.Required != nil ||
			s.MinProperties != nil || s.MaxProperties != nil || s.Dependencies != nil || s.DependentRequired != nil ||
			s.DependentSchemas != nil || s.PropertyNames != nil || s.UnevaluatedProperties != nil
	case arrayKind:
		return s.Items != nil || s.AdditionalItems != nil || s.PrefixItems != nil || s.Items2020 != nil || s.MinItems != nil ||
			s.MaxItems != nil || s.UniqueItems || s.Contains != nil || s.UnevaluatedItems != nil
	default:
		return false
	}
}

// inside answers the schemas that are compared when a schema is, references and branches aside.
func inside(s *library.Schema) []*library.Schema {
	var inner []*library.Schema
	add := func(schemas ...*library.Schema) {
		for _, s := range schemas {
			if s != nil {
				inner = append(inner, s)
			}
		}
	}
	for _, name := range sortedKeys(s.Properties) {
		add(s.Properties[name])
	}
	for _, p := range propertyPatterns(s) {
		add(s.PatternProperties[p])
	}
	for _, name := range sortedKeys(s.Dependencies) {
		dependency, _ := s.Dependencies[name].(*library.Schema)
		add(dependency)
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		add(s.DependentSchemas[name])
	}
	additionalProperties, _ := s.AdditionalProperties.(*library.Schema)
	additionalItems, _ := s.AdditionalItems.(*library.Schema)
	items, _ := s.Items.(*library.Schema)
	tuple, _ := s.Items.([]*library.Schema)
	add(additionalProperties, s.UnevaluatedProperties, items, s.Items2020, additionalItems, s.UnevaluatedItems)
	add(tuple...)
	add(s.PrefixItems...)
	return inner
}

// propertyPatterns answers the patterns of patternProperties in the order of their texts.
func propertyPatterns(s *library.Schema) []library.Regexp {
	return slices.SortedFunc(maps.Keys(s.PatternProperties), func(a, b library.Regexp) int {
		return cmp.Compare(a.String(), b.String())
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
