package catalog

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Catalog is all that the registry knows as of some offset of its topic. The zero value knows nothing. It never changes.
type Catalog struct {
	subjects ordered[string, *subject]  // by qualified name
	contexts ordered[string, *context]  // by name, those that have or had schemas
	declared ordered[string, struct{}]  // contexts with a record of their own
	configs  ordered[string, *Config]   // by qualified name; "" is the default context
	modes    ordered[string, string]    // likewise
	referred ordered[string, schemaSet] // by the index of the version referred to, those that refer to it
	variants ordered[string, []string]  // by the key as written here, the other forms of it in the topic

	offset     int64
	generation int64
	commit     int64
}

// subject holds the versions of a subject in rising order. There is at least one.
type subject struct{ versions []*Schema }

// context holds what ids mean in a context.
type context struct {
	byID   ordered[int32, schemaSet]
	byGUID ordered[string, schemaSet]
	maxID  int32
}

// schemaSet is a set of versions in the order of their indexes.
type schemaSet = ordered[string, *Schema]

// Filter says which versions or subjects a list holds.
type Filter int

// The filters.
const (
	Live Filter = iota
	LiveAndDeleted
	DeletedOnly
)

// Takes says whether the list holds something that is deleted, or not.
func (f Filter) Takes(deleted bool) bool { return f == LiveAndDeleted || deleted == (f == DeletedOnly) }

// Offset is the offset behind the last record that was applied.
func (c *Catalog) Offset() int64 { return c.offset }

// Generation is the highest generation of a writer that was seen.
func (c *Catalog) Generation() int64 { return c.generation }

// Commit is the number of the last commit of that generation.
func (c *Catalog) Commit() int64 { return c.commit }

// Size is the number of subjects, those with only deleted versions included.
func (c *Catalog) Size() int { return c.subjects.size() }

// Version is a version of a subject, deleted or not, and nil when there is none.
func (c *Catalog) Version(subject string, version int32) *Schema {
	s, ok := c.subjects.get(subject)
	if !ok {
		return nil
	}
	i, found := slices.BinarySearchFunc(s.versions, version, func(v *Schema, n int32) int { return cmp.Compare(v.Version, n) })
	if !found {
		return nil
	}
	return s.versions[i]
}

// Versions are the versions of a subject in rising order. Callers don't change the slice.
func (c *Catalog) Versions(subject string) []*Schema {
	s, ok := c.subjects.get(subject)
	if !ok {
		return nil
	}
	return s.versions
}

// Latest is the latest version of a subject that is not deleted, and nil when there is none.
func (c *Catalog) Latest(subject string) *Schema {
	for _, s := range slices.Backward(c.Versions(subject)) {
		if !s.Deleted {
			return s
		}
	}
	return nil
}

// Find walks over the subjects whose names begin with prefix in order, with their versions. A prefix that names a
// context stays inside it, one without stays inside the default context, ":*:" means all.
func (c *Catalog) Find(prefix string) iter.Seq2[string, []*Schema] {
	want := ParseName(prefix)
	return func(yield func(string, []*Schema) bool) {
		low := want.String()
		if want.Context == AnyContext {
			low = ""
		}
		for name, s := range c.subjects.from(low) {
			if want.Context != AnyContext && !strings.HasPrefix(name, low) {
				return // behind all that begin so
			}
			if n := ParseName(name); want.Context != AnyContext && n.Context != want.Context || !strings.HasPrefix(n.Subject, want.Subject) {
				continue
			}
			if !yield(name, s.versions) {
				return
			}
		}
	}
}

// Has says whether there is a version under a scope: a subject, or any of a context when the scope names one. Deleted
// versions count when they are wanted.
func (c *Catalog) Has(scope string, deleted bool) bool {
	for _, versions := range c.inScope(scope) {
		if deleted || slices.ContainsFunc(versions, func(s *Schema) bool { return !s.Deleted }) {
			return true
		}
	}
	return false
}

// InScope are the versions under a scope.
func (c *Catalog) InScope(scope string) []*Schema {
	var out []*Schema
	for _, versions := range c.inScope(scope) {
		out = append(out, versions...)
	}
	return out
}

func (c *Catalog) inScope(scope string) iter.Seq2[string, []*Schema] {
	n := ParseName(scope)
	switch {
	case n.IsGlobal():
		return c.Find(anyPrefix)
	case n.IsContext():
		return c.Find(scope)
	}
	return func(yield func(string, []*Schema) bool) {
		if s, ok := c.subjects.get(scope); ok {
			yield(scope, s.versions)
		}
	}
}

// Contexts are the names of the contexts, the default one first.
func (c *Catalog) Contexts() []string {
	out := []string{DefaultContext}
	for name := range c.declared.all() {
		out = append(out, name)
	}
	return out
}

// Declared says whether a context has a record.
func (c *Catalog) Declared(context string) bool {
	_, ok := c.declared.get(context)
	return ok
}

// UsesOf are the versions with an id in a context, in the order of subjects.
func (c *Catalog) UsesOf(context string, id int32) []*Schema {
	ctx, ok := c.contexts.get(context)
	if !ok {
		return nil
	}
	set, _ := ctx.byID.get(id)
	return members(set)
}

// Same are the versions in a context whose content has this sum.
func (c *Catalog) Same(context string, g GUID) []*Schema {
	ctx, ok := c.contexts.get(context)
	if !ok {
		return nil
	}
	set, _ := ctx.byGUID.get(string(g[:]))
	return members(set)
}

// Referrers are the versions that refer to one, in the order of subjects.
func (c *Catalog) Referrers(subject string, version int32) []*Schema {
	set, _ := c.referred.get(versionIndex(subject, version))
	return members(set)
}

func members(set schemaSet) []*Schema {
	out := make([]*Schema, 0, set.size())
	for _, s := range set.all() {
		out = append(out, s)
	}
	return out
}

// MaxID is the highest id that was ever given in a context, and 0 when there is none.
func (c *Catalog) MaxID(context string) int32 {
	ctx, ok := c.contexts.get(context)
	if !ok {
		return 0
	}
	return ctx.maxID
}

// ByID finds a version with an id: under a subject if it names one, else anywhere in the context that it names or in the
// default one. A subject that names no context is looked for in all of them, and if no version of it has the id, any
// version of the default context will do.
func (c *Catalog) ByID(id int32, subject string) *Schema {
	n := ParseName(subject)
	if s := c.byID(id, n); s != nil || n.Subject == "" || n.Context != DefaultContext {
		return s
	}
	for context := range c.declared.all() {
		if s := c.byID(id, Name{context, n.Subject}); s != nil {
			return s
		}
	}
	return c.byID(id, Name{Context: DefaultContext})
}

func (c *Catalog) byID(id int32, n Name) *Schema {
	uses := c.UsesOf(n.Context, id)
	if n.Subject != "" {
		uses = slices.DeleteFunc(uses, func(s *Schema) bool { return s.Subject != n.String() })
	}
	return Preferred(uses)
}

// Preferred is the one of several versions with the same content that stands for them: one that is not deleted if there
// is any, the first of the order. It is nil when there are none.
func Preferred(uses []*Schema) *Schema {
	for _, s := range uses {
		if !s.Deleted {
			return s
		}
	}
	if len(uses) == 0 {
		return nil
	}
	return uses[0]
}

// OwnConfig is the config of a subject or context itself, and nil when it has none.
func (c *Catalog) OwnConfig(scope string) *Config {
	cfg, _ := c.configs.get(scope)
	return cfg
}

// Config is the config that holds for a subject or context: its own with what that leaves open taken from the default
// context's, else its context's, else the global context's. fallback holds where nothing is set, and gives the level
// where only that is not.
func (c *Catalog) Config(scope string, fallback *Config) *Config {
	if own := c.OwnConfig(scope); own != nil && scope != "" {
		global := c.OwnConfig("")
		if global == nil {
			global = fallback
		}
		return own.merge(global).orLevel(fallback)
	}
	for _, s := range scopes(scope) {
		if cfg := c.OwnConfig(s); cfg != nil {
			return cfg.orLevel(fallback)
		}
	}
	return fallback
}

func (c *Config) orLevel(fallback *Config) *Config {
	if c.CompatibilityLevel != "" {
		return c
	}
	out := *c
	out.CompatibilityLevel = fallback.CompatibilityLevel
	return &out
}

// OwnMode is the mode of a subject or context itself, and empty when it has none.
func (c *Catalog) OwnMode(scope string) string {
	mode, _ := c.modes.get(scope)
	return mode
}

// Mode is the mode that holds for a subject or context.
func (c *Catalog) Mode(scope string) string {
	for _, s := range scopes(scope) {
		if mode := c.OwnMode(s); mode != "" {
			return mode
		}
	}
	return ReadWrite
}

// scopes are the places where a setting for a scope is looked for.
func scopes(scope string) [3]string {
	return [3]string{scope, ParseName(scope).Prefix(), Name{Context: GlobalContext}.Prefix()}
}

// ScopesWithMode are the subjects of a context that have a mode of their own.
func (c *Catalog) ScopesWithMode(context string) []string {
	var out []string
	for scope := range c.modes.all() {
		if n := ParseName(scope); n.Context == context && !n.IsContext() {
			out = append(out, scope)
		}
	}
	return out
}

// Aliases are the names that stand for other subjects: by the qualified subject, the qualified names.
func (c *Catalog) Aliases(prefix string) map[string][]string {
	out := map[string][]string{}
	want := ParseName(prefix)
	for scope, cfg := range c.configs.all() {
		n := ParseName(scope)
		if cfg.Alias == "" || want.Context != AnyContext && n.Context != want.Context || !strings.HasPrefix(n.Subject, want.Subject) {
			continue
		}
		target := ParseName(cfg.Alias).In(n).String()
		out[target] = append(out[target], scope)
	}
	return out
}

// At is the catalog with its offset moved on, behind records that are not for readers.
func (c *Catalog) At(offset int64) *Catalog {
	if offset <= c.offset {
		return c
	}
	next := *c
	next.offset = offset
	return &next
}
