package bufpush

import (
	"slices"
	"strings"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"

	"moldau/registry"
)

func getLabels(c *call, q *modulev1.GetLabelsRequest) (*modulev1.GetLabelsResponse, error) {
	labels, err := each(q.GetLabelRefs(), c.view().labelOf)
	if err != nil {
		return nil, err
	}
	return &modulev1.GetLabelsResponse{Labels: wireLabels(labels)}, nil
}

func wireLabels(labels []*label) []*modulev1.Label {
	out := make([]*modulev1.Label, 0, len(labels))
	for _, l := range labels {
		out = append(out, l.wire())
	}
	return out
}

// listLabels lists the labels of a module, or those that are set to a commit.
func listLabels(c *call, q *modulev1.ListLabelsRequest) (*modulev1.ListLabelsResponse, error) {
	v := c.view()
	r, err := v.resourceOf(q.GetResourceRef())
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(v.labels(r.module), func(l *label) bool {
		archived := l.Archived != 0
		switch q.GetArchiveFilter() {
		case modulev1.ListLabelsRequest_ARCHIVE_FILTER_ALL:
		case modulev1.ListLabelsRequest_ARCHIVE_FILTER_ARCHIVED_ONLY:
			if !archived {
				return true
			}
		default:
			if archived {
				return true
			}
		}
		return r.commit != nil && l.Commit != r.commit.ID || r.label != nil && l.ID != r.label.ID ||
			!strings.Contains(strings.ToLower(l.Name), strings.ToLower(q.GetNameQuery()))
	})
	when := func(l *label) int64 { return l.Created }
	if o := q.GetOrder(); o == modulev1.ListLabelsRequest_ORDER_UPDATE_TIME_DESC || o == modulev1.ListLabelsRequest_ORDER_UPDATE_TIME_ASC {
		when = func(l *label) int64 { return l.Updated }
	}
	oldestFirst := q.GetOrder() == modulev1.ListLabelsRequest_ORDER_CREATE_TIME_ASC || q.GetOrder() == modulev1.ListLabelsRequest_ORDER_UPDATE_TIME_ASC
	ordered(all, oldestFirst, when, func(l *label) string { return l.Name })
	part, next, err := page(all, q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &modulev1.ListLabelsResponse{NextPageToken: next, Labels: wireLabels(part)}, nil
}

func listLabelHistory(c *call, q *modulev1.ListLabelHistoryRequest) (*modulev1.ListLabelHistoryResponse, error) {
	v := c.view()
	l, err := v.labelOf(q.GetLabelRef())
	if err != nil {
		return nil, err
	}
	all := v.history(l)
	if q.GetOrder() != modulev1.ListLabelHistoryRequest_ORDER_ASC {
		slices.Reverse(all)
	}
	if q.GetOnlyCommitsWithChangedDigests() {
		all = slices.CompactFunc(all, func(a, b entry) bool { return a.id == b.id })
	}
	if id := q.GetStartCommitId(); id != "" {
		i := slices.IndexFunc(all, func(e entry) bool { return e.id == id })
		if i < 0 {
			return nil, notFound("label %s was never set to commit %q", l.Name, id)
		}
		all = all[i:]
	}
	commits, next, err := pageOf(all, q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	out := &modulev1.ListLabelHistoryResponse{NextPageToken: next}
	for _, c := range commits {
		out.Values = append(out.Values, &modulev1.ListLabelHistoryResponse_Value{Commit: c.wire(), CommitCheckState: noCheck()})
	}
	return out, nil
}

// createOrUpdateLabels sets labels to commits. Setting a module's default label moves its subjects.
func createOrUpdateLabels(c *call, q *modulev1.CreateOrUpdateLabelsRequest) (*modulev1.CreateOrUpdateLabelsResponse, error) {
	type move struct {
		module *module
		name   string
		commit *commit
		plan   *plan // nil unless it is the default label
	}
	v := c.view()
	moves, err := each(q.GetValues(), func(q *modulev1.CreateOrUpdateLabelsRequest_Value) (m move, err error) {
		if m.module, m.name, err = v.labelTarget(q.GetLabelRef()); err != nil {
			return m, err
		}
		if err := c.mayWrite(m.module); err != nil {
			return m, err
		}
		if m.commit, err = v.commitByID(q.GetCommitId()); err != nil {
			return m, err
		}
		if m.commit.ModuleID != m.module.ID {
			return m, notFound("there is no commit %q of %s", m.commit.ID, m.module.fullName())
		}
		if m.name == m.module.DefaultLabel {
			m.plan, err = c.planOf(v, m.commit)
		}
		return m, err
	})
	if err != nil {
		return nil, err
	}
	var out *modulev1.CreateOrUpdateLabelsResponse
	err = c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		out = new(modulev1.CreateOrUpdateLabelsResponse)
		for _, m := range moves {
			l := c.moveLabel(d, m.module, m.name, m.commit.ID)
			if m.plan != nil {
				if err := c.enforce(d, m.plan); err != nil {
					return err
				}
			}
			out.Labels = append(out.Labels, l.wire())
		}
		return nil
	})
	return out, err
}

// labelTarget finds the module of a label, which need not exist, and its name.
func (v *view) labelTarget(ref *modulev1.LabelRef) (*module, string, error) {
	if name := ref.GetName(); name != nil {
		m, err := v.module(name.GetOwner(), name.GetModule())
		if err == nil && !validLabel(name.GetLabel()) {
			err = invalid("%q can't be the name of a label", name.GetLabel())
		}
		return m, name.GetLabel(), err
	}
	l, err := v.labelOf(ref)
	if err != nil {
		return nil, "", err
	}
	m, err := v.moduleByID(l.ModuleID)
	return m, l.Name, err
}

// moveLabel sets a label, which comes into being or out of the archive with that.
func (c *call) moveLabel(d *registry.Draft, m *module, name, commit string) *label {
	now := d.Now().UnixMilli()
	l, ok := get[label](d.Ledger(), labelKey(m.ID, name))
	if ok && l.Commit == commit && l.Archived == 0 {
		return l
	}
	if !ok {
		l = &label{ID: newID(), ModuleID: m.ID, OwnerID: m.OwnerID, Name: name, Created: now}
		d.Put(idKey(l.ID), []byte(labelKey(m.ID, name)))
	}
	if l.Commit != commit {
		l.Moves++
		d.Put(moveKey(l.ID, l.Moves), []byte(commit))
	}
	l.Commit, l.Updated, l.Archived, l.User = commit, now, 0, registry.Principal(c.Context())
	d.Put(labelKey(m.ID, name), encode(l))
	return l
}

func archiveLabels(c *call, q *modulev1.ArchiveLabelsRequest) (*modulev1.ArchiveLabelsResponse, error) {
	return &modulev1.ArchiveLabelsResponse{}, c.archive(q.GetLabelRefs(), true)
}

func unarchiveLabels(c *call, q *modulev1.UnarchiveLabelsRequest) (*modulev1.UnarchiveLabelsResponse, error) {
	return &modulev1.UnarchiveLabelsResponse{}, c.archive(q.GetLabelRefs(), false)
}

// archive puts labels into the archive or takes them out. The default label stays where it is.
func (c *call) archive(refs []*modulev1.LabelRef, away bool) error {
	if err := checkRefs(refs); err != nil {
		return err
	}
	return c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		v := c.viewOf(d.Ledger())
		for _, ref := range refs {
			l, err := v.labelOf(ref)
			if err != nil {
				return err
			}
			m, err := v.moduleByID(l.ModuleID)
			if err != nil {
				return err
			}
			if err := c.mayWrite(m); err != nil {
				return err
			}
			if away && l.Name == m.DefaultLabel {
				return newFault(failedPrecondition, "label %s is the default one of %s and can't be archived", l.Name, m.fullName())
			}
			if away == (l.Archived != 0) {
				continue
			}
			l.Archived, l.Updated = 0, d.Now().UnixMilli()
			if away {
				l.Archived = l.Updated
			}
			d.Put(labelKey(l.ModuleID, l.Name), encode(l))
		}
		return nil
	})
}
