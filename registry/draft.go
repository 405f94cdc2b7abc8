package registry

import (
	"context"
	"errors"
	"strings"
	"time"

	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/store"
)

// Draft is one commit in the making: registrations together with entries of the ledger. Each step sees what those before
// it leave. A draft is used by one goroutine, inside the function that it was handed to.
type Draft struct {
	ctx      context.Context
	registry *Registry
	catalog  *catalog.Catalog
	ledger   *catalog.Ledger
	changes  store.Changes
	now      time.Time
}

// Ledger is the newest state of the ledger.
func (r *Registry) Ledger() *catalog.Ledger { return r.store.Ledger() }

// WaitLedger waits until the ledger is loaded.
func (r *Registry) WaitLedger(ctx context.Context) error { return r.store.WaitLedger(ctx, 0) }

// Amend carries out a decision on catalog and ledger in one transaction, if this replica is the one that writes. The
// function may be called several times, and the last call counts; its error leaves everything as it was.
func (r *Registry) Amend(ctx context.Context, decide func(*Draft) error) error {
	return r.commitBoth(ctx, func(c *catalog.Catalog, l *catalog.Ledger) (store.Changes, error) {
		d := r.draft(ctx, c, l)
		if err := decide(d); err != nil {
			return store.Changes{}, err
		}
		return d.changes, nil
	})
}

func (r *Registry) draft(ctx context.Context, c *catalog.Catalog, l *catalog.Ledger) *Draft {
	return &Draft{ctx: ctx, registry: r, catalog: c, ledger: l, now: time.Now()}
}

// Branch is a draft that begins where this one is, and comes to nothing.
func (d *Draft) Branch() *Draft {
	b := d.registry.draft(d.ctx, d.catalog, d.ledger)
	b.now = d.now
	return b
}

// Now is the time of the commit.
func (d *Draft) Now() time.Time { return d.now }

// Ledger is the ledger as the draft leaves it so far.
func (d *Draft) Ledger() *catalog.Ledger { return d.ledger }

// Put sets an entry of the ledger. A nil value removes it.
func (d *Draft) Put(key string, value []byte) {
	if have, ok := d.ledger.Get(key); ok == (value != nil) && string(have) == string(value) {
		return
	}
	ch := catalog.Change{Key: []byte(key), Value: value}
	d.ledger = d.ledger.With([]catalog.Change{ch})
	d.changes.Ledger = append(d.changes.Ledger, ch)
}

// Register registers a schema under a subject, or finds that it is registered.
func (d *Draft) Register(q Registration) (*catalog.Schema, error) {
	if !catalog.ValidSubject(q.Subject) {
		return nil, &Refusal{Kind: ErrInvalidSubject, Subject: q.Subject}
	}
	q.Subject, q.ID = catalog.Normal(q.Subject), noID
	r := d.registry
	if err := r.allow(d.ctx, WriteSubject, q.Subject); err != nil {
		return nil, err
	}
	q.Normalize = catalog.True(r.config(d.catalog, q.Subject).Normalize)
	if s, err := r.registered(d.ctx, d.catalog, &q); s != nil || err != nil {
		return s, err
	}
	s, changes, err := r.decideRegister(d.ctx, d.catalog, &q)
	if err != nil {
		return nil, err
	}
	return s, d.change(changes)
}

// SetLevel sets the compatibility level of a subject, and keeps what else is configured.
func (d *Draft) SetLevel(subject, level string) error {
	subject = catalog.Normal(subject)
	old := d.catalog.OwnConfig(subject)
	if old != nil && old.CompatibilityLevel == level {
		return nil
	}
	if err := d.registry.allow(d.ctx, WriteConfig, subject); err != nil {
		return err
	}
	if err := checkWritable(d.catalog, subject); err != nil {
		return err
	}
	var next catalog.Config
	if old != nil {
		next = *old
	}
	next.CompatibilityLevel = level
	return d.change([]catalog.Change{catalog.PutConfig(subject, &next)})
}

func (d *Draft) change(changes []catalog.Change) error {
	after, err := d.catalog.With(changes, d.now.UnixMilli())
	if err != nil {
		return err
	}
	d.catalog, d.changes.Catalog = after, append(d.changes.Catalog, changes...)
	return nil
}

// Faults tells one by one what keeps a schema, which Register refused as incompatible, from following the versions of
// its subject.
func (d *Draft) Faults(q Registration) ([]format.Incompatibility, error) {
	r := d.registry
	q.Subject, q.ID = catalog.Normal(q.Subject), noID
	p, err := r.parse(d.ctx, d.catalog, q.content(), false)
	if err != nil {
		return nil, err
	}
	cfg := r.config(d.catalog, q.Subject)
	level, transitive := strings.CutSuffix(cfg.CompatibilityLevel, "_TRANSITIVE")
	versions := d.catalog.Versions(q.Subject)
	for i := len(versions) - 1; i >= 0; i-- {
		if versions[i].Deleted {
			continue
		}
		old, err := r.parse(d.ctx, d.catalog, versions[i], false)
		if err != nil {
			return nil, err
		}
		found, err := r.faults(d.ctx, p, old, level, cfg.CompatibilityPolicy)
		if err != nil || len(found) > 0 || !transitive {
			return found, err
		}
	}
	return nil, nil
}

// faults compares two schemas in the directions of a level.
func (r *Registry) faults(ctx context.Context, p, old *parsed, level, policy string) ([]format.Incompatibility, error) {
	if p.Type != old.Type {
		return nil, nil // the languages have no word for it
	}
	o := format.CheckOptions{Policy: format.Strict, Reader: "new", Writer: "old"}
	if policy == catalog.Lenient {
		o.Policy = format.Lenient
	}
	var out []format.Incompatibility
	var errs []error
	if level == catalog.Backward || level == catalog.Full {
		found, err := r.parser.check(ctx, p.meaning, old.meaning, o)
		out, errs = append(out, found...), append(errs, err)
	}
	if level == catalog.Forward || level == catalog.Full {
		o.Reader, o.Writer = "old", "new"
		found, err := r.parser.check(ctx, old.meaning, p.meaning, o)
		out, errs = append(out, found...), append(errs, err)
	}
	return out, errors.Join(errs...)
}
