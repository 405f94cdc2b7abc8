package jsonschema

import (
	"strings"

	"moldau/registry/format"
)

// incompatibility puts a difference into the form and the words of the registry's answers.
func (d difference) incompatibility(reader, writer string) format.Incompatibility {
	words := strings.NewReplacer("{path}", d.path, "{reader}", reader, "{writer}", writer).Replace(sentences[d.change])
	return format.Incompatibility{Type: string(d.change), Path: d.path, Description: words}
}

// sentences says of every change that is not always allowed what it means for values that the writer wrote.
var sentences = func() map[Change]string {
	said := make(map[Change]string)
	for sentence, changes := range map[string][]Change{
		"the keyword at path '{path}' is in the {reader} schema only, which refuses values that the {writer} schema accepts": {
			MaximumAdded, MinimumAdded, ExclusiveMaximumAdded, ExclusiveMinimumAdded, MultipleOfAdded,
			MaxLengthAdded, MinLengthAdded, PatternAdded, MaxPropertiesAdded, MinPropertiesAdded,
			MaxItemsAdded, MinItemsAdded, MaxContainsAdded, MinContainsAdded, UniqueItemsAdded,
		},
		"the limit at path '{path}' is higher in the {reader} schema than in the {writer} schema": {
			MinimumIncreased, ExclusiveMinimumIncreased, MinLengthIncreased, MinPropertiesIncreased, MinItemsIncreased,
			MinContainsIncreased,
		},
		"the limit at path '{path}' is lower in the {reader} schema than in the {writer} schema": {
			MaximumDecreased, ExclusiveMaximumDecreased, MaxLengthDecreased, MaxPropertiesDecreased, MaxItemsDecreased,
			MaxContainsDecreased,
		},
		"the value at path '{path}' in the {reader} schema is a multiple of that in the {writer} schema, so fewer numbers are accepted": {
			MultipleOfExpanded,
		},
		"the values at path '{path}' in the {reader} schema and in the {writer} schema differ, and neither accepts all that the other does": {
			MultipleOfChanged, PatternChanged, EnumArrayChanged, DependencyArrayChanged,
		},
		"the type at path '{path}' in the {reader} schema is not that in the {writer} schema": {TypeChanged},
		"the type at path '{path}' is integer in the {reader} schema and number in the {writer} schema": {
			TypeNarrowed,
		},
		"there is a schema at path '{path}' in the {reader} schema and none in the {writer} schema": {SchemaAdded},
		"the {reader} schema requires the property at path '{path}', which is optional in the {writer} schema and has no default": {
			RequiredAttributeAdded,
		},
		"in the {reader} schema the property at path '{path}' asks for more than in the {writer} schema when it is present": {
			DependencyArrayAdded, DependencyArrayExtended, DependencySchemaAdded,
		},
		"the {reader} schema accepts nothing at path '{path}' where the {writer} schema accepts what it does not list": {
			AdditionalPropertiesRemoved, UnevaluatedPropertiesRemoved, AdditionalItemsRemoved, UnevaluatedItemsRemoved,
		},
		"the {reader} schema has a schema at path '{path}' for what the {writer} schema accepts without one": {
			AdditionalPropertiesNarrowed, UnevaluatedPropertiesNarrowed, AdditionalItemsNarrowed, UnevaluatedItemsNarrowed,
		},
		"the {reader} schema lists and requires the property at path '{path}', which the {writer} schema does not list; " +
			"its content model is open, so that property may be missing or be anything": {
			RequiredPropertyAddedToOpenContentModel,
		},
		"the {reader} schema lists the property at path '{path}', which the {writer} schema does not list; " +
			"its content model is open, so that property may be anything": {
			OptionalPropertyAddedToOpenContentModel, RequiredPropertyWithDefaultAddedToOpenContentModel,
		},
		"the {reader} schema lists the item at path '{path}', which the {writer} schema does not list; " +
			"its content model is open, so that item may be anything": {
			ItemAddedToOpenContentModel,
		},
		"the {reader} schema requires the property at path '{path}', which the {writer} schema does not have, and gives no default": {
			RequiredPropertyAddedToUnopenContentModel,
		},
		"the {reader} schema does not list what is at path '{path}' in the {writer} schema, and its content model is closed": {
			PropertyRemovedFromClosedContentModel, ItemRemovedFromClosedContentModel,
		},
		"the {reader} schema does not list what is at path '{path}' in the {writer} schema, " +
			"and its schema for what it does not list refuses it": {
			PropertyRemovedNotCoveredByPartiallyOpenContentModel, ItemRemovedNotCoveredByPartiallyOpenContentModel,
		},
		"the {reader} schema lists what is at path '{path}' and accepts less there than " +
			"the {writer} schema does by its schema for what it does not list": {
			PropertyAddedNotCoveredByPartiallyOpenContentModel, ItemAddedNotCoveredByPartiallyOpenContentModel,
		},
		"the values at path '{path}' in the {reader} schema are fewer than in the {writer} schema": {EnumArrayNarrowed},
		"the alternatives at path '{path}' in the {reader} schema are fewer than in the {writer} schema": {
			SumTypeNarrowed,
		},
		"the schemas at path '{path}' that all have to match are more in the {reader} schema than in the {writer} schema": {
			ProductTypeExtended,
		},
		"the way in which schemas are combined at path '{path}' in the {reader} schema is stricter than in the {writer} schema": {
			CombinedTypeChanged,
		},
		"the schemas combined at path '{path}' in the {reader} schema cannot be paired with those in the {writer} schema " +
			"so that each pair is compatible": {
			CombinedTypeSubschemasChanged,
		},
		"the {reader} schema excludes more at path '{path}' than the {writer} schema": {NotTypeExtended},
	} {
		for _, c := range changes {
			said[c] = sentence
		}
	}
	return said
}()
