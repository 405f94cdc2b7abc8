package registry

import (
	"context"

	"moldau/registry/catalog"
)

// SetMode sets the mode of a subject or context, or with an empty scope the global one. An empty mode removes it. A
// subject or context that is to import must be empty; what is softly deleted there is removed for good. With force it
// need not be, and nothing is removed.
func (r *Registry) SetMode(ctx context.Context, scope, mode string, force bool) error {
	if !catalog.ValidScope(scope) {
		return &Refusal{Kind: ErrInvalidSubject, Subject: scope}
	}
	scope = scopeOf(scope)
	if err := r.allow(ctx, WriteConfig, scope); err != nil {
		return err
	}
	if mode != "" {
		var ok bool
		if mode, ok = catalog.ParseMode(mode); !ok {
			return refuse(ErrInvalidMode, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.")
		}
	}
	if mode == catalog.ForwardMode && !catalog.ParseName(scope).IsGlobal() {
		return refuse(ErrInvalidMode, "Forward mode only supported on global level")
	}
	if err := r.mayChangeModes(); err != nil {
		return err
	}
	return r.commit(ctx, func(c *catalog.Catalog) ([]catalog.Change, error) { return decideMode(c, scope, mode, force) })
}

func (r *Registry) mayChangeModes() error {
	if !r.cfg.MutableMode {
		return refuse(ErrNotPermitted, "Mode changes are not allowed")
	}
	return nil
}

func decideMode(c *catalog.Catalog, scope, mode string, force bool) ([]catalog.Change, error) {
	if mode == "" {
		return c.Drop(catalog.ModeKey(scope)), nil
	}
	var changes []catalog.Change
	if mode == catalog.Import && c.Mode(scope) != catalog.Import && !force {
		if c.Has(scope, false) {
			return nil, refuse(ErrNotPermitted, "Cannot import since found existing subjects")
		}
		gone := c.InScope(scope)
		for _, s := range gone {
			if len(referrers(c, s, true)) > 0 {
				return nil, refuse(ErrReferenced, s.Key().String())
			}
		}
		if len(gone) > 0 {
			changes = append(c.DropVersions(gone), catalog.ClearSubjects(scope))
		}
	}
	return append(changes, catalog.PutMode(scope, mode)), nil
}

// Mode is the mode of a subject or context: its own, or with inherited the one that holds for it.
func (r *Registry) Mode(ctx context.Context, scope string, inherited bool) (string, error) {
	scope = scopeOf(scope)
	if err := r.allow(ctx, ReadConfig, scope); err != nil {
		return "", err
	}
	c := r.catalog()
	if inherited {
		return c.Mode(scope), nil
	}
	mode := ownMode(c, scope)
	if mode == "" {
		return "", &Refusal{Kind: ErrNoMode, Subject: scope}
	}
	return mode, nil
}

// ownMode is the mode of a scope itself. The global ones always exist.
func ownMode(c *catalog.Catalog, scope string) string {
	mode := c.OwnMode(scope)
	if mode == "" && (scope == "" || catalog.ParseName(scope).Context == catalog.GlobalContext) {
		return catalog.ReadWrite
	}
	return mode
}

// DeleteMode removes the mode of a subject or context and returns it. With recursive it also removes those of all
// subjects in the context, and then the context itself need have none.
func (r *Registry) DeleteMode(ctx context.Context, scope string, recursive bool) (string, error) {
	scope = scopeOf(scope)
	if err := r.allow(ctx, WriteConfig, scope); err != nil {
		return "", err
	}
	if err := r.mayChangeModes(); err != nil {
		return "", err
	}
	var out string
	err := r.commit(ctx, func(c *catalog.Catalog) ([]catalog.Change, error) {
		if out = ownMode(c, scope); out == "" && !recursive {
			return nil, &Refusal{Kind: ErrSubjectNotFound, Subject: scope}
		}
		var changes []catalog.Change
		if c.OwnMode(scope) != "" {
			changes = c.Drop(catalog.ModeKey(scope))
		}
		if n := catalog.ParseName(scope); recursive && n.IsContext() {
			for _, subject := range c.ScopesWithMode(n.Context) {
				changes = append(changes, c.Drop(catalog.ModeKey(subject))...)
			}
		}
		return changes, nil
	})
	return out, err
}
