package registry

import (
	"context"
	"errors"
	"slices"

	"moldau/registry/catalog"
)

// lookup says how a schema is looked for.
type lookup struct {
	normalize  bool
	deleted    bool // deleted versions count
	latestOnly bool // only the latest version counts
}

// find looks for a schema under its subject: by what it is, then by what it means.
func (r *Registry) find(ctx context.Context, c *catalog.Catalog, s *catalog.Schema, how lookup) (*catalog.Schema, error) {
	if len(c.Versions(s.Subject)) == 0 {
		// An invalid schema is told all the same.
		_, err := r.canonical(ctx, c, s, false, how.normalize)
		return nil, err
	}
	p, err := r.canonical(ctx, c, s, false, how.normalize)
	if p == nil || err != nil {
		return nil, err
	}
	if !how.latestOnly {
		if same := c.Same(p.Name().Context, p.Sum()); len(same) > 0 {
			if s := underSubject(same, s.Subject, how.deleted); s != nil {
				return s, nil
			}
		}
	}
	candidates := c.Versions(s.Subject)
	if how.latestOnly {
		candidates = nil
		if latest := c.Latest(s.Subject); latest != nil {
			candidates = []*catalog.Schema{latest}
		}
	}
	for _, old := range slices.Backward(candidates) {
		if old.Deleted && !how.deleted || old.Type != p.Type {
			continue
		}
		o, err := r.parse(ctx, c, old, false)
		if err != nil {
			return nil, err
		}
		if p.finds(o) {
			return old, nil
		}
	}
	return nil, nil
}

func underSubject(versions []*catalog.Schema, subject string, deleted bool) *catalog.Schema {
	if s := liveUnder(versions, subject); s != nil || !deleted {
		return s
	}
	for _, s := range slices.Backward(versions) {
		if s.Subject == subject {
			return s
		}
	}
	return nil
}

// findInherited looks for a schema as it is, and then as registering it would make it: with the metadata and rules of
// the config and the latest version.
func (r *Registry) findInherited(ctx context.Context, c *catalog.Catalog, s *catalog.Schema, how lookup) (*catalog.Schema, error) {
	found, err := r.find(ctx, c, s, how)
	if found != nil || err != nil {
		return found, err
	}
	latest := c.Latest(s.Subject)
	if latest == nil {
		return nil, nil
	}
	next := *s
	inheritMetadata(r.config(c, s.Subject), &next, latest, 0)
	if next.Metadata.Equal(s.Metadata) && next.RuleSet.Equal(s.RuleSet) {
		return nil, nil
	}
	return r.find(ctx, c, &next, how)
}

// Lookup finds a schema under a subject. A subject that names no context is looked for in the default one, then in all
// others.
func (r *Registry) Lookup(ctx context.Context, q Registration, deleted bool) (*catalog.Schema, error) {
	q.Subject = catalog.Normal(q.Subject)
	if err := r.allow(ctx, ReadSubject, q.Subject); err != nil {
		return nil, err
	}
	c := r.catalog()
	how := lookup{normalize: q.Normalize || catalog.True(r.config(c, q.Subject).Normalize), deleted: deleted}
	s, err := r.findInherited(ctx, c, q.content(), how)
	if s != nil || err != nil {
		return s, err
	}
	for name := range r.elsewhere(ctx, c, q.Subject) {
		there := q.content()
		there.Subject = name
		s, err := r.findInherited(ctx, c, there, how)
		if err != nil && !errors.Is(err, ErrInvalidSchema) {
			return nil, err
		}
		if s != nil {
			return s, nil
		}
	}
	return nil, notFound(c, q.Subject, deleted, &Refusal{Kind: ErrSchemaNotFound})
}

// elsewhere walks over the names of a subject of the default context in all other contexts.
func (r *Registry) elsewhere(ctx context.Context, c *catalog.Catalog, subject string) func(func(string) bool) {
	return func(yield func(string) bool) {
		n := catalog.ParseName(subject)
		if n.Context != catalog.DefaultContext {
			return
		}
		for _, context := range c.Contexts()[1:] {
			name := catalog.Name{Context: context, Subject: n.Subject}.String()
			if r.visible(ctx, name) && !yield(name) {
				return
			}
		}
	}
}

// notFound tells that a subject does not exist, or else what else does not.
func notFound(c *catalog.Catalog, subject string, deleted bool, otherwise *Refusal) error {
	if !c.Has(subject, deleted) {
		return &Refusal{Kind: ErrSubjectNotFound, Subject: subject}
	}
	return otherwise
}
