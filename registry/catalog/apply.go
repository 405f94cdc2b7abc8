package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

// Record is a record of the topic. A nil Value is a tombstone.
type Record struct {
	Key, Value []byte
	Offset     int64
	Timestamp  int64 // milliseconds since 1970
	// Generation is the generation of the writer, and 0 when it wrote none, as other registries do.
	Generation int64
	// Commit numbers the commits of a generation, from 1.
	Commit int64
}

// Apply returns the catalog with a record. A record that can't be understood, contradicts what is known, or comes from a
// writer that was superseded changes nothing but the offset; the error, which wraps ErrRecord, says why, and the catalog
// is returned all the same.
func (c *Catalog) Apply(r Record) (*Catalog, error) {
	next := *c
	next.offset = r.Offset + 1
	if r.Generation != 0 && r.Generation < c.generation {
		return &next, fmt.Errorf("%w: offset %d is of writer generation %d, which %d superseded", ErrRecord, r.Offset, r.Generation, c.generation)
	}
	switch {
	case r.Generation > c.generation:
		next.generation, next.commit = r.Generation, r.Commit
	case r.Generation != 0:
		next.commit = max(c.commit, r.Commit)
	}
	k, err := ParseKey(r.Key)
	if err != nil {
		return &next, fmt.Errorf("offset %d: %w", r.Offset, err)
	}
	before := next
	if r.Value == nil {
		next.remove(k)
	} else {
		err = next.set(k, r)
	}
	if err != nil {
		return &before, fmt.Errorf("offset %d: %w", r.Offset, err)
	}
	next.remember(k, r)
	return &next, nil
}

// With returns the catalog as it will be when the changes are written.
func (c *Catalog) With(changes []Change, timestamp int64) (*Catalog, error) {
	for _, ch := range changes {
		var err error
		if c, err = c.Apply(Record{Key: ch.Key, Value: ch.Value, Offset: c.offset, Timestamp: timestamp}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// remember keeps track of the other forms of a key.
func (c *Catalog) remember(k Key, r Record) {
	here := string(k.Append(nil))
	if raw := string(r.Key); raw != here {
		others, _ := c.variants.get(here)
		others = slices.DeleteFunc(slices.Clone(others), func(o string) bool { return o == raw })
		if r.Value != nil {
			others = append(others, raw)
		}
		if len(others) == 0 {
			c.variants = c.variants.without(here)
		} else {
			c.variants = c.variants.with(here, others)
		}
	}
}

func (c *Catalog) set(k Key, r Record) error {
	switch k.kind {
	case schemaType:
		s, err := decodeSchema(k, r)
		if err != nil {
			return err
		}
		return c.putSchema(s)
	case configType:
		var j configJSON
		if err := decode("config", r.Value, &j); err != nil {
			return err
		}
		c.configs = c.configs.with(k.subject, &j.Config)
	case modeType:
		var j modeJSON
		if err := decode("mode", r.Value, &j); err != nil {
			return err
		}
		c.modes = c.modes.with(k.subject, j.Mode)
	case contextType:
		c.declared = c.declared.with(k.subject, struct{}{})
	case deleteSubjectType:
		var j subjectJSON
		if err := decode("deletion", r.Value, &j); err != nil {
			return err
		}
		c.deleteSubject(Normal(j.Subject), j.Version)
	case clearSubjectType:
		var j subjectJSON
		if err := decode("clearing", r.Value, &j); err != nil {
			return err
		}
		c.clear(Normal(j.Subject))
	case noopType:
		return c.raiseMaxIDs(r.Value)
	}
	return nil
}

// remove takes away what a key is about. Removing what is not there changes nothing.
func (c *Catalog) remove(k Key) {
	switch k.kind {
	case schemaType:
		if s := c.Version(k.subject, k.version); s != nil {
			c.dropSchema(s)
		}
	case configType:
		c.configs = c.configs.without(k.subject)
	case modeType:
		c.modes = c.modes.without(k.subject)
	case contextType:
		c.declared = c.declared.without(k.subject)
	}
}

// putSchema adds a version or takes the place of one.
func (c *Catalog) putSchema(s *Schema) error {
	for _, other := range c.UsesOf(s.Name().Context, s.ID) {
		if other.Text != s.Text {
			return fmt.Errorf("%w: id %d of %s version %d belongs to the schema of %s version %d already",
				ErrRecord, s.ID, s.Subject, s.Version, other.Subject, other.Version)
		}
	}
	if old := c.Version(s.Subject, s.Version); old != nil {
		c.dropSchema(old)
	}
	c.addSchema(s)
	return nil
}

func (c *Catalog) addSchema(s *Schema) {
	next := &subject{}
	if have, ok := c.subjects.get(s.Subject); ok {
		next.versions = slices.Clone(have.versions)
	}
	i, _ := slices.BinarySearchFunc(next.versions, s.Version, byVersion)
	next.versions = slices.Insert(next.versions, i, s)
	c.subjects = c.subjects.with(s.Subject, next)

	name := s.Name()
	var ctx context
	if have, ok := c.contexts.get(name.Context); ok {
		ctx = *have
	}
	ctx.byID = addTo(ctx.byID, s.ID, s)
	ctx.byGUID = addTo(ctx.byGUID, string(s.GUID[:]), s)
	ctx.maxID = max(ctx.maxID, s.ID)
	c.contexts = c.contexts.with(name.Context, &ctx)
	for _, ref := range s.References {
		c.referred = addTo(c.referred, referredIndex(name, ref), s)
	}
}

func (c *Catalog) dropSchema(s *Schema) {
	have, _ := c.subjects.get(s.Subject)
	if len(have.versions) == 1 {
		c.subjects = c.subjects.without(s.Subject)
	} else {
		i, _ := slices.BinarySearchFunc(have.versions, s.Version, byVersion)
		c.subjects = c.subjects.with(s.Subject, &subject{slices.Delete(slices.Clone(have.versions), i, i+1)})
	}
	name := s.Name()
	old, _ := c.contexts.get(name.Context)
	ctx := *old
	ctx.byID = takeFrom(ctx.byID, s.ID, s)
	ctx.byGUID = takeFrom(ctx.byGUID, string(s.GUID[:]), s)
	c.contexts = c.contexts.with(name.Context, &ctx)
	for _, ref := range s.References {
		c.referred = takeFrom(c.referred, referredIndex(name, ref), s)
	}
}

func byVersion(s *Schema, version int32) int { return cmp.Compare(s.Version, version) }

func referredIndex(by Name, ref Reference) string {
	return versionIndex(ParseName(ref.Subject).In(by).String(), ref.Version)
}

func addTo[K cmp.Ordered](m ordered[K, schemaSet], key K, s *Schema) ordered[K, schemaSet] {
	set, _ := m.get(key)
	return m.with(key, set.with(s.index(), s))
}

func takeFrom[K cmp.Ordered](m ordered[K, schemaSet], key K, s *Schema) ordered[K, schemaSet] {
	set, _ := m.get(key)
	if set = set.without(s.index()); set.size() == 0 {
		return m.without(key)
	}
	return m.with(key, set)
}

// deleteSubject marks the versions up to one as deleted.
func (c *Catalog) deleteSubject(name string, upTo int32) {
	for _, s := range c.Versions(name) {
		if s.Version > upTo || s.Deleted {
			continue
		}
		gone := *s
		gone.Deleted = true
		c.dropSchema(s)
		c.addSchema(&gone)
	}
}

// clear forgets the deleted versions under a scope.
func (c *Catalog) clear(scope string) {
	for _, s := range c.InScope(scope) {
		if s.Deleted {
			c.dropSchema(s)
		}
	}
}

func (c *Catalog) raiseMaxIDs(value []byte) error {
	var j noopJSON
	if err := decode("highest ids", value, &j); err != nil {
		return err
	}
	for name, id := range j.MaxIDs {
		var ctx context
		if have, ok := c.contexts.get(name); ok {
			ctx = *have
		}
		ctx.maxID = max(ctx.maxID, id)
		c.contexts = c.contexts.with(name, &ctx)
	}
	return nil
}
