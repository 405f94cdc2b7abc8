package registry

import (
	"context"
	"slices"
	"strings"

	"moldau/registry/catalog"
)

// Search says which schemas are wanted.
type Search struct {
	Prefix     string // of the subjects' names
	Aliases    bool   // subjects that an alias with the prefix stands for count too
	Deleted    bool
	LatestOnly bool
	RuleType   string // empty for any
	Skip, Take int
}

// Found is a schema with the names that stand for its subject.
type Found struct {
	*catalog.Schema
	Aliases []string
}

// Search finds schemas in the order of subjects and versions.
func (r *Registry) Search(ctx context.Context, q Search) []Found {
	c := r.catalog()
	var aliases map[string][]string
	if q.Aliases {
		aliases = c.Aliases(q.Prefix)
	}
	names := r.searched(ctx, c, q.Prefix, aliases)
	var out []Found
	for _, name := range names {
		for _, s := range q.pick(c.Versions(name)) {
			switch {
			case q.RuleType != "" && !s.RuleSet.HasType(q.RuleType):
			case q.Skip > 0:
				q.Skip--
			case len(out) >= q.Take:
				return out
			default:
				out = append(out, Found{s, aliases[name]})
			}
		}
	}
	return out
}

// searched are the subjects with a prefix, and those that aliases stand for.
func (r *Registry) searched(ctx context.Context, c *catalog.Catalog, prefix string, aliases map[string][]string) []string {
	var names []string
	for name := range c.Find(prefix) {
		names = append(names, name)
	}
	for name := range aliases {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !r.visible(ctx, name) })
}

// pick are the versions of one subject that a search takes.
func (q *Search) pick(versions []*catalog.Schema) []*catalog.Schema {
	out := slices.DeleteFunc(slices.Clone(versions), func(s *catalog.Schema) bool { return s.Deleted && !q.Deleted })
	if n := len(out); q.LatestOnly && n > 1 {
		return out[n-1:]
	}
	return out
}

// Subjects are the names of the subjects with a prefix that a filter takes, in order. A subject is deleted when all its
// versions are.
func (r *Registry) Subjects(ctx context.Context, prefix string, f catalog.Filter) []string {
	var out []string
	for name, versions := range r.catalog().Find(prefix) {
		deleted := !slices.ContainsFunc(versions, func(s *catalog.Schema) bool { return !s.Deleted })
		if f.Takes(deleted) && r.visible(ctx, name) {
			out = append(out, name)
		}
	}
	return out
}

// Contexts are the names of the contexts with a prefix, the default one first.
func (r *Registry) Contexts(ctx context.Context, prefix string) []string {
	return slices.DeleteFunc(r.catalog().Contexts(), func(name string) bool {
		return !strings.HasPrefix(name, prefix) || !r.visible(ctx, catalog.Name{Context: name}.Prefix())
	})
}
