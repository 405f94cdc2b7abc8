package catalog

// Change is a record to be written. A nil Value removes what the key is about.
type Change struct {
	Key   []byte
	Value []byte
}

func put(k Key, value []byte) Change { return Change{k.Append(nil), value} }

// PutSchema writes a version.
func PutSchema(s *Schema) Change { return put(s.Key(), encodeSchema(s)) }

// PutConfig writes the config of a subject or context.
func PutConfig(scope string, c *Config) Change {
	return put(ConfigKey(scope), encode(configJSON{scope, *c}))
}

// PutMode writes the mode of a subject or context.
func PutMode(scope, mode string) Change { return put(ModeKey(scope), encode(modeJSON{scope, mode})) }

// PutContext writes that a context exists.
func PutContext(context string) Change {
	return put(ContextKey(context), encode(contextJSON{tenant, context}))
}

// DeleteSubject softly deletes all versions of a subject up to one.
func DeleteSubject(subject string, upTo int32) Change {
	return put(Key{kind: deleteSubjectType, subject: subject}, encode(subjectJSON{subject, upTo}))
}

// ClearSubjects makes everybody forget the softly deleted versions of a subject or context.
func ClearSubjects(scope string) Change {
	return put(Key{kind: clearSubjectType, subject: scope}, encode(subjectJSON{scope, 0}))
}

// Drop removes what a key is about: by the key as it is written here, and by every other form in which the topic has it,
// since compaction would keep those.
func (c *Catalog) Drop(k Key) []Change {
	out := []Change{put(k, nil)}
	others, _ := c.variants.get(string(out[0].Key))
	for _, raw := range others {
		out = append(out, Change{Key: []byte(raw)})
	}
	return out
}

// DropVersions removes versions for good, and keeps the highest ids, which would be forgotten with them and given out
// again.
func (c *Catalog) DropVersions(versions []*Schema) []Change {
	if len(versions) == 0 {
		return nil
	}
	out := []Change{c.keepMaxIDs()}
	for _, s := range versions {
		out = append(out, c.Drop(s.Key())...)
	}
	return out
}

func (c *Catalog) keepMaxIDs() Change {
	j := noopJSON{MaxIDs: map[string]int32{}}
	for name, ctx := range c.contexts.all() {
		j.MaxIDs[name] = ctx.maxID
	}
	return put(Key{kind: noopType}, encode(j))
}
