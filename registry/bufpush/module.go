package bufpush

import (
	"slices"
	"strings"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"

	"moldau/registry"
)

func getModules(c *call, q *modulev1.GetModulesRequest) (*modulev1.GetModulesResponse, error) {
	modules, err := each(q.GetModuleRefs(), c.view().moduleOf)
	if err != nil {
		return nil, err
	}
	return &modulev1.GetModulesResponse{Modules: wireModules(modules)}, nil
}

func wireModules(modules []*module) []*modulev1.Module {
	out := make([]*modulev1.Module, 0, len(modules))
	for _, m := range modules {
		out = append(out, m.wire())
	}
	return out
}

// listModules lists the modules of some owners, or all that were pushed.
func listModules(c *call, q *modulev1.ListModulesRequest) (*modulev1.ListModulesResponse, error) {
	v := c.view()
	var all []*module
	if len(q.GetOwnerRefs()) == 0 {
		all = list[module](v.ledger, "module/")
	}
	for _, ref := range q.GetOwnerRefs() {
		o, err := v.ownerOf(ref)
		if err != nil {
			return nil, err
		}
		all = append(all, v.modulesOf(o)...)
	}
	all = slices.DeleteFunc(all, func(m *module) bool { return !v.allow(m) })
	when := func(m *module) int64 { return m.Created }
	if o := q.GetOrder(); o == modulev1.ListModulesRequest_ORDER_UPDATE_TIME_DESC || o == modulev1.ListModulesRequest_ORDER_UPDATE_TIME_ASC {
		when = func(m *module) int64 { return m.Updated }
	}
	oldestFirst := q.GetOrder() == modulev1.ListModulesRequest_ORDER_CREATE_TIME_ASC || q.GetOrder() == modulev1.ListModulesRequest_ORDER_UPDATE_TIME_ASC
	ordered(all, oldestFirst, when, (*module).fullName)
	part, next, err := page(all, q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &modulev1.ListModulesResponse{NextPageToken: next, Modules: wireModules(part)}, nil
}

// modulesOf are all modules of an owner, those that the caller may not see included.
func (v *view) modulesOf(o *owner) []*module {
	if o.Name == subjectsOwner {
		return v.generated.modules()
	}
	out := list[module](v.ledger, moduleKey(o.Name, ""))
	for _, m := range v.built.modules {
		if m.Owner == o.Name {
			out = append(out, m)
		}
	}
	return out
}

// mayWrite answers nil when the caller may change a module.
func (c *call) mayWrite(m *module) error {
	if reserved(m.Owner) {
		return newFault(failedPrecondition, "%s is kept by the server and can't be changed", m.fullName())
	}
	return c.registry.Allow(c.Context(), registry.WriteModule, m.fullName())
}

// reserved tells whether an owner is one whose modules nobody pushes.
func reserved(owner string) bool { return owner == subjectsOwner || owner == optionsOwner }

// createModules makes modules. An owner that does not exist comes into being with its first module.
func createModules(c *call, q *modulev1.CreateModulesRequest) (*modulev1.CreateModulesResponse, error) {
	if err := checkRefs(q.GetValues()); err != nil {
		return nil, err
	}
	var out *modulev1.CreateModulesResponse
	err := c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		out = new(modulev1.CreateModulesResponse)
		for _, q := range q.GetValues() {
			m, err := c.createModule(d, q)
			if err != nil {
				return err
			}
			out.Modules = append(out.Modules, m.wire())
		}
		return nil
	})
	return out, err
}

func (c *call) createModule(d *registry.Draft, q *modulev1.CreateModulesRequest_Value) (*module, error) {
	name := q.GetOwnerRef().GetName()
	if id := q.GetOwnerRef().GetId(); id != "" {
		o, err := c.viewOf(d.Ledger()).ownerByID(id)
		if err != nil {
			return nil, err
		}
		name = o.Name
	}
	now := d.Now().UnixMilli()
	m := &module{
		ID: newID(), Owner: name, Name: q.GetName(), Private: q.GetVisibility() != modulev1.ModuleVisibility_MODULE_VISIBILITY_PUBLIC,
		Description: q.GetDescription(), URL: q.GetUrl(), DefaultLabel: q.GetDefaultLabelName(), Created: now, Updated: now,
	}
	if m.DefaultLabel == "" {
		m.DefaultLabel = mainLabel
	}
	switch {
	case !validName(m.Name, maxModule):
		return nil, invalid("%q can't be the name of a module: it must have %d to %d small letters, digits and hyphens", m.Name, minName, maxModule)
	case !validLabel(m.DefaultLabel):
		return nil, invalid("%q can't be the name of a label", m.DefaultLabel)
	case !validTexts(m.Description, m.URL):
		return nil, invalid("a description has at most %d characters, a URL at most %d", maxDescription, maxURL)
	}
	if err := c.mayWrite(m); err != nil {
		return nil, err
	}
	if _, ok := d.Ledger().Get(moduleKey(m.Owner, m.Name)); ok {
		return nil, newFault(alreadyExists, "there is a module %s already", m.fullName())
	}
	o, err := c.needOwner(d, &owner{Name: name})
	if err != nil {
		return nil, err
	}
	m.OwnerID = o.ID
	putModule(d, m)
	d.Put(idKey(m.ID), []byte(moduleKey(m.Owner, m.Name)))
	return m, nil
}

func putModule(d *registry.Draft, m *module) { d.Put(moduleKey(m.Owner, m.Name), encode(m)) }

// The lengths of texts about owners and modules.
const (
	maxDescription = 350
	maxURL         = 255
)

func validTexts(description, url string) bool {
	return len([]rune(description)) <= maxDescription && len(url) <= maxURL && !strings.ContainsAny(description+url, "\x00")
}

func updateModules(c *call, q *modulev1.UpdateModulesRequest) (*modulev1.UpdateModulesResponse, error) {
	if err := checkRefs(q.GetValues()); err != nil {
		return nil, err
	}
	var out *modulev1.UpdateModulesResponse
	err := c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		out = new(modulev1.UpdateModulesResponse)
		for _, q := range q.GetValues() {
			m, err := c.viewOf(d.Ledger()).moduleOf(q.GetModuleRef())
			if err != nil {
				return err
			}
			if err := c.mayWrite(m); err != nil {
				return err
			}
			if err := m.update(q); err != nil {
				return err
			}
			m.Updated = d.Now().UnixMilli()
			putModule(d, m)
			out.Modules = append(out.Modules, m.wire())
		}
		return nil
	})
	return out, err
}

func (m *module) update(q *modulev1.UpdateModulesRequest_Value) error {
	if name := q.GetDefaultLabelName(); name != "" && name != m.DefaultLabel {
		return newFault(failedPrecondition, "the default label of %s is %s; it moves subjects and can't be exchanged", m.fullName(), m.DefaultLabel)
	}
	if q.Visibility != nil {
		m.Private = q.GetVisibility() != modulev1.ModuleVisibility_MODULE_VISIBILITY_PUBLIC
	}
	if q.State != nil {
		m.Deprecated = q.GetState() == modulev1.ModuleState_MODULE_STATE_DEPRECATED
	}
	if q.Description != nil {
		m.Description = q.GetDescription()
	}
	if q.Url != nil {
		m.URL = q.GetUrl()
	}
	if !validTexts(m.Description, m.URL) {
		return invalid("a description has at most %d characters, a URL at most %d", maxDescription, maxURL)
	}
	return nil
}

// deleteModules removes modules with all that was pushed to them, unless other modules need it. The subjects stay, and are
// free for another module.
func deleteModules(c *call, q *modulev1.DeleteModulesRequest) (*modulev1.DeleteModulesResponse, error) {
	if err := checkRefs(q.GetModuleRefs()); err != nil {
		return nil, err
	}
	err := c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		gone := map[string]*module{}
		v := c.viewOf(d.Ledger())
		for _, ref := range q.GetModuleRefs() {
			m, err := v.moduleOf(ref)
			if err != nil {
				return err
			}
			if reserved(m.Owner) {
				return c.mayWrite(m)
			}
			if err := c.registry.Allow(c.Context(), registry.DeleteModule, m.fullName()); err != nil {
				return err
			}
			gone[m.ID] = m
		}
		return deleteAll(d, gone)
	})
	return &modulev1.DeleteModulesResponse{}, err
}

func deleteAll(d *registry.Draft, gone map[string]*module) error {
	l := d.Ledger()
	deleted, kept := map[string]bool{}, map[string]bool{} // blobs
	commits := map[string]string{}                        // those that go, with their module's name
	all := list[commit](l, "commit/")
	for _, c := range all {
		into := kept
		if gone[c.ModuleID] != nil {
			into, commits[c.ID] = deleted, c.Module
		}
		for _, f := range c.Files {
			for _, key := range blobsOf(f.Sum, f.Size) {
				into[key] = true
			}
		}
	}
	for _, c := range all {
		if gone[c.ModuleID] != nil {
			continue
		}
		for _, id := range c.Deps {
			if name, ok := commits[id]; ok {
				return newFault(failedPrecondition, "%s can't be deleted: commit %s of %s needs it", name, c.ID, c.Module)
			}
		}
	}
	for id, m := range gone {
		for _, lb := range list[label](l, labelKey(id, "")) {
			dropAll(d, "move/"+lb.ID+"/")
			d.Put(idKey(lb.ID), nil)
		}
		for _, prefix := range []string{"label/", "commit/", "digest/"} {
			dropAll(d, prefix+id+"/")
		}
		d.Put(moduleKey(m.Owner, m.Name), nil)
		d.Put(idKey(id), nil)
	}
	for id := range commits {
		d.Put(idKey(id), nil)
	}
	for key := range deleted {
		if !kept[key] {
			d.Put(key, nil)
		}
	}
	for key, id := range l.Find("claim/") {
		if gone[string(id)] != nil {
			d.Put(key, nil)
		}
	}
	return nil
}

func dropAll(d *registry.Draft, prefix string) {
	for key := range d.Ledger().Find(prefix) { // a ledger never changes, so the walk is not disturbed
		d.Put(key, nil)
	}
}

// needOwner finds an owner, or makes it.
func (c *call) needOwner(d *registry.Draft, o *owner) (*owner, error) {
	if have, ok := get[owner](d.Ledger(), ownerKey(o.Name)); ok {
		return have, nil
	}
	switch {
	case !validName(o.Name, maxOwnerName):
		return nil, invalid("%q can't be the name of an owner: it must have %d to %d small letters, digits and hyphens", o.Name, minName, maxOwnerName)
	case reserved(o.Name):
		return nil, newFault(alreadyExists, "%s is an owner that the server keeps", o.Name)
	case !validTexts(o.Description, o.URL):
		return nil, invalid("a description has at most %d characters, a URL at most %d", maxDescription, maxURL)
	}
	if err := c.registry.Allow(c.Context(), registry.WriteModule, o.Name); err != nil {
		return nil, err
	}
	o.ID, o.Created = newID(), d.Now().UnixMilli()
	o.Updated = o.Created
	d.Put(ownerKey(o.Name), encode(o))
	d.Put(idKey(o.ID), []byte(ownerKey(o.Name)))
	return o, nil
}

func getOwners(c *call, q *ownerv1.GetOwnersRequest) (*ownerv1.GetOwnersResponse, error) {
	owners, err := each(q.GetOwnerRefs(), c.view().ownerOf)
	if err != nil {
		return nil, err
	}
	out := new(ownerv1.GetOwnersResponse)
	for _, o := range owners {
		out.Owners = append(out.Owners, o.wire())
	}
	return out, nil
}
