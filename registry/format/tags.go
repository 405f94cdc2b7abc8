package format

import "strings"

// The types of entities that carry inline tags.
const (
	RecordEntity = "sr_record"
	FieldEntity  = "sr_field"
)

// Entity is a record (a message, an object) or a field (a property) inside a schema.
type Entity struct {
	// Path is the full name of a record, followed by the name of the field for a field. A leading dot is ignored.
	Path string
	// Type is RecordEntity or FieldEntity.
	Type string
}

// Normal is the entity with a path that has no leading dot.
func (e Entity) Normal() Entity {
	return Entity{Path: strings.TrimPrefix(e.Path, "."), Type: e.Type}
}

// TaggedEntity is an entity with its tags, in the order in which the schema has them.
type TaggedEntity struct {
	Entity Entity
	Tags   []string
}
