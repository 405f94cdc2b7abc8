package bufpush

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"moldau/registry"
	"moldau/registry/catalog"
)

// shelf is modules that nobody pushed: those inside the program.
type shelf struct {
	owners  map[string]*owner // by name
	modules map[string]*module
	commits map[string]*commit // by id
	latest  map[string]*commit // by full name of the module
}

// view is all there is at a moment: what was pushed, what is built in, and what is generated from subjects. Its methods ask
// whether the caller may see what they return; what he may not see is not there.
type view struct {
	ctx       context.Context
	registry  *registry.Registry
	ledger    *catalog.Ledger
	built     *shelf
	generated *generated
}

// view is the newest state as the caller may see it.
func (c *call) view() *view { return c.viewOf(c.registry.Ledger()) }

func (c *call) viewOf(l *catalog.Ledger) *view {
	return &view{c.Context(), c.registry, l, c.built, c.generatedNow()}
}

// allow tells whether the caller may read a module.
func (v *view) allow(m *module) bool {
	switch {
	case m.subject != "":
		return v.registry.Allow(v.ctx, registry.ReadSubject, m.subject) == nil
	case m.Private:
		return v.registry.Allow(v.ctx, registry.ReadModule, m.fullName()) == nil
	}
	return v.registry.Allow(v.ctx, registry.ReadPublicModule, m.fullName()) == nil
}

func (v *view) owner(name string) (*owner, error) {
	if o := v.built.owners[name]; o != nil {
		return o, nil
	}
	if name == subjectsOwner {
		return v.generated.owner, nil
	}
	if o, ok := get[owner](v.ledger, ownerKey(name)); ok {
		return o, nil
	}
	return nil, notFound("there is no owner %q", name)
}

func (v *view) ownerByID(id string) (*owner, error) {
	if o, ok := byID[owner](v.ledger, "owner", id); ok {
		return o, nil
	}
	for _, o := range v.built.owners {
		if o.ID == id {
			return o, nil
		}
	}
	if v.generated.owner.ID == id {
		return v.generated.owner, nil
	}
	return nil, notFound("there is no owner with the id %q", id)
}

func (v *view) module(owner, name string) (*module, error) {
	m, ok := v.built.modules[owner+"/"+name]
	if !ok && owner == subjectsOwner {
		m, ok = v.generated.module(name)
	}
	if !ok {
		m, ok = get[module](v.ledger, moduleKey(owner, name))
	}
	if !ok || !v.allow(m) {
		return nil, notFound("there is no module %s/%s", owner, name)
	}
	return m, nil
}

func (v *view) moduleByID(id string) (*module, error) {
	if m, ok := byID[module](v.ledger, "module", id); ok && v.allow(m) {
		return m, nil
	}
	for _, m := range v.built.modules {
		if m.ID == id {
			return m, nil
		}
	}
	if m, ok := v.generated.moduleByID(id); ok && v.allow(m) {
		return m, nil
	}
	return nil, notFound("there is no module with the id %q", id)
}

func (v *view) commitByID(id string) (*commit, error) {
	c, ok := byID[commit](v.ledger, "commit", id)
	if !ok {
		c, ok = v.built.commits[id]
	}
	if !ok {
		c, ok = v.generated.commit(id)
	}
	if ok {
		if _, err := v.moduleByID(c.ModuleID); err == nil {
			return c, nil
		}
	}
	return nil, notFound("there is no commit %q", id)
}

// latestOf is the newest commit of a module that was not pushed.
func (v *view) latestOf(m *module) (*commit, bool) {
	if c := v.built.latest[m.fullName()]; c != nil {
		return c, true
	}
	if m.subject != "" {
		return v.generated.latest(m), true
	}
	return nil, false
}

// label finds a label of a module. Modules that were not pushed have their default one, and those of subjects one for each
// version.
func (v *view) label(m *module, name string) (*label, error) {
	if l, ok := get[label](v.ledger, labelKey(m.ID, name)); ok {
		return l, nil
	}
	if name == m.DefaultLabel {
		if c, ok := v.latestOf(m); ok {
			return fixedLabel(m, name, c), nil
		}
		return nil, notFound("nothing was pushed to %s yet: there is no label %q", m.fullName(), name)
	}
	if m.subject != "" {
		if c, ok := v.generated.version(m, name); ok {
			return fixedLabel(m, name, c), nil
		}
	}
	return nil, notFound("there is no label %q of %s", name, m.fullName())
}

func fixedLabel(m *module, name string, c *commit) *label {
	return &label{
		ID: fixedID("label", m.ID, name), ModuleID: m.ID, OwnerID: m.OwnerID, Name: name, Commit: c.ID, Moves: 1,
		Created: m.Created, Updated: c.Created,
	}
}

func (v *view) labelByID(id string) (*label, error) {
	l, ok := byID[label](v.ledger, "label", id)
	if ok {
		_, err := v.moduleByID(l.ModuleID)
		ok = err == nil
	}
	if !ok {
		return nil, notFound("there is no label with the id %q", id)
	}
	return l, nil
}

// labels are those of a module, by name.
func (v *view) labels(m *module) []*label {
	if c, ok := v.latestOf(m); ok {
		return []*label{fixedLabel(m, m.DefaultLabel, c)}
	}
	return list[label](v.ledger, labelKey(m.ID, ""))
}

// source is a file with its content.
type source struct {
	path    string
	content []byte
}

// sources are the files of a commit with their contents.
func (v *view) sources(c *commit) ([]source, error) {
	out := make([]source, 0, len(c.Files))
	for _, f := range c.Files {
		content := f.content
		if content == nil {
			var err error
			if content, err = v.content(f); err != nil {
				return nil, err
			}
		}
		out = append(out, source{f.Path, content})
	}
	return out, nil
}

func (v *view) content(f file) ([]byte, error) {
	var b bytes.Buffer
	for _, key := range blobsOf(f.Sum, f.Size) {
		piece, ok := v.ledger.Get(key)
		if !ok {
			return nil, fmt.Errorf("the content of %s, %s, is not in the topic of modules", f.Path, key)
		}
		b.Write(piece)
	}
	return b.Bytes(), nil
}

// isProto tells whether a file holds definitions.
func isProto(path string) bool { return strings.HasSuffix(path, ".proto") }
