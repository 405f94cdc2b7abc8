package registry

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// noID is the id of a schema that has none yet.
const noID = -1

// Registration asks for a schema to be registered.
type Registration struct {
	Subject string
	Version int32 // 0 for the next one; -1 for the next one, written into the metadata
	ID      int32 // -1 for one of the registry's choice
	Type    string
	Text    string

	References []catalog.Reference
	Metadata   *catalog.Metadata
	RuleSet    *catalog.RuleSet

	AddTags, RemoveTags []format.TaggedEntity
	PropagateTags       bool // the tags inside the latest version are taken over
	Normalize           bool
	Force               bool // compatibility is not asked for
}

// content is the schema that a registration brings.
func (q *Registration) content() *catalog.Schema {
	kind := q.Type
	if kind == "" {
		kind = format.Avro
	}
	return &catalog.Schema{
		Subject: q.Subject, Version: q.Version, ID: q.ID, Type: kind, Text: q.Text,
		References: q.References, Metadata: q.Metadata, RuleSet: q.RuleSet,
	}
}

func (q *Registration) tags() bool { return len(q.AddTags) > 0 || len(q.RemoveTags) > 0 }

// Register registers a schema under a subject, or finds that it is registered.
func (r *Registry) Register(ctx context.Context, q Registration) (*catalog.Schema, error) {
	if !catalog.ValidSubject(q.Subject) {
		return nil, &Refusal{Kind: ErrInvalidSubject, Subject: q.Subject}
	}
	q.Subject = catalog.Normal(q.Subject)
	if err := r.allow(ctx, WriteSubject, q.Subject); err != nil {
		return nil, err
	}
	if err := q.RuleSet.Validate(); err != nil {
		return nil, refuse(ErrInvalidRuleSet, ruleReason(err))
	}
	c := r.catalog()
	q.Normalize = q.Normalize || catalog.True(r.config(c, q.Subject).Normalize)
	if s, err := r.registered(ctx, c, &q); s != nil || err != nil {
		return s, err
	}
	var out *catalog.Schema
	err := r.commit(ctx, func(c *catalog.Catalog) (changes []catalog.Change, err error) {
		out, changes, err = r.decideRegister(ctx, c, &q)
		return changes, err
	})
	if err != nil {
		return nil, err
	}
	return r.asStored(out), nil
}

// asStored is the schema as the catalog has it by now.
func (r *Registry) asStored(s *catalog.Schema) *catalog.Schema {
	if have := r.catalog().Version(s.Subject, s.Version); have != nil && have.GUID == s.GUID {
		return have
	}
	return s
}

func ruleReason(err error) string {
	return strings.TrimPrefix(err.Error(), catalog.ErrRuleSet.Error()+": ")
}

// registered finds a schema that is registered already, on any replica and whatever the mode is. It returns nil when
// that needs the one that writes.
func (r *Registry) registered(ctx context.Context, c *catalog.Catalog, q *Registration) (*catalog.Schema, error) {
	cfg := r.config(c, q.Subject)
	if q.tags() || q.PropagateTags || cfg.HasDefaultsOrOverrides() {
		return nil, nil
	}
	s, err := r.find(ctx, c, q.content(), lookup{normalize: q.Normalize, latestOnly: q.Version == latestVersion})
	if s == nil || err != nil {
		return nil, err
	}
	if q.Version == 0 || q.Version == latestVersion {
		if q.ID < 0 || q.ID == s.ID {
			return s, nil
		}
		return nil, nil
	}
	if s.ID != q.ID {
		return nil, nil
	}
	if s.Version == q.Version {
		return s, nil
	}
	// The same schema may have been imported as several versions.
	if other := c.Version(q.Subject, q.Version); other != nil && !other.Deleted && other.ID == s.ID && other.GUID == s.GUID {
		return other, nil
	}
	return nil, nil
}

// decideRegister decides what registering a schema changes. It returns the schema as registered.
func (r *Registry) decideRegister(ctx context.Context, c *catalog.Catalog, q *Registration) (*catalog.Schema, []catalog.Change, error) {
	s := q.content()
	if q.tags() {
		if err := r.retag(ctx, c, s, q.AddTags, q.RemoveTags); err != nil {
			return nil, nil, err
		}
		if q.Version == 0 {
			s.Version = latestVersion
		}
	}
	if err := checkRegisterMode(c, s); err != nil {
		return nil, nil, err
	}
	versions := c.Versions(s.Subject)
	next := int32(1)
	if n := len(versions); n > 0 {
		if versions[n-1].Version == math.MaxInt32 {
			return nil, nil, refuse(ErrNotPermitted, "Subject %s has used up all versions", s.Subject)
		}
		next = versions[n-1].Version + 1
	}
	live := slices.DeleteFunc(slices.Clone(versions), func(s *catalog.Schema) bool { return s.Deleted })
	cfg := r.config(c, s.Subject)
	mode := c.Mode(s.Subject)
	if !catalog.IsImport(mode) {
		if err := r.inherit(ctx, c, cfg, s, live, next, q.PropagateTags); err != nil {
			return nil, nil, err
		}
	}
	asNew := s.ID < 0 && orDefault(cfg.ValidateNewSchemas, r.cfg.ValidateNewSchemas)
	p, err := r.canonical(ctx, c, s, asNew, q.Normalize)
	if err != nil {
		return nil, nil, err
	}
	if p == nil {
		return nil, nil, refuse(ErrInvalidSchema, "Empty schema")
	}
	return r.place(ctx, c, q, p, live, next)
}

// checkRegisterMode refuses what the mode forbids.
func checkRegisterMode(c *catalog.Catalog, s *catalog.Schema) error {
	mode := c.Mode(s.Subject)
	deny := func(what string) error {
		return refuse(ErrNotPermitted, "Subject %s in context %s is %s", s.Subject, s.Name().Prefix(), what)
	}
	switch {
	case catalog.IsReadOnly(mode):
		return deny("in read-only mode")
	case s.ID >= 0 && !catalog.IsImport(mode):
		return deny("not in import mode")
	case s.ID < 0 && mode != catalog.ReadWrite:
		return deny("not in read-write mode")
	}
	return nil
}

// place finds the schema among those that are registered, or gives it a version and an id.
func (r *Registry) place(ctx context.Context, c *catalog.Catalog, q *Registration, p *parsed, live []*catalog.Schema, next int32) (*catalog.Schema, []catalog.Change, error) {
	in := p.Name().Context
	p.GUID = p.Sum()
	id := p.ID
	same := c.Same(in, p.GUID)
	if len(same) > 0 && (id < 0 || id == same[0].ID) {
		if p.Version == 0 {
			if s := liveUnder(same, p.Subject); s != nil {
				return s, nil, nil
			}
		}
		id = same[0].ID
	}
	if p.Version == 0 {
		for _, old := range slices.Backward(live) {
			if id >= 0 && id != old.ID {
				continue
			}
			o, err := r.parse(ctx, c, old, false)
			if err != nil {
				return nil, nil, err
			}
			if p.finds(o) {
				return old, nil, nil
			}
		}
	}
	importing := catalog.IsImport(c.Mode(p.Subject))
	if !importing && !q.Force {
		messages, err := r.compare(ctx, c, p, live)
		if err != nil {
			return nil, nil, err
		}
		if len(messages) > 0 {
			return nil, nil, &Refusal{Kind: ErrIncompatible, Subject: p.Subject, Detail: "[" + strings.Join(messages, ", ") + "]"}
		}
	}
	if p.Version <= 0 {
		p.Version = next
	} else if p.Version != next && !importing {
		return nil, nil, refuse(ErrInvalidSchema, "Version is not one more than previous version")
	}
	return r.assign(c, p.Schema, id)
}

// assign gives a schema its id and makes the changes that register it.
func (r *Registry) assign(c *catalog.Catalog, s *catalog.Schema, id int32) (*catalog.Schema, []catalog.Change, error) {
	var changes []catalog.Change
	name := s.Name()
	if name.Context != catalog.DefaultContext && !c.Declared(name.Context) {
		changes = append(changes, catalog.PutContext(name.Context))
	}
	if id >= 0 {
		if other := catalog.Preferred(c.UsesOf(name.Context, id)); other != nil && !other.SameContent(s) {
			return nil, nil, refuse(ErrNotPermitted, "Overwrite new schema with id %d in context %s is not permitted.", id, name.Prefix())
		}
		s.ID = id
	} else {
		highest := c.MaxID(name.Context)
		if highest == math.MaxInt32 {
			return nil, nil, refuse(ErrNotPermitted, "Context %s has used up all ids", name.Context)
		}
		s.ID = highest + 1
	}
	// A deleted version with the same id gives way, unless something refers to it: references are by version.
	for _, old := range c.Versions(s.Subject) {
		if old.Deleted && old.ID == s.ID && old.Version < s.Version && len(c.Referrers(old.Subject, old.Version)) == 0 {
			changes = append(changes, c.Drop(old.Key())...)
		}
	}
	s.Deleted = false
	return s, append(changes, catalog.PutSchema(s)), nil
}

// liveUnder is the highest of several versions that is under a subject and not deleted.
func liveUnder(versions []*catalog.Schema, subject string) *catalog.Schema {
	for _, s := range slices.Backward(versions) {
		if s.Subject == subject && !s.Deleted {
			return s
		}
	}
	return nil
}

// inherit fills in what a schema takes over: the text from the latest version if it has none, tags if that is wanted, and
// metadata and rules from the config and the latest version.
func (r *Registry) inherit(ctx context.Context, c *catalog.Catalog, cfg *catalog.Config, s *catalog.Schema, live []*catalog.Schema, next int32, tags bool) error {
	var latest *catalog.Schema
	if n := len(live); n > 0 {
		latest = live[n-1]
	}
	if strings.TrimSpace(s.Text) == "" {
		if latest == nil {
			return refuse(ErrInvalidSchema, "Empty schema")
		}
		s.Text, s.Type, s.References = latest.Text, latest.Type, latest.References
	}
	if tags && latest != nil {
		old, err := r.parse(ctx, c, latest, false)
		if err != nil {
			return err
		}
		if have := old.meaning.Tags(); len(have) > 0 {
			if err := r.retag(ctx, c, s, have, nil); err != nil {
				return err
			}
		}
	}
	inheritMetadata(cfg, s, latest, next)
	return nil
}

// inheritMetadata merges metadata and rules: defaults of the config, then the schema's own or else those of the latest
// version, then overrides of the config. With a next version it also writes that into the metadata where it is wanted.
func inheritMetadata(cfg *catalog.Config, s, latest *catalog.Schema, next int32) {
	metadata, rules := s.Metadata, s.RuleSet
	if latest != nil {
		if metadata == nil {
			metadata = latest.Metadata
		}
		if rules == nil {
			rules = latest.RuleSet
		}
	}
	metadata = catalog.MergeMetadata(catalog.MergeMetadata(cfg.DefaultMetadata, metadata), cfg.OverrideMetadata)
	rules = catalog.MergeRuleSets(catalog.MergeRuleSets(cfg.DefaultRuleSet, rules), cfg.OverrideRuleSet)
	if _, has := metadata.Property(catalog.VersionProperty); next > 0 && (s.Version != 0 || has) {
		metadata = metadata.WithVersion(next)
	}
	if metadata != nil || rules != nil {
		s.Metadata, s.RuleSet = metadata, rules
	}
}

// retag changes the tags inside a schema's text.
func (r *Registry) retag(ctx context.Context, c *catalog.Catalog, s *catalog.Schema, add, remove []format.TaggedEntity) error {
	p, err := r.parse(ctx, c, s, false)
	if err != nil {
		return err
	}
	text, err := p.meaning.Retagged(add, remove)
	if errors.Is(err, format.ErrInvalid) {
		return refuse(ErrInvalidSchema, reason(err))
	}
	if err != nil {
		return refused(ctx, s.Type, err)
	}
	s.Text = text
	return nil
}
