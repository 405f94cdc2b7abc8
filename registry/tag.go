package registry

import (
	"context"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// Tagging asks for a new version of a subject that is like another one but for its tags, metadata and rules.
type Tagging struct {
	Subject    string
	Version    int32 // the one to begin with
	NewVersion int32 // 0 for the next one
	Add        []format.TaggedEntity
	Remove     []format.TaggedEntity
	Metadata   *catalog.Metadata // nil: as it is
	RuleSet    *catalog.RuleSet  // the rules, unless they come from the version before
	MergeRules *catalog.RuleSet  // added to the rules of the version before
	DropRules  []string          // names of rules that are left out
	fromBefore bool
}

// Retag registers a new version with other tags, metadata or rules.
func (r *Registry) Retag(ctx context.Context, q Tagging) (*catalog.Schema, error) {
	if !catalog.ValidSubject(q.Subject) {
		return nil, &Refusal{Kind: ErrInvalidSubject, Subject: q.Subject}
	}
	q.Subject = catalog.Normal(q.Subject)
	if err := r.allow(ctx, WriteSubject, q.Subject); err != nil {
		return nil, err
	}
	q.fromBefore = q.MergeRules != nil || q.DropRules != nil
	if q.fromBefore && q.RuleSet != nil {
		return nil, refuse(ErrInvalidRuleSet, "ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
	}
	for _, s := range []*catalog.RuleSet{q.MergeRules, q.RuleSet} {
		if err := s.Validate(); err != nil {
			return nil, refuse(ErrInvalidRuleSet, ruleReason(err))
		}
	}
	var out *catalog.Schema
	err := r.commit(ctx, func(c *catalog.Catalog) (changes []catalog.Change, err error) {
		out, changes, err = r.decideRetag(ctx, c, &q)
		return changes, err
	})
	if err != nil {
		return nil, err
	}
	return r.asStored(out), nil
}

func (r *Registry) decideRetag(ctx context.Context, c *catalog.Catalog, q *Tagging) (*catalog.Schema, []catalog.Change, error) {
	old := get(c, q.Subject, q.Version, false)
	if old == nil {
		return nil, nil, notFound(c, q.Subject, false, &Refusal{Kind: ErrVersionNotFound, Subject: q.Subject, Version: q.Version})
	}
	metadata := q.Metadata
	if metadata == nil {
		metadata = old.Metadata
	}
	s := *old
	if err := r.retag(ctx, c, &s, q.Add, q.Remove); err != nil {
		return nil, nil, err
	}
	return r.decideRegister(ctx, c, &Registration{
		Subject: q.Subject, Version: q.NewVersion, ID: noID, Type: s.Type, Text: s.Text, References: s.References,
		Metadata: metadata.WithVersion(q.NewVersion), RuleSet: q.rules(c),
	})
}

// rules are those of the new version.
func (q *Tagging) rules(c *catalog.Catalog) *catalog.RuleSet {
	if !q.fromBefore {
		return q.RuleSet
	}
	before := int32(latestVersion)
	if q.NewVersion != 0 {
		before = q.NewVersion - 1
	}
	var rules *catalog.RuleSet
	if s := get(c, q.Subject, before, false); s != nil {
		rules = s.RuleSet
	}
	return catalog.MergeRuleSets(rules, q.MergeRules).Without(q.DropRules)
}
