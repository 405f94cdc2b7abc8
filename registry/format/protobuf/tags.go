package protobuf

import (
	"slices"
	"strings"

	"moldau/registry/format"
)

const (
	metaFile    = "confluent/meta.proto"
	messageMeta = "confluent.message_meta"
	fieldMeta   = "confluent.field_meta"
	tagsEntry   = "tags"
)

// Tags answers the tags of messages and fields. Paths are names without the package.
func (s *Schema) Tags() []format.TaggedEntity {
	var tagged []format.TaggedEntity
	note := func(path, typ, meta string, options []option) {
		if tags := tagsOf(meta, options); len(tags) > 0 {
			tagged = append(tagged, format.TaggedEntity{Entity: format.Entity{Path: path, Type: typ}, Tags: tags})
		}
	}
	s.unit.file.eachMessage("", func(path string, m *message) {
		note(path, format.RecordEntity, messageMeta, m.options)
		for _, o := range m.oneofs {
			for _, f := range o.fields {
				note(path+"."+f.name, format.FieldEntity, fieldMeta, f.options)
			}
		}
		for _, f := range m.fields {
			note(path+"."+f.name, format.FieldEntity, fieldMeta, f.options)
		}
	})
	return tagged
}

// eachMessage visits every message before those inside it.
func (f *file) eachMessage(outer string, visit func(path string, m *message)) {
	visitMessages(outer, f.messages, visit)
}

func visitMessages(outer string, list []*message, visit func(path string, m *message)) {
	for _, m := range list {
		path := outer + m.name
		visit(path, m)
		visitMessages(path+".", m.messages, visit)
	}
}

func (o option) is(meta string) bool { return o.custom && strings.TrimPrefix(o.name, ".") == meta }

// metaOf joins all that options say with one of the extensions for documentation, tags and rules.
func metaOf(meta string, options []option) value {
	all := value{kind: mapValue}
	for _, o := range options {
		v := o.value
		if o.is(meta) && v.kind == pathValue {
			v = value{kind: mapValue, entries: []entry{{v.rest.name, v.rest.value}}}
		}
		if o.is(meta) && v.kind == mapValue {
			all = merge(nil, all, v)
		}
	}
	return all
}

func tagsOf(meta string, options []option) []string {
	var tags []string
	for _, e := range metaOf(meta, options).entries {
		if e.name != tagsEntry {
			continue
		}
		items := e.value.items
		if e.value.kind != listValue {
			items = []value{e.value}
		}
		for _, item := range items {
			if !slices.Contains(tags, item.text) {
				tags = append(tags, item.text)
			}
		}
	}
	return tags
}

// Retagged is the stored text with other tags.
func (s *Schema) Retagged(add, remove []format.TaggedEntity) (string, error) {
	f, err := reread(s.canonical, s.limits)
	if err != nil {
		return "", err
	}
	for _, change := range add {
		err := f.retag(change.Entity.Normal(), func(tags []string) []string {
			for _, t := range change.Tags {
				if !slices.Contains(tags, t) {
					tags = append(tags, t)
				}
			}
			return tags
		})
		if err != nil {
			return "", err
		}
	}
	for _, change := range remove {
		err := f.retag(change.Entity.Normal(), func(tags []string) []string {
			return slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(change.Tags, t) })
		})
		if err != nil {
			return "", err
		}
	}
	if len(add) > 0 && !slices.Contains(f.imports, metaFile) {
		f.imports = append(f.imports, metaFile)
	}
	return printer{}.file(f), nil
}

func (f *file) retag(e format.Entity, change func([]string) []string) error {
	options, meta := f.entity(e)
	if options == nil {
		return format.Invalid("the schema has no %s %q", e.Type, e.Path)
	}
	tags := change(tagsOf(meta, *options))
	all := metaOf(meta, *options)
	list := value{kind: listValue}
	for _, t := range tags {
		list.items = append(list.items, quoted(t))
	}
	i := slices.IndexFunc(all.entries, func(e entry) bool { return e.name == tagsEntry })
	switch {
	case i < 0 && len(tags) > 0:
		all.entries = append(all.entries, entry{tagsEntry, list})
	case i >= 0 && len(tags) > 0:
		all.entries[i].value = list
	case i >= 0:
		all.entries = slices.Delete(all.entries, i, i+1)
	}
	at := max(0, slices.IndexFunc(*options, func(o option) bool { return o.is(meta) }))
	*options = slices.DeleteFunc(*options, func(o option) bool { return o.is(meta) })
	if len(all.entries) > 0 {
		*options = slices.Insert(*options, at, option{name: meta, custom: true, value: all})
	}
	return nil
}

// entity finds the options of an entity. The path of a field may name the oneof that it is in.
func (f *file) entity(e format.Entity) (options *[]option, meta string) {
	f.eachMessage("", func(path string, m *message) {
		if e.Type == format.RecordEntity && e.Path == path {
			options, meta = &m.options, messageMeta
		}
		if e.Type != format.FieldEntity {
			return
		}
		for _, x := range m.fields {
			if e.Path == path+"."+x.name {
				options, meta = &x.options, fieldMeta
			}
		}
		for _, o := range m.oneofs {
			for _, x := range o.fields {
				if e.Path == path+"."+x.name || e.Path == path+"."+o.name+"."+x.name {
					options, meta = &x.options, fieldMeta
				}
			}
		}
	})
	return options, meta
}
