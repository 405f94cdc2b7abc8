package bufpush

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moldau/registry"
	"moldau/registry/catalog"
	"moldau/registry/format"
)

// subjectsOwner has a module for each Protobuf subject of the default context whose name can name a module.
const subjectsOwner = "subjects"

// generated makes modules from the subjects of a catalog. Each version is a commit: its file, and those it refers to. It
// is safe for concurrent use.
type generated struct {
	registry *registry.Registry
	catalog  *catalog.Catalog
	owner    *owner

	index func() *subjectIndex // of all of them, made when an id is looked up
}

// subjectIndex finds modules and versions by id.
type subjectIndex struct {
	modules map[string]string          // the subject
	commits map[string]*catalog.Schema // the version
}

// generatedNow is what the newest catalog gives.
func (h *Handler) generatedNow() *generated {
	now := h.registry.Catalog()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.generated == nil || h.generated.catalog != now {
		h.generated = newGenerated(h.registry, now)
	}
	return h.generated
}

func newGenerated(r *registry.Registry, c *catalog.Catalog) *generated {
	g := &generated{
		registry: r, catalog: c,
		owner: &owner{ID: fixedID("owner", subjectsOwner), Name: subjectsOwner, Description: "The Protobuf subjects of the schema registry."},
	}
	g.index = sync.OnceValue(g.makeIndex)
	return g
}

func (g *generated) makeIndex() *subjectIndex {
	x := &subjectIndex{map[string]string{}, map[string]*catalog.Schema{}}
	for subject, versions := range g.catalog.Find("") {
		if !shown(subject) {
			continue
		}
		id := subjectModuleID(subject)
		for _, s := range versions {
			if s.Type == format.Protobuf && !s.Deleted {
				x.modules[id] = subject
				x.commits[versionID(s)] = s
			}
		}
	}
	return x
}

// shown tells whether a subject's name can stand in the address of a module.
func shown(subject string) bool {
	return subject != "" && len(subject) <= maxModule && !strings.HasPrefix(subject, ":") &&
		strings.Trim(subject, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

func subjectModuleID(subject string) string { return fixedID("subject", subject) }

func versionID(s *catalog.Schema) string {
	return fixedID("version", s.Subject, strconv.Itoa(int(s.Version)), s.GUID.String())
}

// module is the one of a subject; ok is false when there is none.
func (g *generated) module(subject string) (*module, bool) {
	if !shown(subject) {
		return nil, false
	}
	versions := g.live(subject)
	if len(versions) == 0 {
		return nil, false
	}
	return &module{
		ID: subjectModuleID(subject), OwnerID: g.owner.ID, Owner: subjectsOwner, Name: subject, subject: subject,
		Description: "Made from the subject " + subject + ".", DefaultLabel: mainLabel, Commits: len(versions),
		Created: versions[0].Timestamp, Updated: versions[len(versions)-1].Timestamp,
	}, true
}

func (g *generated) live(subject string) []*catalog.Schema {
	return slices.DeleteFunc(slices.Clone(g.catalog.Versions(subject)), func(s *catalog.Schema) bool {
		return s.Deleted || s.Type != format.Protobuf
	})
}

func (g *generated) moduleByID(id string) (*module, bool) {
	subject, ok := g.index().modules[id]
	if !ok {
		return nil, false
	}
	return g.module(subject)
}

// modules are all of them.
func (g *generated) modules() []*module {
	var out []*module
	for _, subject := range g.index().modules {
		if m, ok := g.module(subject); ok {
			out = append(out, m)
		}
	}
	return out
}

func (g *generated) commit(id string) (*commit, bool) {
	s, ok := g.index().commits[id]
	if !ok {
		return nil, false
	}
	m, ok := g.module(s.Subject)
	if !ok {
		return nil, false
	}
	return g.make(m, s), true
}

func (g *generated) latest(m *module) *commit {
	versions := g.live(m.subject) // there is one, else there were no module
	return g.make(m, versions[len(versions)-1])
}

// version is the one that a label names: v1, v2 and so on.
func (g *generated) version(m *module, label string) (*commit, bool) {
	for _, s := range g.live(m.subject) {
		if label == fmt.Sprintf("v%d", s.Version) {
			return g.make(m, s), true
		}
	}
	return nil, false
}

// entries are the commits of a module, the newest last.
func (g *generated) entries(m *module) []entry {
	var out []entry
	for _, s := range g.live(m.subject) {
		out = append(out, entry{versionID(s), func() (*commit, error) { return g.make(m, s), nil }})
	}
	return out
}

// make makes the commit of a version.
func (g *generated) make(m *module, s *catalog.Schema) *commit {
	files := map[string]string{g.path(s): s.Text}
	g.collect(s, files)
	sources := make([]source, 0, len(files))
	for p, text := range files {
		sources = append(sources, source{p, []byte(text)})
	}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	c := fixedCommit(m, int(s.Version), sources)
	c.ID, c.Created = versionID(s), s.Timestamp
	return c
}

// collect adds the files that a schema refers to, directly or not, by the paths by which they are imported.
func (g *generated) collect(s *catalog.Schema, files map[string]string) {
	for _, ref := range s.References {
		if _, known := files[ref.Name]; known || !isProto(ref.Name) || !validPath(ref.Name) {
			continue
		}
		to := g.catalog.Version(catalog.ParseName(ref.Subject).In(s.Name()).String(), ref.Version)
		if to == nil {
			continue
		}
		files[ref.Name] = to.Text
		g.collect(to, files)
	}
}

// path is where the file of a schema was, as far as that is known: the name of a subject that holds the same schema by its
// import path, else one made of its package and subject.
func (g *generated) path(s *catalog.Schema) string {
	for _, use := range g.catalog.Same(s.Name().Context, s.GUID) {
		if isProto(use.Subject) && validPath(use.Subject) {
			return use.Subject
		}
	}
	dir := strings.ReplaceAll(packageOf(s.Text), ".", "/")
	name := strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(s.Subject)) + ".proto"
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// packageOf is the package that a text, as the registry prints it, declares.
func packageOf(text string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "package "); ok {
			return strings.TrimSpace(strings.TrimSuffix(rest, ";"))
		}
	}
	return ""
}
