package registry

import (
	"context"
	"slices"

	"moldau/registry/catalog"
)

// DeleteVersion deletes a version of a subject: softly, so that only readers of its id find it, or for good, which needs
// the former before. It returns the version, which -1, the latest, leaves open.
func (r *Registry) DeleteVersion(ctx context.Context, subject string, version int32, permanent bool) (int32, error) {
	subject = catalog.Normal(subject)
	if err := r.allow(ctx, DeleteSubject, subject); err != nil {
		return 0, err
	}
	var out int32
	err := r.commit(ctx, func(c *catalog.Catalog) (changes []catalog.Change, err error) {
		out, changes, err = decideDeleteVersion(c, subject, version, permanent)
		return changes, err
	})
	return out, err
}

func decideDeleteVersion(c *catalog.Catalog, subject string, version int32, permanent bool) (int32, []catalog.Change, error) {
	s := c.Version(subject, version)
	if version == latestVersion {
		s = c.Latest(subject)
	}
	if s == nil {
		return 0, nil, notFound(c, subject, true, &Refusal{Kind: ErrVersionNotFound, Subject: subject, Version: version})
	}
	if s.Deleted && !permanent {
		return 0, nil, &Refusal{Kind: ErrVersionDeleted, Subject: subject, Version: s.Version}
	}
	if err := checkWritable(c, subject); err != nil {
		return 0, nil, err
	}
	if len(referrers(c, s, permanent)) > 0 {
		return 0, nil, refuse(ErrReferenced, s.Key().String())
	}
	if !permanent {
		gone := *s
		gone.Deleted = true
		return s.Version, []catalog.Change{catalog.PutSchema(&gone)}, nil
	}
	if !s.Deleted {
		return 0, nil, &Refusal{Kind: ErrVersionNotDeleted, Subject: subject, Version: s.Version}
	}
	changes := c.DropVersions([]*catalog.Schema{s})
	if len(c.Versions(subject)) == 1 {
		changes = append(changes, dropSettings(c, subject)...)
	}
	return s.Version, changes, nil
}

// checkWritable refuses changes of what is in read-only mode.
func checkWritable(c *catalog.Catalog, scope string) error {
	if catalog.IsReadOnly(c.Mode(scope)) {
		return refuse(ErrNotPermitted, "Subject %s in context %s is in read-only mode", orNull(scope), catalog.ParseName(scope).Prefix())
	}
	return nil
}

// orNull names the default context as clients know it.
func orNull(scope string) string {
	if scope == "" {
		return "null"
	}
	return scope
}

// referrers are the versions that refer to one; with deleted those too that are themselves deleted.
func referrers(c *catalog.Catalog, s *catalog.Schema, deleted bool) []*catalog.Schema {
	return slices.DeleteFunc(c.Referrers(s.Subject, s.Version), func(by *catalog.Schema) bool { return by.Deleted && !deleted })
}

func dropSettings(c *catalog.Catalog, subject string) []catalog.Change {
	var out []catalog.Change
	if c.OwnMode(subject) != "" {
		out = append(out, c.Drop(catalog.ModeKey(subject))...)
	}
	if c.OwnConfig(subject) != nil {
		out = append(out, c.Drop(catalog.ConfigKey(subject))...)
	}
	return out
}

// DeleteSubject deletes all versions of a subject, softly or for good. It returns them.
func (r *Registry) DeleteSubject(ctx context.Context, subject string, permanent bool) ([]int32, error) {
	subject = catalog.Normal(subject)
	if err := r.allow(ctx, DeleteSubject, subject); err != nil {
		return nil, err
	}
	var out []int32
	err := r.commit(ctx, func(c *catalog.Catalog) (changes []catalog.Change, err error) {
		out, changes, err = decideDeleteSubject(c, subject, permanent)
		return changes, err
	})
	return out, err
}

func decideDeleteSubject(c *catalog.Catalog, subject string, permanent bool) ([]int32, []catalog.Change, error) {
	versions := slices.Clone(c.Versions(subject))
	if len(versions) == 0 {
		return nil, nil, &Refusal{Kind: ErrSubjectNotFound, Subject: subject}
	}
	live := slices.DeleteFunc(slices.Clone(versions), func(s *catalog.Schema) bool { return s.Deleted })
	if !permanent {
		if versions = live; len(live) == 0 {
			return nil, nil, &Refusal{Kind: ErrSubjectDeleted, Subject: subject}
		}
	}
	if err := checkWritable(c, subject); err != nil {
		return nil, nil, err
	}
	out := make([]int32, len(versions))
	for i, s := range versions {
		if slices.ContainsFunc(referrers(c, s, permanent), func(by *catalog.Schema) bool { return by.Subject != subject }) {
			return nil, nil, refuse(ErrReferenced, s.Key().String())
		}
		if permanent && !s.Deleted {
			return nil, nil, &Refusal{Kind: ErrSubjectNotDeleted, Subject: subject}
		}
		out[i] = s.Version
	}
	if !permanent {
		return out, []catalog.Change{catalog.DeleteSubject(subject, out[len(out)-1])}, nil
	}
	slices.Reverse(versions) // what refers to another one of the subject goes first
	return out, append(c.DropVersions(versions), dropSettings(c, subject)...), nil
}

// DeleteContext forgets an empty context.
func (r *Registry) DeleteContext(ctx context.Context, context string) error {
	scope := catalog.Normal(context)
	if err := r.allow(ctx, DeleteSubject, scope); err != nil {
		return err
	}
	return r.commit(ctx, func(c *catalog.Catalog) ([]catalog.Change, error) {
		if c.Has(scope, true) {
			return nil, &Refusal{Kind: ErrContextNotEmpty, Subject: scope}
		}
		name := catalog.ParseName(scope).Context
		if !c.Declared(name) {
			return nil, nil
		}
		return c.Drop(catalog.ContextKey(name)), nil
	})
}
