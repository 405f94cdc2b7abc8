package jsonschema

import (
	"slices"

	"moldau/registry/format"
)

// tagsKeyword is the member of a schema that holds its tags.
const tagsKeyword = "confluent:tags"

// Tags answers the tags of objects and properties. What a $ref leads to is not looked at there, definitions are.
func (s *Schema) Tags() []format.TaggedEntity {
	var tagged []format.TaggedEntity
	for _, e := range entities(s.documents.root.value) {
		if e.property && e.Type == format.RecordEntity {
			continue // the tags are those of the property
		}
		if tags := readTags(e.value); len(tags) > 0 {
			tagged = append(tagged, format.TaggedEntity{Entity: e.Entity, Tags: tags})
		}
	}
	return tagged
}

func readTags(schema *value) []string {
	list := schema.get(tagsKeyword)
	if list == nil {
		return nil
	}
	var tags []string
	for _, item := range list.items {
		tag, ok := item.characters()
		if !ok {
			tag = printJSON(item, false)
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// Retagged is the canonical text with tags added and then others removed.
func (s *Schema) Retagged(add, remove []format.TaggedEntity) (string, error) {
	root := s.documents.root.value.clone()
	byEntity := make(map[format.Entity]*value)
	for _, e := range entities(root) {
		byEntity[e.Entity] = e.value
	}
	find := func(e format.Entity) (*value, error) {
		if v, ok := byEntity[e.Normal()]; ok {
			return v, nil
		}
		return nil, format.Invalid("the schema has no %s at %q", e.Type, e.Path)
	}
	for _, e := range add {
		v, err := find(e.Entity)
		if err != nil {
			return "", err
		}
		writeTags(v, append(readTags(v), e.Tags...))
	}
	for _, e := range remove {
		v, err := find(e.Entity)
		if err != nil {
			return "", err
		}
		writeTags(v, slices.DeleteFunc(readTags(v), func(tag string) bool { return slices.Contains(e.Tags, tag) }))
	}
	return printJSON(root, false), nil
}

func writeTags(schema *value, tags []string) {
	if len(tags) == 0 {
		schema.remove(tagsKeyword)
		return
	}
	list := &value{kind: array}
	for i, tag := range tags {
		if !slices.Contains(tags[:i], tag) {
			list.items = append(list.items, &value{kind: str, text: tag})
		}
	}
	schema.set(tagsKeyword, list)
}
