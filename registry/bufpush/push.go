package bufpush

import (
	"maps"
	"slices"
	"strings"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"

	"moldau/registry"
)

// The sizes of one push.
const (
	maxParcels   = 100
	maxFiles     = 5000
	maxFileBytes = 4 << 20
)

// upload pushes modules, all or none: their files as commits, their labels, and, where the default label is set, the
// subjects of their messages.
func upload(c *call, q *modulev1.UploadRequest) (*modulev1.UploadResponse, error) {
	select {
	case c.pushes <- struct{}{}:
		defer func() { <-c.pushes }()
	case <-c.Context().Done():
		return nil, c.Context().Err()
	}
	b, err := c.bundle(q)
	if err != nil {
		return nil, err
	}
	sorted, err := b.order()
	if err != nil {
		return nil, err
	}
	plans, err := c.plans(b)
	if err != nil {
		return nil, err
	}
	var made map[*parcel]*commit
	err = c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		c.warnings, made = nil, map[*parcel]*commit{}
		before := d.Ledger().Bytes()
		for _, p := range sorted {
			if err := c.store(d, b, p, made); err != nil {
				return err
			}
		}
		if most := c.registry.Config().MaxModulesBytes; d.Ledger().Bytes() > max(int64(most), before) {
			return newFault(resourceExhausted, "all modules together would take more than %d bytes (registry.modules.max.bytes)", most)
		}
		return c.settle(d, sorted, made, plans)
	})
	if err != nil {
		return nil, err
	}
	out := new(modulev1.UploadResponse)
	for _, p := range b.parcels {
		out.Commits = append(out.Commits, made[p].wire())
	}
	return out, nil
}

// bundle reads a push and finds what it needs.
func (c *call) bundle(q *modulev1.UploadRequest) (*bundle, error) {
	if n := len(q.GetContents()); n == 0 || n > maxParcels {
		return nil, invalid("the push has %d modules; it must be 1 to %d", n, maxParcels)
	}
	v := c.view()
	b := &bundle{outside: map[string]*commit{}, files: map[string][]source{}, instead: map[string]*parcel{}}
	seen := map[string]bool{}
	for _, content := range q.GetContents() {
		p, err := c.parcel(v, content)
		if err != nil {
			return nil, err
		}
		if seen[p.module.ID] {
			return nil, invalid("module %s is twice in the push", p.module.fullName())
		}
		seen[p.module.ID] = true
		b.parcels = append(b.parcels, p)
	}
	if err := b.fetch(v, q.GetDepCommitIds()); err != nil {
		return nil, err
	}
	return b, b.connect()
}

// fetch finds the commits outside that a push names, and what those need and the push does not name.
func (b *bundle) fetch(v *view, ids []string) error {
	if len(ids) > maxRefs {
		return invalid("the push depends on %d commits; %d are allowed", len(ids), maxRefs)
	}
	pushed := map[string]*parcel{}
	for _, p := range b.parcels {
		pushed[p.module.ID] = p
	}
	var named []*commit
	seen := map[string]string{} // the commit, by module
	for _, id := range ids {
		c, err := v.commitByID(strings.ReplaceAll(id, "-", ""))
		if err != nil {
			return err
		}
		if ownerOfModule(c) == subjectsOwner {
			return newFault(failedPrecondition, "%s is made from a subject, whose versions can be deleted; push its files as a module to depend on them", c.Module)
		}
		switch other := seen[c.ModuleID]; other {
		case c.ID:
			continue
		case "":
			seen[c.ModuleID] = c.ID
			named = append(named, c)
		default:
			return invalid("the push depends on two commits of %s: %s and %s", c.Module, other, c.ID)
		}
	}
	n, err := v.resolve(named)
	if err != nil {
		return err
	}
	b.needs = n.needs
	for _, c := range n.commits {
		if p := pushed[c.ModuleID]; p != nil {
			b.instead[c.ID] = p
			continue
		}
		if b.files[c.ID], err = v.sources(c); err != nil {
			return err
		}
		b.outside[c.ID] = c
	}
	return nil
}

// parcel reads one module of a push.
func (c *call) parcel(v *view, q *modulev1.UploadRequest_Content) (*parcel, error) {
	m, err := v.moduleOf(q.GetModuleRef())
	if err != nil {
		return nil, err
	}
	if err := c.mayWrite(m); err != nil {
		return nil, err
	}
	p := &parcel{module: m, source: q.GetSourceControlUrl()}
	if len(p.source) > maxURL {
		return nil, invalid("the URL of the source has %d characters; %d are allowed", len(p.source), maxURL)
	}
	if n := len(q.GetFiles()); n == 0 || n > maxFiles {
		return nil, invalid("module %s has %d files; it must be 1 to %d", m.fullName(), n, maxFiles)
	}
	seen := map[string]bool{}
	for _, f := range q.GetFiles() {
		switch {
		case !validPath(f.GetPath()):
			return nil, invalid("module %s: %q can't be the path of a file", m.fullName(), f.GetPath())
		case seen[f.GetPath()]:
			return nil, invalid("module %s: %s is there twice", m.fullName(), f.GetPath())
		case len(f.GetContent()) > maxFileBytes:
			return nil, newFault(resourceExhausted, "%s has %d bytes; %d are allowed", f.GetPath(), len(f.GetContent()), maxFileBytes)
		}
		seen[f.GetPath()] = true
		p.files = append(p.files, source{f.GetPath(), f.GetContent()})
	}
	for _, ref := range q.GetScopedLabelRefs() {
		name := ref.GetName()
		if id := ref.GetId(); id != "" {
			l, err := v.labelByID(id)
			if err != nil {
				return nil, err
			}
			name = l.Name
		}
		if !validLabel(name) {
			return nil, invalid("%q can't be the name of a label", name)
		}
		p.labels = append(p.labels, name)
	}
	p.imports, err = importsOf(p.files)
	return p, err
}

// names are the labels that a push sets.
func (p *parcel) names() []string {
	if len(p.labels) == 0 {
		return []string{p.module.DefaultLabel}
	}
	return p.labels
}

// store writes a module's files as a commit, or finds the commit that has them, and sets the labels.
func (c *call) store(d *registry.Draft, b *bundle, p *parcel, made map[*parcel]*commit) error {
	m, ok := get[module](d.Ledger(), moduleKey(p.module.Owner, p.module.Name))
	if !ok || m.ID != p.module.ID {
		return notFound("there is no module %s any more", p.module.fullName())
	}
	next := &commit{ModuleID: m.ID, Module: m.fullName(), OwnerID: m.OwnerID, Source: p.source, User: registry.Principal(c.Context())}
	digests := map[string][]byte{}
	deps := map[string]bool{}
	for id := range p.deps {
		dep := b.outside[id]
		if _, ok := d.Ledger().Get(idKey(id)); !ok && ownerOfModule(dep) != optionsOwner {
			return notFound("there is no commit %s of %s any more", id, dep.Module)
		}
		deps[id], digests[id] = true, dep.Digest
	}
	direct := maps.Clone(p.commits)
	for q := range p.parcels {
		direct[made[q].ID] = true
	}
	for q := range p.behind {
		dep := made[q]
		deps[dep.ID], digests[dep.ID] = true, dep.Digest
		for _, id := range dep.Deps {
			have, err := c.viewOf(d.Ledger()).commitByID(id)
			if err != nil {
				return err
			}
			deps[id], digests[id] = true, have.Digest
		}
	}
	next.Direct = slices.Sorted(maps.Keys(direct))
	next.Deps = slices.Sorted(maps.Keys(deps))
	next.Digest = digest(p.files, slices.Collect(maps.Values(digests)))
	if id, ok := d.Ledger().Get(digestKey(m.ID, next.Digest)); ok {
		have, ok := byID[commit](d.Ledger(), "commit", string(id))
		if !ok {
			return notFound("commit %s is no longer there", id)
		}
		made[p] = have
	} else {
		c.putCommit(d, m, next, p.files)
		made[p] = next
	}
	for _, name := range p.names() {
		c.moveLabel(d, m, name, made[p].ID)
	}
	return nil
}

func ownerOfModule(c *commit) string {
	owner, _, _ := strings.Cut(c.Module, "/")
	return owner
}

func (c *call) putCommit(d *registry.Draft, m *module, next *commit, files []source) {
	m.Commits++
	m.Updated = d.Now().UnixMilli()
	next.ID, next.Number, next.Created = newID(), m.Commits, m.Updated
	for _, s := range files {
		f := fileOf(s, false)
		next.Files = append(next.Files, f)
		for n, key := range blobsOf(f.Sum, f.Size) {
			d.Put(key, s.content[n*blobPiece:min((n+1)*blobPiece, f.Size)])
		}
	}
	key := commitKey(m.ID, next.Number)
	d.Put(key, encode(next))
	d.Put(idKey(next.ID), []byte(key))
	d.Put(digestKey(m.ID, next.Digest), []byte(next.ID))
	putModule(d, m)
}

// settle carries the pushed modules over to the subjects: those whose default label is set for good, others on trial.
func (c *call) settle(d *registry.Draft, sorted []*parcel, made map[*parcel]*commit, plans map[*parcel]*plan) error {
	for _, p := range sorted {
		if !slices.Contains(p.names(), p.module.DefaultLabel) {
			continue
		}
		if err := c.enforce(d, plans[p]); err != nil {
			return err
		}
	}
	for _, p := range sorted {
		if slices.Contains(p.names(), p.module.DefaultLabel) {
			continue
		}
		complaints, err := plans[p].apply(d.Branch())
		if err != nil {
			return err
		}
		for _, text := range complaints[:min(len(complaints), maxComplaints-len(c.warnings))] {
			c.warnings = append(c.warnings, made[p].Module+": on label "+p.module.DefaultLabel+", which moves subjects, this would be refused: "+text)
		}
	}
	return nil
}

// enforce carries a plan out, or refuses with all that speaks against it.
func (c *call) enforce(d *registry.Draft, p *plan) error {
	complaints, err := p.apply(d)
	if err != nil {
		return err
	}
	if len(complaints) > 0 {
		return newFault(failedPrecondition, "nothing was pushed, because of subjects of the schema registry:\n%s", strings.Join(complaints, "\n"))
	}
	return nil
}

// plans compiles a push and finds the subjects of each of its modules.
func (c *call) plans(b *bundle) (map[*parcel]*plan, error) {
	texts := map[string][]byte{}
	modules := map[string]string{} // by path
	var paths []string
	for _, p := range b.parcels {
		for _, f := range p.files {
			if isProto(f.path) {
				texts[f.path], modules[f.path] = f.content, p.module.ID
				paths = append(paths, f.path)
			}
		}
	}
	for id, files := range b.files {
		for _, f := range files {
			texts[f.path], modules[f.path] = f.content, b.outside[id].ModuleID
		}
	}
	slices.Sort(paths)
	files, err := compile(c.Context(), paths, texts)
	if err != nil {
		return nil, err
	}
	out := map[*parcel]*plan{}
	for _, p := range b.parcels {
		out[p] = &plan{files: files, texts: texts, modules: modules, auto: c.registry.Config().AutoSubjects}
		if err := out[p].find(p.files); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// planOf compiles a commit and finds its subjects.
func (c *call) planOf(v *view, target *commit) (*plan, error) {
	files, texts, modules, err := compileCommit(c.Context(), v, target)
	if err != nil {
		return nil, err
	}
	own, err := v.sources(target)
	if err != nil {
		return nil, err
	}
	p := &plan{files: files, texts: texts, modules: modules, auto: c.registry.Config().AutoSubjects}
	return p, p.find(own)
}
