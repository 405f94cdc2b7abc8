package avro

import (
	"context"
	"slices"

	"moldau/registry/format"
)

// tagsProp is the property that holds tags.
const tagsProp = "confluent:tags"

// Tags answers the tags of records and fields, what references define included.
func (s *Schema) Tags() []format.TaggedEntity {
	var tagged []format.TaggedEntity
	note := func(path, typ string, props []member) {
		if tags := readTags(props); len(tags) > 0 {
			tagged = append(tagged, format.TaggedEntity{Entity: format.Entity{Path: path, Type: typ}, Tags: tags})
		}
	}
	s.graphs.records(false, func(n *node) {
		note(n.name.full(), format.RecordEntity, n.props)
	}, func(n *node, f *field) {
		note(n.name.full()+"."+f.name, format.FieldEntity, f.props)
	})
	return tagged
}

// records visits every record before its fields, and every field before what is in its type. Own leaves out what the
// stored text does not define itself.
func (g graphs) records(own bool, record func(*node), each func(*node, *field)) {
	seen := map[string]bool{}
	if own {
		seen = g.external()
	}
	var walk func(n *node)
	walk = func(n *node) {
		switch n.kind {
		case kindUnion:
			for _, b := range n.branches {
				walk(b)
			}
		case kindArray, kindMap:
			walk(n.items)
		case kindRecord:
			if seen[n.name.full()] {
				return
			}
			seen[n.name.full()] = true
			record(n)
			for _, f := range n.fields {
				each(n, f)
				walk(f.typ)
			}
		default: // nothing is inside
		}
	}
	walk(g.root)
}

func readTags(props []member) []string {
	list := prop(props, tagsProp)
	if list == nil {
		return nil
	}
	var tags []string
	for _, item := range list.items {
		if t, ok := item.str(); ok {
			tags = append(tags, t)
		} else {
			tags = append(tags, string(appendValue(nil, item)))
		}
	}
	return distinct(tags)
}

// Retagged is the stored text with other tags. Entities of references cannot be changed here.
func (s *Schema) Retagged(add, remove []format.TaggedEntity) (string, error) {
	fresh, err := parse(context.Background(), s.source, s.limits)
	if err != nil {
		return "", err
	}
	for _, change := range add {
		err := fresh.retag(change.Entity, func(tags []string) []string { return distinct(append(tags, change.Tags...)) })
		if err != nil {
			return "", err
		}
	}
	for _, change := range remove {
		err := fresh.retag(change.Entity, func(tags []string) []string {
			return slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(change.Tags, t) })
		})
		if err != nil {
			return "", err
		}
	}
	return printSchema(fresh.root, fresh.external()), nil
}

func (g graphs) retag(e format.Entity, change func([]string) []string) error {
	props := g.entity(e.Normal())
	if props == nil {
		return format.Invalid("the schema has no %s %q", e.Type, e.Path)
	}
	tags := change(readTags(*props))
	if len(tags) == 0 {
		*props = slices.DeleteFunc(*props, func(m member) bool { return m.name == tagsProp })
		return nil
	}
	list := &value{kind: jsonArray}
	for _, t := range tags {
		list.items = append(list.items, &value{kind: jsonString, text: t})
	}
	holder := value{kind: jsonObject, members: *props}
	holder.set(tagsProp, list)
	*props = holder.members
	return nil
}

// entity finds the properties of an entity by its full path; a path without namespace also fits the first record of that
// simple name.
func (g graphs) entity(e format.Entity) *[]member {
	var exact, loose *[]member
	fit := func(full, simple string, props *[]member) {
		if exact == nil && e.Path == full {
			exact = props
		}
		if loose == nil && e.Path == simple {
			loose = props
		}
	}
	g.records(true, func(n *node) {
		if e.Type == format.RecordEntity {
			fit(n.name.full(), n.name.simple, &n.props)
		}
	}, func(n *node, f *field) {
		if e.Type == format.FieldEntity {
			fit(n.name.full()+"."+f.name, n.name.simple+"."+f.name, &f.props)
		}
	})
	if exact != nil {
		return exact
	}
	return loose
}
