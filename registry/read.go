package registry

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// Version is a version of a subject, with -1 the latest. A subject that names no context is looked for in the default
// one, then in all others.
func (r *Registry) Version(ctx context.Context, subject string, version int32, deleted bool) (*catalog.Schema, error) {
	subject = catalog.Normal(subject)
	if err := r.allow(ctx, ReadSubject, subject); err != nil {
		return nil, err
	}
	c := r.catalog()
	if s := get(c, subject, version, deleted); s != nil {
		return s, nil
	}
	for name := range r.elsewhere(ctx, c, subject) {
		if s := get(c, name, version, deleted); s != nil {
			return s, nil
		}
	}
	return nil, notFound(c, subject, deleted, &Refusal{Kind: ErrVersionNotFound, Subject: subject, Version: version})
}

func get(c *catalog.Catalog, subject string, version int32, deleted bool) *catalog.Schema {
	if version == latestVersion {
		return c.Latest(subject)
	}
	s := c.Version(subject, version)
	if s == nil || s.Deleted && !deleted {
		return nil
	}
	return s
}

// Versions are the versions of a subject that a filter takes, in rising order.
func (r *Registry) Versions(ctx context.Context, subject string, f catalog.Filter) ([]*catalog.Schema, error) {
	subject = catalog.Normal(subject)
	if err := r.allow(ctx, ReadSubject, subject); err != nil {
		return nil, err
	}
	c := r.catalog()
	if !c.Has(subject, f != catalog.Live) {
		return nil, &Refusal{Kind: ErrSubjectNotFound, Subject: subject}
	}
	return slices.DeleteFunc(slices.Clone(c.Versions(subject)), func(s *catalog.Schema) bool { return !f.Takes(s.Deleted) }), nil
}

// ByID is a schema with an id. The subject, which may be empty, says in which context the id is meant.
func (r *Registry) ByID(ctx context.Context, id int32, subject string) (*catalog.Schema, error) {
	s := r.catalog().ByID(id, catalog.Normal(subject))
	if s == nil {
		return nil, &Refusal{Kind: ErrSchemaNotFound, ID: strconv.Itoa(int(id))}
	}
	return s, r.allowAny(ctx, s)
}

// allowAny lets those read a schema by its id who may read any of the subjects that hold it.
func (r *Registry) allowAny(ctx context.Context, s *catalog.Schema) error {
	err := r.allow(ctx, ReadSubject, s.Subject)
	if err == nil {
		return nil
	}
	for _, use := range r.catalog().UsesOf(s.Name().Context, s.ID) {
		if r.visible(ctx, use.Subject) {
			return nil
		}
	}
	return err
}

// MaxID is the highest id that was given in the context of a schema.
func (r *Registry) MaxID(s *catalog.Schema) int32 { return r.catalog().MaxID(s.Name().Context) }

// UsesOf are the versions that have an id, in the order of subjects. The subject says in which context it is meant.
func (r *Registry) UsesOf(ctx context.Context, id int32, subject string, deleted bool) ([]*catalog.Schema, error) {
	c := r.catalog()
	s := c.ByID(id, catalog.Normal(subject))
	if s == nil {
		return nil, &Refusal{Kind: ErrSchemaNotFound}
	}
	return slices.DeleteFunc(c.UsesOf(s.Name().Context, id), func(use *catalog.Schema) bool {
		return use.Deleted && !deleted || !r.visible(ctx, use.Subject)
	}), nil
}

// ByGUID is the schema with a GUID, of the default context if that has it.
func (r *Registry) ByGUID(ctx context.Context, guid string) (*catalog.Schema, error) {
	for _, s := range r.sameEverywhere(guid) {
		return s, r.allowAny(ctx, s)
	}
	return nil, &Refusal{Kind: ErrSchemaNotFound, ID: guid}
}

// IDsOf are schemas with a GUID, one for each context that has it.
func (r *Registry) IDsOf(ctx context.Context, guid string) []*catalog.Schema {
	return slices.DeleteFunc(r.sameEverywhere(guid), func(s *catalog.Schema) bool { return r.allowAny(ctx, s) != nil })
}

func (r *Registry) sameEverywhere(guid string) []*catalog.Schema {
	g, ok := catalog.ParseGUID(guid)
	if !ok {
		return nil
	}
	c := r.catalog()
	var out []*catalog.Schema
	for _, context := range c.Contexts() {
		if s := catalog.Preferred(c.Same(context, g)); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// Referrers are the versions that refer to a version, each id once, in the order of contexts and ids.
func (r *Registry) Referrers(ctx context.Context, subject string, version int32, deleted bool) ([]*catalog.Schema, error) {
	s, err := r.Version(ctx, subject, version, true)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(referrers(r.catalog(), s, deleted), func(by *catalog.Schema) bool { return !r.visible(ctx, by.Subject) })
	slices.SortStableFunc(out, func(a, b *catalog.Schema) int {
		if c := strings.Compare(a.Name().Context, b.Name().Context); c != 0 {
			return c
		}
		return int(a.ID) - int(b.ID)
	})
	return slices.CompactFunc(out, func(a, b *catalog.Schema) bool { return a.ID == b.ID && a.Name().Context == b.Name().Context }), nil
}

// WithMetadata is the latest version of a subject whose metadata has all of these properties.
func (r *Registry) WithMetadata(ctx context.Context, subject string, properties map[string]string, deleted bool) (*catalog.Schema, error) {
	subject = catalog.Normal(subject)
	if err := r.allow(ctx, ReadSubject, subject); err != nil {
		return nil, err
	}
	c := r.catalog()
	for _, s := range slices.Backward(c.Versions(subject)) {
		if (deleted || !s.Deleted) && s.Metadata.Has(properties) {
			return s, nil
		}
	}
	return nil, notFound(c, subject, deleted, &Refusal{Kind: ErrSchemaNotFound})
}

// Formatted is the text of a schema in a form; see package format. An empty form is the text as it is.
func (r *Registry) Formatted(ctx context.Context, s *catalog.Schema, form string) (string, error) {
	if strings.TrimSpace(form) == "" {
		return s.Text, nil
	}
	p, err := r.parse(ctx, r.catalog(), s, false)
	if err != nil {
		return "", err
	}
	text, err := p.meaning.Formatted(form)
	if err != nil {
		return "", refused(ctx, s.Type, err)
	}
	return text, nil
}

// Tags are the tags inside a schema that carry one of the wanted ones; "*" wants all.
func (r *Registry) Tags(ctx context.Context, s *catalog.Schema, wanted []string) ([]format.TaggedEntity, error) {
	p, err := r.parse(ctx, r.catalog(), s, false)
	if err != nil {
		return nil, err
	}
	all := slices.Contains(wanted, "*")
	return slices.DeleteFunc(slices.Clone(p.meaning.Tags()), func(e format.TaggedEntity) bool {
		return !all && !slices.ContainsFunc(e.Tags, func(t string) bool { return slices.Contains(wanted, t) })
	}), nil
}
