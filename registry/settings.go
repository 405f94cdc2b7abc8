package registry

import (
	"context"

	"moldau/registry/catalog"
)

// ConfigUpdate changes a config: each field that is set, to what it points to, which may be nothing.
type ConfigUpdate struct {
	Alias, AliasForDeks                                          *string
	Normalize, ValidateFields, ValidateNewSchemas, ValidateRules **bool
	CompatibilityLevel, CompatibilityPolicy, CompatibilityGroup  *string
	DefaultMetadata, OverrideMetadata                            **catalog.Metadata
	DefaultRuleSet, OverrideRuleSet                              **catalog.RuleSet
}

// check brings levels and policies in their form and refuses what does not exist.
func (u *ConfigUpdate) check() error {
	if l := u.CompatibilityLevel; l != nil && *l != "" {
		level, ok := catalog.ParseLevel(*l)
		if !ok {
			return refuse(ErrInvalidLevel, "Invalid compatibility level. Valid values are none, backward, forward, full, "+
				"backward_transitive, forward_transitive, and full_transitive")
		}
		u.CompatibilityLevel = &level
	}
	if p := u.CompatibilityPolicy; p != nil && *p != "" {
		policy, ok := catalog.ParsePolicy(*p)
		if !ok {
			return refuse(ErrInvalidLevel, "Invalid compatibility policy. Valid values are strict and lenient")
		}
		u.CompatibilityPolicy = &policy
	}
	for _, s := range []**catalog.RuleSet{u.DefaultRuleSet, u.OverrideRuleSet} {
		if s == nil {
			continue
		}
		if err := (*s).Validate(); err != nil {
			return refuse(ErrInvalidRuleSet, ruleReason(err))
		}
	}
	return nil
}

// apply is the config with the changes.
func (u *ConfigUpdate) apply(c catalog.Config) *catalog.Config {
	set(&c.Alias, u.Alias)
	set(&c.AliasForDeks, u.AliasForDeks)
	set(&c.Normalize, u.Normalize)
	set(&c.ValidateFields, u.ValidateFields)
	set(&c.ValidateNewSchemas, u.ValidateNewSchemas)
	set(&c.ValidateRules, u.ValidateRules)
	set(&c.CompatibilityLevel, u.CompatibilityLevel)
	set(&c.CompatibilityPolicy, u.CompatibilityPolicy)
	set(&c.CompatibilityGroup, u.CompatibilityGroup)
	set(&c.DefaultMetadata, u.DefaultMetadata)
	set(&c.OverrideMetadata, u.OverrideMetadata)
	set(&c.DefaultRuleSet, u.DefaultRuleSet)
	set(&c.OverrideRuleSet, u.OverrideRuleSet)
	return &c
}

func set[T any](have, want *T) {
	if want != nil {
		*have = *want
	}
}

// scopeOf is where the config and mode of a name are kept: those of the default context are the global ones.
func scopeOf(name string) string {
	n := catalog.ParseName(name)
	if n.IsDefaultContext() {
		return ""
	}
	return n.String()
}

// SetConfig changes the config of a subject or context, or with an empty scope the global one. It returns the result.
func (r *Registry) SetConfig(ctx context.Context, scope string, u ConfigUpdate) (*catalog.Config, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	if !catalog.ValidScope(scope) {
		return nil, &Refusal{Kind: ErrInvalidSubject, Subject: scope}
	}
	scope = scopeOf(scope)
	if err := r.allow(ctx, WriteConfig, scope); err != nil {
		return nil, err
	}
	var out *catalog.Config
	err := r.commit(ctx, func(c *catalog.Catalog) ([]catalog.Change, error) {
		if err := checkWritable(c, scope); err != nil {
			return nil, err
		}
		old := c.OwnConfig(scope)
		if old == nil {
			old = new(catalog.Config)
		}
		out = u.apply(*old)
		return []catalog.Change{catalog.PutConfig(scope, out)}, nil
	})
	return out, err
}

// SubjectConfig is the config of a subject or context: its own, or with inherited the one that holds for it.
func (r *Registry) SubjectConfig(ctx context.Context, scope string, inherited bool) (*catalog.Config, error) {
	scope = scopeOf(scope)
	if err := r.allow(ctx, ReadConfig, scope); err != nil {
		return nil, err
	}
	c := r.catalog()
	if inherited {
		return r.config(c, scope), nil
	}
	return r.ownConfig(c, scope)
}

// ownConfig is the config of a scope itself. The global ones always exist.
func (r *Registry) ownConfig(c *catalog.Catalog, scope string) (*catalog.Config, error) {
	if c.OwnConfig(scope) == nil {
		if scope == "" || catalog.ParseName(scope).Context == catalog.GlobalContext {
			return r.fallback, nil
		}
		return nil, &Refusal{Kind: ErrNoConfig, Subject: scope}
	}
	cfg := *c.OwnConfig(scope)
	if cfg.CompatibilityLevel == "" {
		cfg.CompatibilityLevel = r.cfg.Level
	}
	return &cfg, nil
}

// DeleteConfig removes the config of a subject or context and returns it.
func (r *Registry) DeleteConfig(ctx context.Context, scope string) (*catalog.Config, error) {
	scope = scopeOf(scope)
	if err := r.allow(ctx, WriteConfig, scope); err != nil {
		return nil, err
	}
	var out *catalog.Config
	err := r.commit(ctx, func(c *catalog.Catalog) (_ []catalog.Change, err error) {
		if out, err = r.ownConfig(c, scope); err != nil {
			return nil, err
		}
		if err := checkWritable(c, scope); err != nil {
			return nil, err
		}
		if c.OwnConfig(scope) == nil {
			return nil, nil
		}
		return c.Drop(catalog.ConfigKey(scope)), nil
	})
	return out, err
}

// Alias is the subject that a name stands for, by the alias in its config.
func (r *Registry) Alias(subject string) string {
	cfg := r.catalog().OwnConfig(catalog.Normal(subject))
	if cfg == nil || cfg.Alias == "" {
		return subject
	}
	return catalog.ParseName(cfg.Alias).In(catalog.ParseName(subject)).String()
}
