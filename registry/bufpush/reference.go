package bufpush

import (
	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
)

func (v *view) ownerOf(ref *ownerv1.OwnerRef) (*owner, error) {
	switch r := ref.GetValue().(type) {
	case *ownerv1.OwnerRef_Id:
		return v.ownerByID(r.Id)
	case *ownerv1.OwnerRef_Name:
		return v.owner(r.Name)
	}
	return nil, invalid("a reference to an owner has neither id nor name")
}

func (v *view) moduleOf(ref *modulev1.ModuleRef) (*module, error) {
	switch r := ref.GetValue().(type) {
	case *modulev1.ModuleRef_Id:
		return v.moduleByID(r.Id)
	case *modulev1.ModuleRef_Name_:
		return v.module(r.Name.GetOwner(), r.Name.GetModule())
	}
	return nil, invalid("a reference to a module has neither id nor name")
}

func (v *view) labelOf(ref *modulev1.LabelRef) (*label, error) {
	switch r := ref.GetValue().(type) {
	case *modulev1.LabelRef_Id:
		return v.labelByID(r.Id)
	case *modulev1.LabelRef_Name_:
		m, err := v.module(r.Name.GetOwner(), r.Name.GetModule())
		if err != nil {
			return nil, err
		}
		return v.label(m, r.Name.GetLabel())
	}
	return nil, invalid("a reference to a label has neither id nor name")
}

// resource is what a reference stands for: a module, or besides it a label or a commit.
type resource struct {
	module *module
	label  *label
	commit *commit
}

// resourceOf finds what a reference stands for. A name without a label or commit, or with an empty one, stands for the
// module.
func (v *view) resourceOf(ref *modulev1.ResourceRef) (resource, error) {
	switch r := ref.GetValue().(type) {
	case *modulev1.ResourceRef_Id:
		return v.resourceByID(r.Id)
	case *modulev1.ResourceRef_Name_:
		return v.resourceByName(r.Name)
	}
	return resource{}, invalid("a reference has neither id nor name")
}

func (v *view) resourceByID(id string) (resource, error) {
	if c, err := v.commitByID(id); err == nil {
		m, err := v.moduleByID(c.ModuleID)
		return resource{module: m, commit: c}, err
	}
	if m, err := v.moduleByID(id); err == nil {
		return resource{module: m}, nil
	}
	if l, err := v.labelByID(id); err == nil {
		m, err := v.moduleByID(l.ModuleID)
		return resource{module: m, label: l}, err
	}
	return resource{}, notFound("there is no module, label or commit with the id %q", id)
}

func (v *view) resourceByName(name *modulev1.ResourceRef_Name) (resource, error) {
	m, err := v.module(name.GetOwner(), name.GetModule())
	if err != nil {
		return resource{}, err
	}
	want, only := name.GetRef(), false
	if l := name.GetLabelName(); l != "" {
		want, only = l, true
	}
	if want == "" {
		return resource{module: m}, nil
	}
	if isID(want) && !only {
		c, err := v.commitByID(want)
		if err != nil || c.ModuleID != m.ID {
			return resource{}, notFound("there is no commit %q of %s", want, m.fullName())
		}
		return resource{module: m, commit: c}, nil
	}
	l, err := v.label(m, want)
	return resource{module: m, label: l}, err
}

// commitOf finds the commit that a reference stands for: for a module the one of its default label.
func (v *view) commitOf(ref *modulev1.ResourceRef) (*commit, error) {
	r, err := v.resourceOf(ref)
	if err != nil {
		return nil, err
	}
	return v.commitIn(r)
}

func (v *view) commitIn(r resource) (*commit, error) {
	if r.commit != nil {
		return r.commit, nil
	}
	l := r.label
	if l == nil {
		var err error
		if l, err = v.label(r.module, r.module.DefaultLabel); err != nil {
			return nil, err
		}
	}
	return v.commitByID(l.Commit)
}
