package registry

import (
	"context"
	"slices"
	"strings"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// latestVersion stands for the latest version that is not deleted.
const latestVersion = -1

// parsed is a schema with its meaning.
type parsed struct {
	*catalog.Schema
	meaning format.Schema
}

// resolution collects the texts that a schema refers to.
type resolution struct {
	catalog *catalog.Catalog
	asNew   bool // deleted versions are not there
	limit   int
	seen    map[string]bool
	texts   []format.Resolved
}

// resolve returns the texts that references lead to, each after those it refers to itself, and the references with
// their versions: "latest" becomes the one of now. A name that is used for several texts stands for the first.
func (r *Registry) resolve(c *catalog.Catalog, s *catalog.Schema, asNew bool) ([]format.Resolved, []catalog.Reference, error) {
	if len(s.References) == 0 {
		return nil, nil, nil
	}
	if len(s.References) > r.cfg.MaxReferences {
		return nil, nil, refuse(ErrTooLarge, "the schema has %d references, %d are allowed", len(s.References), r.cfg.MaxReferences)
	}
	x := &resolution{catalog: c, asNew: asNew, limit: r.cfg.Limits().References, seen: map[string]bool{}}
	refs := slices.Clone(s.References)
	if err := x.follow(s, refs); err != nil {
		return nil, nil, err
	}
	return x.texts, refs, nil
}

func (x *resolution) follow(from *catalog.Schema, refs []catalog.Reference) error {
	invalid := func(text string, args ...any) error {
		return refuse(ErrInvalidSchema, "Invalid schema of type "+from.Type+", details: "+text, args...)
	}
	for i := range refs {
		ref := &refs[i]
		if ref.Name == "" || ref.Subject == "" || ref.Version == 0 {
			return invalid("Invalid reference: {name='%s', subject='%s', version=%d}", ref.Name, ref.Subject, ref.Version)
		}
		subject := catalog.ParseName(ref.Subject).In(from.Name()).String()
		to := x.version(subject, ref.Version)
		if to == nil {
			return invalid("No schema reference found for subject \"%s\" and version %d", subject, ref.Version)
		}
		ref.Version = to.Version
		if x.seen[ref.Name] {
			continue
		}
		if len(x.seen) >= x.limit {
			return refuse(ErrTooLarge, "the schema refers to more than %d others, directly or through others", x.limit)
		}
		x.seen[ref.Name] = true
		if err := x.follow(to, slices.Clone(to.References)); err != nil {
			return err
		}
		x.texts = append(x.texts, format.Resolved{Name: ref.Name, Text: to.Text})
	}
	return nil
}

func (x *resolution) version(subject string, version int32) *catalog.Schema {
	if version == latestVersion {
		return x.catalog.Latest(subject)
	}
	s := x.catalog.Version(subject, version)
	if s == nil || s.Deleted && x.asNew {
		return nil
	}
	return s
}

// parse gives a schema its meaning. The result has its references with their versions.
func (r *Registry) parse(ctx context.Context, c *catalog.Catalog, s *catalog.Schema, asNew bool) (*parsed, error) {
	texts, refs, err := r.resolve(c, s, asNew)
	if err != nil {
		return nil, err
	}
	meaning, err := r.parser.parse(ctx, s.Type, format.Source{Text: s.Text, References: texts, New: asNew})
	if err != nil {
		return nil, err
	}
	out := *s
	out.References = refs
	return &parsed{&out, meaning}, nil
}

// canonical parses a schema that a client sent and brings it in the form in which it is stored. It returns nil when
// there is no text.
func (r *Registry) canonical(ctx context.Context, c *catalog.Catalog, s *catalog.Schema, asNew, normalize bool) (*parsed, error) {
	if strings.TrimSpace(s.Text) == "" {
		return nil, nil
	}
	p, err := r.parse(ctx, c, s, asNew)
	if err != nil {
		return nil, err
	}
	mode := c.Mode(s.Subject)
	if mode != catalog.Import && p.ID >= 0 {
		p.ID = noID
	}
	if !catalog.IsImport(mode) {
		if p.RuleSet.Empty() {
			p.RuleSet = nil // its GUID would be that of the schema with empty metadata
		}
		strict := orDefault(r.config(c, s.Subject).ValidateFields, r.cfg.ValidateFields)
		if err := p.meaning.Validate(strict); err != nil {
			return nil, refused(ctx, s.Type, err)
		}
		if normalize {
			text, err := p.meaning.Normalized()
			if err != nil {
				return nil, refused(ctx, s.Type, err)
			}
			again := *p.Schema
			again.Text = text
			if p, err = r.parse(ctx, c, &again, asNew); err != nil {
				return nil, err
			}
		}
	}
	p.Text = p.meaning.Canonical()
	return p, nil
}

// config is the config that holds for a subject.
func (r *Registry) config(c *catalog.Catalog, subject string) *catalog.Config {
	return c.Config(subject, r.fallback)
}

func orDefault(flag *bool, otherwise bool) bool {
	if flag == nil {
		return otherwise
	}
	return *flag
}

// finds tells whether a schema that a client sent is the same as a registered one: it means the same, and its metadata
// differ at most in that one of them holds the version. Without references it is also found when the registered one has
// some and the text has them written out.
func (p *parsed) finds(other *parsed) bool {
	if p.Type != other.Type {
		return false
	}
	writtenOut := len(p.References) == 0 && len(other.References) > 0
	if !writtenOut && !slices.Equal(p.References, other.References) {
		return false
	}
	mine, theirs := p.Metadata, other.Metadata
	version, ok := mine.VersionNumber()
	_, theirsOK := theirs.VersionNumber()
	switch {
	case !ok && theirsOK:
		mine, theirs = orEmpty(mine), theirs.WithoutVersion()
	case ok && !theirsOK:
		if version != other.Version {
			return false
		}
		mine, theirs = mine.WithoutVersion(), orEmpty(theirs)
	}
	return mine.Equal(theirs) && p.RuleSet.Equal(other.RuleSet) && p.meaning.Equivalent(other.meaning)
}

func orEmpty(m *catalog.Metadata) *catalog.Metadata {
	if m == nil {
		return new(catalog.Metadata)
	}
	return m
}
