package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// maxQuoted is how much of an old schema a message quotes.
const maxQuoted = 10 << 10

// Check tells whether a schema may follow the versions of a subject, or one of them: version is nil for as many as the
// level asks for, else that one alone, with -1 for the latest. The messages say what speaks against it; there are none
// when it may.
func (r *Registry) Check(ctx context.Context, q Registration, version *int32) (messages []string, err error) {
	q.Subject = catalog.Normal(q.Subject)
	if err := r.allow(ctx, ReadSubject, q.Subject); err != nil {
		return nil, err
	}
	c := r.catalog()
	earlier, err := r.earlier(c, q.Subject, version)
	if err != nil {
		return nil, err
	}
	cfg := r.config(c, q.Subject)
	asNew := orDefault(cfg.ValidateNewSchemas, r.cfg.ValidateNewSchemas)
	p, err := r.canonical(ctx, c, q.content(), asNew, q.Normalize || catalog.True(cfg.Normalize))
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, refuse(ErrInvalidSchema, "Empty schema")
	}
	messages, err = r.compare(ctx, c, p, earlier)
	if err == nil {
		r.metrics.checked(len(messages) == 0)
	}
	return messages, err
}

func (r *Registry) earlier(c *catalog.Catalog, subject string, version *int32) ([]*catalog.Schema, error) {
	var out []*catalog.Schema
	switch {
	case version == nil:
		for _, s := range c.Versions(subject) {
			if !s.Deleted {
				out = append(out, s)
			}
		}
	case *version == latestVersion:
		if s := c.Latest(subject); s != nil {
			out = append(out, s)
		}
	default:
		s := c.Version(subject, *version)
		if s == nil || s.Deleted {
			return nil, &Refusal{Kind: ErrVersionNotFound, Subject: subject, Version: *version}
		}
		out = append(out, s)
	}
	return out, nil
}

// compare holds a schema against earlier ones, which are in rising order, as the config of its subject says.
func (r *Registry) compare(ctx context.Context, c *catalog.Catalog, p *parsed, earlier []*catalog.Schema) ([]string, error) {
	cfg := r.config(c, p.Subject)
	strict := orDefault(cfg.ValidateFields, r.cfg.ValidateFields)
	var messages []string
	if strict {
		messages = reservedFaults(p, earlier)
	}
	if group := cfg.CompatibilityGroup; group != "" {
		earlier = sameGroup(group, p.Schema, earlier)
	}
	faults, err := r.against(ctx, c, p, earlier, cfg)
	if err != nil {
		return nil, err
	}
	messages = append(messages, faults...)
	if len(messages) > 0 {
		messages = append(messages, fmt.Sprintf("{validateFields: '%t', compatibility: '%s'}", strict, cfg.CompatibilityLevel))
	}
	return messages, nil
}

// sameGroup keeps the schemas whose property of this name has the same value, or is missing in both.
func sameGroup(property string, s *catalog.Schema, earlier []*catalog.Schema) []*catalog.Schema {
	want, wanted := s.Metadata.Property(property)
	return slices.DeleteFunc(slices.Clone(earlier), func(o *catalog.Schema) bool {
		have, ok := o.Metadata.Property(property)
		return ok != wanted || have != want
	})
}

// reservedFaults tells which reserved names are used as fields, and which are no longer reserved.
func reservedFaults(p *parsed, earlier []*catalog.Schema) []string {
	var out []string
	now := reserved(p.Metadata)
	if n := len(earlier); n > 0 {
		for _, name := range reserved(earlier[n-1].Metadata) {
			if !slices.Contains(now, name) {
				out = append(out, "The new schema has reserved field "+name+
					" removed from its metadata which is present in the old schema's metadata.")
			}
		}
	}
	for _, name := range now {
		if p.meaning.HasTopLevelField(name) {
			out = append(out, "The new schema has field that conflicts with the reserved field "+name+".")
		}
	}
	return out
}

func reserved(m *catalog.Metadata) []string {
	text, _ := m.Property(catalog.ReservedProperty)
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// against compares with the latest of the earlier schemas, or with all of them, the latest first, until one is found
// that speaks against it.
func (r *Registry) against(ctx context.Context, c *catalog.Catalog, p *parsed, earlier []*catalog.Schema, cfg *catalog.Config) ([]string, error) {
	level, transitive := strings.CutSuffix(cfg.CompatibilityLevel, "_TRANSITIVE")
	if level == catalog.None {
		return nil, nil
	}
	for _, old := range slices.Backward(earlier) {
		if old.Type != p.Type {
			return []string{"Incompatible because of different schema type"}, nil
		}
		o, err := r.parse(ctx, c, old, false)
		if err != nil {
			return nil, err
		}
		messages, err := r.pair(ctx, p, o, level, cfg.CompatibilityPolicy)
		if err != nil || len(messages) > 0 {
			return messages, err
		}
		if !transitive {
			break
		}
	}
	return nil, nil
}

// pair compares two schemas in the directions of a level.
func (r *Registry) pair(ctx context.Context, p, old *parsed, level, policy string) ([]string, error) {
	o := format.CheckOptions{Policy: format.Strict}
	if policy == catalog.Lenient {
		o.Policy = format.Lenient
	}
	var messages []string
	add := func(reader, writer *parsed, quote bool) error {
		o.Reader, o.Writer = "new", "old"
		if reader == old {
			o.Reader, o.Writer = "old", "new"
		}
		found, err := r.parser.check(ctx, reader.meaning, writer.meaning, o)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, f := range found {
			messages = append(messages, f.String())
		}
		if quote {
			messages = append(messages, quoted(old)...)
		}
		return nil
	}
	if level != catalog.Backward { // data written with the new one is read with the old one
		if err := add(old, p, level == catalog.Forward); err != nil {
			return nil, err
		}
	}
	if level != catalog.Forward {
		if err := add(p, old, true); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

func quoted(old *parsed) []string {
	text := old.meaning.Canonical()
	quote := "{oldSchema: '" + text + "'}"
	if len(text) > maxQuoted {
		quote = "{oldSchema: <truncated> '" + strings.ToValidUTF8(text[:maxQuoted], "") + "...'}"
	}
	return []string{fmt.Sprintf("{oldSchemaVersion: %d}", old.Version), quote}
}
