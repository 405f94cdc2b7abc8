package jsonschema

// Change is a kind of difference between the schema of a writer and that of a reader, by the name under which clients of
// the registry know it.
type Change string

// Differences of the annotations.
const (
	// IDChanged: the schema gives itself another address.
	IDChanged Change = "ID_CHANGED"
	// DescriptionChanged: the description differs.
	DescriptionChanged Change = "DESCRIPTION_CHANGED"
	// TitleChanged: the title differs.
	TitleChanged Change = "TITLE_CHANGED"
	// DefaultChanged: the default value differs.
	DefaultChanged Change = "DEFAULT_CHANGED"
)

// Differences of whole schemas and of types.
const (
	// SchemaAdded: the reader has a schema where the writer has none. It is not allowed.
	SchemaAdded Change = "SCHEMA_ADDED"
	// SchemaRemoved: the writer has a schema where the reader has none.
	SchemaRemoved Change = "SCHEMA_REMOVED"
	// TypeExtended: integer became number.
	TypeExtended Change = "TYPE_EXTENDED"
	// TypeNarrowed: number became integer. It is not allowed.
	TypeNarrowed Change = "TYPE_NARROWED"
	// TypeChanged: the schemas are of different kinds, as string and object, or enum and string. It is not allowed.
	TypeChanged Change = "TYPE_CHANGED"
)

// Differences of strings.
const (
	// MaxLengthAdded: the reader has a maximal length and the writer has none. It is not allowed.
	MaxLengthAdded Change = "MAX_LENGTH_ADDED"
	// MaxLengthRemoved: the writer has a maximal length and the reader has none.
	MaxLengthRemoved Change = "MAX_LENGTH_REMOVED"
	// MaxLengthIncreased: the reader's maximal length is higher than the writer's.
	MaxLengthIncreased Change = "MAX_LENGTH_INCREASED"
	// MaxLengthDecreased: the reader's maximal length is lower than the writer's. It is not allowed.
	MaxLengthDecreased Change = "MAX_LENGTH_DECREASED"
	// MinLengthAdded: the reader has a minimal length and the writer has none. It is not allowed.
	MinLengthAdded Change = "MIN_LENGTH_ADDED"
	// MinLengthRemoved: the writer has a minimal length and the reader has none.
	MinLengthRemoved Change = "MIN_LENGTH_REMOVED"
	// MinLengthIncreased: the reader's minimal length is higher than the writer's. It is not allowed.
	MinLengthIncreased Change = "MIN_LENGTH_INCREASED"
	// MinLengthDecreased: the reader's minimal length is lower than the writer's.
	MinLengthDecreased Change = "MIN_LENGTH_DECREASED"
	// PatternAdded: the reader has a pattern and the writer has none. It is not allowed.
	PatternAdded Change = "PATTERN_ADDED"
	// PatternRemoved: the writer has a pattern and the reader has none.
	PatternRemoved Change = "PATTERN_REMOVED"
	// PatternChanged: the patterns differ. It is not allowed.
	PatternChanged Change = "PATTERN_CHANGED"
)

// Differences of numbers.
const (
	// MaximumAdded: the reader has a maximum and the writer has none. It is not allowed.
	MaximumAdded Change = "MAXIMUM_ADDED"
	// MaximumRemoved: the writer has a maximum and the reader has none.
	MaximumRemoved Change = "MAXIMUM_REMOVED"
	// MaximumIncreased: the reader's maximum is higher than the writer's.
	MaximumIncreased Change = "MAXIMUM_INCREASED"
	// MaximumDecreased: the reader's maximum is lower than the writer's. It is not allowed.
	MaximumDecreased Change = "MAXIMUM_DECREASED"
	// MinimumAdded: the reader has a minimum and the writer has none. It is not allowed.
	MinimumAdded Change = "MINIMUM_ADDED"
	// MinimumRemoved: the writer has a minimum and the reader has none.
	MinimumRemoved Change = "MINIMUM_REMOVED"
	// MinimumIncreased: the reader's minimum is higher than the writer's. It is not allowed.
	MinimumIncreased Change = "MINIMUM_INCREASED"
	// MinimumDecreased: the reader's minimum is lower than the writer's.
	MinimumDecreased Change = "MINIMUM_DECREASED"
	// ExclusiveMaximumAdded: the reader has an exclusive maximum and the writer has none. It is not allowed.
	ExclusiveMaximumAdded Change = "EXCLUSIVE_MAXIMUM_ADDED"
	// ExclusiveMaximumRemoved: the writer has an exclusive maximum and the reader has none.
	ExclusiveMaximumRemoved Change = "EXCLUSIVE_MAXIMUM_REMOVED"
	// ExclusiveMaximumIncreased: the reader's exclusive maximum is higher than the writer's.
	ExclusiveMaximumIncreased Change = "EXCLUSIVE_MAXIMUM_INCREASED"
	// ExclusiveMaximumDecreased: the reader's exclusive maximum is lower than the writer's. It is not allowed.
	ExclusiveMaximumDecreased Change = "EXCLUSIVE_MAXIMUM_DECREASED"
	// ExclusiveMinimumAdded: the reader has an exclusive minimum and the writer has none. It is not allowed.
	ExclusiveMinimumAdded Change = "EXCLUSIVE_MINIMUM_ADDED"
	// ExclusiveMinimumRemoved: the writer has an exclusive minimum and the reader has none.
	ExclusiveMinimumRemoved Change = "EXCLUSIVE_MINIMUM_REMOVED"
	// ExclusiveMinimumIncreased: the reader's exclusive minimum is higher than the writer's. It is not allowed.
	ExclusiveMinimumIncreased Change = "EXCLUSIVE_MINIMUM_INCREASED"
	// ExclusiveMinimumDecreased: the reader's exclusive minimum is lower than the writer's.
	ExclusiveMinimumDecreased Change = "EXCLUSIVE_MINIMUM_DECREASED"
	// MultipleOfAdded: the reader has a multipleOf and the writer has none. It is not allowed.
	MultipleOfAdded Change = "MULTIPLE_OF_ADDED"
	// MultipleOfRemoved: the writer has a multipleOf and the reader has none.
	MultipleOfRemoved Change = "MULTIPLE_OF_REMOVED"
	// MultipleOfExpanded: the reader's multipleOf is a multiple of the writer's. It is not allowed.
	MultipleOfExpanded Change = "MULTIPLE_OF_EXPANDED"
	// MultipleOfReduced: the reader's multipleOf divides the writer's.
	MultipleOfReduced Change = "MULTIPLE_OF_REDUCED"
	// MultipleOfChanged: neither multipleOf divides the other. It is not allowed.
	MultipleOfChanged Change = "MULTIPLE_OF_CHANGED"
)

// Differences of what objects must have.
const (
	// RequiredAttributeAdded: the reader requires a property that is optional for the writer. It is not allowed.
	RequiredAttributeAdded Change = "REQUIRED_ATTRIBUTE_ADDED"
	// RequiredAttributeWithDefaultAdded: the reader requires a property that is optional for the writer, and has a default for it.
	RequiredAttributeWithDefaultAdded Change = "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED"
	// RequiredAttributeRemoved: the writer requires a property that is optional for the reader.
	RequiredAttributeRemoved Change = "REQUIRED_ATTRIBUTE_REMOVED"
	// MaxPropertiesAdded: the reader has a maximal number of properties and the writer has none. It is not allowed.
	MaxPropertiesAdded Change = "MAX_PROPERTIES_ADDED"
	// MaxPropertiesRemoved: the writer has a maximal number of properties and the reader has none.
	MaxPropertiesRemoved Change = "MAX_PROPERTIES_REMOVED"
	// MaxPropertiesIncreased: the reader's maximal number of properties is higher than the writer's.
	MaxPropertiesIncreased Change = "MAX_PROPERTIES_INCREASED"
	// MaxPropertiesDecreased: the reader's maximal number of properties is lower than the writer's. It is not allowed.
	MaxPropertiesDecreased Change = "MAX_PROPERTIES_DECREASED"
	// MinPropertiesAdded: the reader has a minimal number of properties and the writer has none. It is not allowed.
	MinPropertiesAdded Change = "MIN_PROPERTIES_ADDED"
	// MinPropertiesRemoved: the writer has a minimal number of properties and the reader has none.
	MinPropertiesRemoved Change = "MIN_PROPERTIES_REMOVED"
	// MinPropertiesIncreased: the reader's minimal number of properties is higher than the writer's. It is not allowed.
	MinPropertiesIncreased Change = "MIN_PROPERTIES_INCREASED"
	// MinPropertiesDecreased: the reader's minimal number of properties is lower than the writer's.
	MinPropertiesDecreased Change = "MIN_PROPERTIES_DECREASED"
	// DependencyArrayAdded: a property requires others for the reader only. It is not allowed.
	DependencyArrayAdded Change = "DEPENDENCY_ARRAY_ADDED"
	// DependencyArrayRemoved: a property requires others for the writer only.
	DependencyArrayRemoved Change = "DEPENDENCY_ARRAY_REMOVED"
	// DependencyArrayExtended: a property requires more others for the reader. It is not allowed.
	DependencyArrayExtended Change = "DEPENDENCY_ARRAY_EXTENDED"
	// DependencyArrayNarrowed: a property requires fewer others for the reader.
	DependencyArrayNarrowed Change = "DEPENDENCY_ARRAY_NARROWED"
	// DependencyArrayChanged: a property requires partly different others. It is not allowed.
	DependencyArrayChanged Change = "DEPENDENCY_ARRAY_CHANGED"
	// DependencySchemaAdded: a property brings in a further schema for the reader only. It is not allowed.
	DependencySchemaAdded Change = "DEPENDENCY_SCHEMA_ADDED"
	// DependencySchemaRemoved: a property brings in a further schema for the writer only.
	DependencySchemaRemoved Change = "DEPENDENCY_SCHEMA_REMOVED"
)

// Differences of the content models of objects. A model is open when it accepts any property that is not listed, closed when
// it accepts none, and partially open when it accepts those that conform to a schema.
const (
	// AdditionalPropertiesAdded: the reader allows additional properties, the writer does not.
	AdditionalPropertiesAdded Change = "ADDITIONAL_PROPERTIES_ADDED"
	// AdditionalPropertiesRemoved: the writer allows additional properties, the reader does not. It is allowed by the lenient policy only.
	AdditionalPropertiesRemoved Change = "ADDITIONAL_PROPERTIES_REMOVED"
	// AdditionalPropertiesExtended: additional properties have a schema for the writer only.
	AdditionalPropertiesExtended Change = "ADDITIONAL_PROPERTIES_EXTENDED"
	// AdditionalPropertiesNarrowed: additional properties have a schema for the reader only. It is allowed by the lenient policy only.
	AdditionalPropertiesNarrowed Change = "ADDITIONAL_PROPERTIES_NARROWED"
	// UnevaluatedPropertiesAdded: the writer refuses unevaluated properties, the reader does not.
	UnevaluatedPropertiesAdded Change = "UNEVALUATED_PROPERTIES_ADDED"
	// UnevaluatedPropertiesRemoved: the reader refuses unevaluated properties, the writer does not. It is allowed by the lenient policy only.
	UnevaluatedPropertiesRemoved Change = "UNEVALUATED_PROPERTIES_REMOVED"
	// UnevaluatedPropertiesExtended: unevaluated properties have a schema for the writer only.
	UnevaluatedPropertiesExtended Change = "UNEVALUATED_PROPERTIES_EXTENDED"
	// UnevaluatedPropertiesNarrowed: unevaluated properties have a schema for the reader only. It is allowed by the lenient policy only.
	UnevaluatedPropertiesNarrowed Change = "UNEVALUATED_PROPERTIES_NARROWED"
)

// Differences of the properties that objects list.
const (
	// RequiredPropertyAddedToOpenContentModel: the reader lists and requires a property with which the writer, open, may have written anything. It is not allowed.
	RequiredPropertyAddedToOpenContentModel Change = "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
	// RequiredPropertyWithDefaultAddedToOpenContentModel: the same, where the reader has a default. It is allowed by the lenient policy only.
	RequiredPropertyWithDefaultAddedToOpenContentModel Change = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL"
	// OptionalPropertyAddedToOpenContentModel: the same, where the reader does not require the property. It is allowed by the lenient policy only.
	OptionalPropertyAddedToOpenContentModel Change = "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
	// PropertyWithEmptySchemaAddedToOpenContentModel: the same, where the reader accepts anything there.
	PropertyWithEmptySchemaAddedToOpenContentModel Change = "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL"
	// RequiredPropertyAddedToUnopenContentModel: the reader lists and requires a property that the writer, not open, has not. It is not allowed.
	RequiredPropertyAddedToUnopenContentModel Change = "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
	// RequiredPropertyWithDefaultAddedToUnopenContentModel: the same, where the reader has a default.
	RequiredPropertyWithDefaultAddedToUnopenContentModel Change = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL"
	// OptionalPropertyAddedToUnopenContentModel: the same, where the reader does not require the property.
	OptionalPropertyAddedToUnopenContentModel Change = "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
	// PropertyRemovedFromOpenContentModel: the writer lists a property that the reader, open, does not.
	PropertyRemovedFromOpenContentModel Change = "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL"
	// PropertyWithFalseRemovedFromClosedContentModel: the writer forbids a property that the reader, closed, does not list.
	PropertyWithFalseRemovedFromClosedContentModel Change = "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	// PropertyRemovedFromClosedContentModel: the writer lists a property that the reader, closed, does not. It is allowed by the lenient policy only.
	PropertyRemovedFromClosedContentModel Change = "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	// PropertyRemovedIsCoveredByPartiallyOpenContentModel: the writer lists a property that the reader accepts by the schema of its unlisted ones.
	PropertyRemovedIsCoveredByPartiallyOpenContentModel Change = "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	// PropertyRemovedNotCoveredByPartiallyOpenContentModel: the writer lists a property that the schema of the reader's unlisted ones refuses. It is allowed by the lenient policy only.
	PropertyRemovedNotCoveredByPartiallyOpenContentModel Change = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	// PropertyAddedIsCoveredByPartiallyOpenContentModel: the reader lists a property and accepts there what the schema of the writer's unlisted ones lets through.
	PropertyAddedIsCoveredByPartiallyOpenContentModel Change = "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	// PropertyAddedNotCoveredByPartiallyOpenContentModel: the reader lists a property and does not accept there what the schema of the writer's unlisted ones lets through. It is allowed by the lenient policy only.
	PropertyAddedNotCoveredByPartiallyOpenContentModel Change = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
)

// Differences of arrays.
const (
	// MaxItemsAdded: the reader has a maximal number of items and the writer has none. It is not allowed.
	MaxItemsAdded Change = "MAX_ITEMS_ADDED"
	// MaxItemsRemoved: the writer has a maximal number of items and the reader has none.
	MaxItemsRemoved Change = "MAX_ITEMS_REMOVED"
	// MaxItemsIncreased: the reader's maximal number of items is higher than the writer's.
	MaxItemsIncreased Change = "MAX_ITEMS_INCREASED"
	// MaxItemsDecreased: the reader's maximal number of items is lower than the writer's. It is not allowed.
	MaxItemsDecreased Change = "MAX_ITEMS_DECREASED"
	// MinItemsAdded: the reader has a minimal number of items and the writer has none. It is not allowed.
	MinItemsAdded Change = "MIN_ITEMS_ADDED"
	// MinItemsRemoved: the writer has a minimal number of items and the reader has none.
	MinItemsRemoved Change = "MIN_ITEMS_REMOVED"
	// MinItemsIncreased: the reader's minimal number of items is higher than the writer's. It is not allowed.
	MinItemsIncreased Change = "MIN_ITEMS_INCREASED"
	// MinItemsDecreased: the reader's minimal number of items is lower than the writer's.
	MinItemsDecreased Change = "MIN_ITEMS_DECREASED"
	// MaxContainsAdded: the reader has a maximal number of items that contains counts and the writer has none. It is not allowed.
	MaxContainsAdded Change = "MAX_CONTAINS_ADDED"
	// MaxContainsRemoved: the writer has a maximal number of items that contains counts and the reader has none.
	MaxContainsRemoved Change = "MAX_CONTAINS_REMOVED"
	// MaxContainsIncreased: the reader's maximal number of items that contains counts is higher than the writer's.
	MaxContainsIncreased Change = "MAX_CONTAINS_INCREASED"
	// MaxContainsDecreased: the reader's maximal number of items that contains counts is lower than the writer's. It is not allowed.
	MaxContainsDecreased Change = "MAX_CONTAINS_DECREASED"
	// MinContainsAdded: the reader has a minimal number of items that contains counts and the writer has none. It is not allowed.
	MinContainsAdded Change = "MIN_CONTAINS_ADDED"
	// MinContainsRemoved: the writer has a minimal number of items that contains counts and the reader has none.
	MinContainsRemoved Change = "MIN_CONTAINS_REMOVED"
	// MinContainsIncreased: the reader's minimal number of items that contains counts is higher than the writer's. It is not allowed.
	MinContainsIncreased Change = "MIN_CONTAINS_INCREASED"
	// MinContainsDecreased: the reader's minimal number of items that contains counts is lower than the writer's.
	MinContainsDecreased Change = "MIN_CONTAINS_DECREASED"
	// UniqueItemsAdded: items have to be unique for the reader only. It is not allowed.
	UniqueItemsAdded Change = "UNIQUE_ITEMS_ADDED"
	// UniqueItemsRemoved: items have to be unique for the writer only.
	UniqueItemsRemoved Change = "UNIQUE_ITEMS_REMOVED"
)

// Differences of the content models of arrays, which are what those of objects are.
const (
	// AdditionalItemsAdded: the reader allows additional items, the writer does not.
	AdditionalItemsAdded Change = "ADDITIONAL_ITEMS_ADDED"
	// AdditionalItemsRemoved: the writer allows additional items, the reader does not. It is not allowed.
	AdditionalItemsRemoved Change = "ADDITIONAL_ITEMS_REMOVED"
	// AdditionalItemsExtended: additional items have a schema for the writer only.
	AdditionalItemsExtended Change = "ADDITIONAL_ITEMS_EXTENDED"
	// AdditionalItemsNarrowed: additional items have a schema for the reader only. It is not allowed.
	AdditionalItemsNarrowed Change = "ADDITIONAL_ITEMS_NARROWED"
	// UnevaluatedItemsAdded: the writer refuses unevaluated items, the reader does not.
	UnevaluatedItemsAdded Change = "UNEVALUATED_ITEMS_ADDED"
	// UnevaluatedItemsRemoved: the reader refuses unevaluated items, the writer does not. It is not allowed.
	UnevaluatedItemsRemoved Change = "UNEVALUATED_ITEMS_REMOVED"
	// UnevaluatedItemsExtended: unevaluated items have a schema for the writer only.
	UnevaluatedItemsExtended Change = "UNEVALUATED_ITEMS_EXTENDED"
	// UnevaluatedItemsNarrowed: unevaluated items have a schema for the reader only. It is not allowed.
	UnevaluatedItemsNarrowed Change = "UNEVALUATED_ITEMS_NARROWED"
)

// Differences of the items that arrays list one by one.
const (
	// ItemAddedToOpenContentModel: the reader lists an item where the writer, open, may have written anything. It is not allowed.
	ItemAddedToOpenContentModel Change = "ITEM_ADDED_TO_OPEN_CONTENT_MODEL"
	// ItemWithEmptySchemaAddedToOpenContentModel: the same, where the reader accepts anything there.
	ItemWithEmptySchemaAddedToOpenContentModel Change = "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL"
	// ItemAddedToClosedContentModel: the reader lists an item that the writer, closed, has not.
	ItemAddedToClosedContentModel Change = "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL"
	// ItemRemovedFromOpenContentModel: the writer lists an item that the reader, open, does not.
	ItemRemovedFromOpenContentModel Change = "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL"
	// ItemWithFalseRemovedFromClosedContentModel: the writer forbids an item that the reader, closed, does not list.
	ItemWithFalseRemovedFromClosedContentModel Change = "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	// ItemRemovedFromClosedContentModel: the writer lists an item that the reader, closed, does not. It is not allowed.
	ItemRemovedFromClosedContentModel Change = "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"
	// ItemRemovedIsCoveredByPartiallyOpenContentModel: the writer lists an item that the reader accepts by the schema of its unlisted ones.
	ItemRemovedIsCoveredByPartiallyOpenContentModel Change = "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	// ItemRemovedNotCoveredByPartiallyOpenContentModel: the writer lists an item that the schema of the reader's unlisted ones refuses. It is not allowed.
	ItemRemovedNotCoveredByPartiallyOpenContentModel Change = "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	// ItemAddedIsCoveredByPartiallyOpenContentModel: the reader lists an item and accepts there what the schema of the writer's unlisted ones lets through.
	ItemAddedIsCoveredByPartiallyOpenContentModel Change = "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	// ItemAddedNotCoveredByPartiallyOpenContentModel: the reader lists an item and does not accept there what the schema of the writer's unlisted ones lets through. It is not allowed.
	ItemAddedNotCoveredByPartiallyOpenContentModel Change = "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
)

// Differences of enum and const.
const (
	// EnumArrayExtended: the reader knows more values.
	EnumArrayExtended Change = "ENUM_ARRAY_EXTENDED"
	// EnumArrayNarrowed: the reader knows fewer values. It is not allowed.
	EnumArrayNarrowed Change = "ENUM_ARRAY_NARROWED"
	// EnumArrayChanged: each knows a value that the other does not, or the constants differ. It is not allowed.
	EnumArrayChanged Change = "ENUM_ARRAY_CHANGED"
)

// Differences of allOf, anyOf, oneOf and not.
const (
	// CombinedTypeExtended: the schemas combine differently, the reader more generously.
	CombinedTypeExtended Change = "COMBINED_TYPE_EXTENDED"
	// CombinedTypeChanged: the schemas combine differently, as oneOf became allOf. It is not allowed.
	CombinedTypeChanged Change = "COMBINED_TYPE_CHANGED"
	// ProductTypeExtended: the reader's allOf has more branches. It is not allowed.
	ProductTypeExtended Change = "PRODUCT_TYPE_EXTENDED"
	// ProductTypeNarrowed: the reader's allOf has fewer branches, or only one of them remains.
	ProductTypeNarrowed Change = "PRODUCT_TYPE_NARROWED"
	// SumTypeExtended: the reader's anyOf or oneOf has more branches, or is one around what was a single schema.
	SumTypeExtended Change = "SUM_TYPE_EXTENDED"
	// SumTypeNarrowed: the reader's anyOf or oneOf has fewer branches. It is not allowed.
	SumTypeNarrowed Change = "SUM_TYPE_NARROWED"
	// CombinedTypeSubschemasChanged: the branches cannot be paired so that each of the shorter list has a compatible partner. It is not allowed.
	CombinedTypeSubschemasChanged Change = "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
	// NotTypeExtended: the reader's not excludes more. It is not allowed.
	NotTypeExtended Change = "NOT_TYPE_EXTENDED"
	// NotTypeNarrowed: the reader's not excludes the same or less.
	NotTypeNarrowed Change = "NOT_TYPE_NARROWED"
)

// allowed is the changes that leave the reader able to read what the writer wrote.
var allowed = set(
	IDChanged, DescriptionChanged, TitleChanged, DefaultChanged, SchemaRemoved, TypeExtended, MaxLengthRemoved,
	MaxLengthIncreased, MinLengthRemoved, MinLengthDecreased, PatternRemoved, MaximumRemoved, MaximumIncreased,
	MinimumRemoved, MinimumDecreased, ExclusiveMaximumRemoved, ExclusiveMaximumIncreased,
	ExclusiveMinimumRemoved, ExclusiveMinimumDecreased, MultipleOfRemoved, MultipleOfReduced,
	RequiredAttributeWithDefaultAdded, RequiredAttributeRemoved, MaxPropertiesRemoved, MaxPropertiesIncreased,
	MinPropertiesRemoved, MinPropertiesDecreased, DependencyArrayRemoved, DependencyArrayNarrowed,
	DependencySchemaRemoved, AdditionalPropertiesAdded, AdditionalPropertiesExtended, UnevaluatedPropertiesAdded,
	UnevaluatedPropertiesExtended, PropertyWithEmptySchemaAddedToOpenContentModel,
	RequiredPropertyWithDefaultAddedToUnopenContentModel, OptionalPropertyAddedToUnopenContentModel,
	PropertyRemovedFromOpenContentModel, PropertyWithFalseRemovedFromClosedContentModel,
	PropertyRemovedIsCoveredByPartiallyOpenContentModel, PropertyAddedIsCoveredByPartiallyOpenContentModel,
	MaxItemsRemoved, MaxItemsIncreased, MinItemsRemoved, MinItemsDecreased, MaxContainsRemoved,
	MaxContainsIncreased, MinContainsRemoved, MinContainsDecreased, UniqueItemsRemoved, AdditionalItemsAdded,
	AdditionalItemsExtended, UnevaluatedItemsAdded, UnevaluatedItemsExtended,
	ItemWithEmptySchemaAddedToOpenContentModel, ItemAddedToClosedContentModel, ItemRemovedFromOpenContentModel,
	ItemWithFalseRemovedFromClosedContentModel, ItemRemovedIsCoveredByPartiallyOpenContentModel,
	ItemAddedIsCoveredByPartiallyOpenContentModel, EnumArrayExtended, CombinedTypeExtended, ProductTypeNarrowed,
	SumTypeExtended, NotTypeNarrowed,
)

// allowedLeniently is the changes that the lenient policy allows besides: a property may come and go whatever the content
// model is, as long as the reader does not insist on it.
var allowedLeniently = set(
	AdditionalPropertiesRemoved, AdditionalPropertiesNarrowed, UnevaluatedPropertiesRemoved,
	UnevaluatedPropertiesNarrowed, RequiredPropertyWithDefaultAddedToOpenContentModel,
	OptionalPropertyAddedToOpenContentModel, PropertyRemovedFromClosedContentModel,
	PropertyRemovedNotCoveredByPartiallyOpenContentModel, PropertyAddedNotCoveredByPartiallyOpenContentModel,
)

func set(changes ...Change) map[Change]bool {
	s := make(map[Change]bool, len(changes))
	for _, c := range changes {
		s[c] = true
	}
	return s
}
