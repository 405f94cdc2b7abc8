package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// ownOnly lets everybody do everything with subjects that begin with their name, and nothing else.
type ownOnly struct{}

func (ownOnly) Authorize(_ context.Context, principal string, op Operation, subject string) error {
	if subject == "" || principal == "admin" || strings.HasPrefix(catalog.ParseName(subject).Subject, principal) {
		return nil
	}
	return fmt.Errorf("%w: %s may not %s %s", ErrForbidden, principal, op, subject)
}

func TestEveryVerbAsks(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cfg := DefaultConfig()
	cfg.BootstrapServers, cfg.AdvertisedURL = c.ListenAddrs(), "http://here"
	r, err := New(cfg, Deps{Formats: []format.Format{new(fakeFormat)}, Authorizer: ownOnly{}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	base, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	admin, ann := WithPrincipal(base, "admin"), WithPrincipal(base, "ann")
	if err := r.Wait(base); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"ann-1", "bob-1"} {
		if _, err := r.Register(admin, Registration{Subject: s, ID: -1, Type: "FAKE", Text: s}); err != nil {
			t.Fatal(err)
		}
	}
	q := Registration{Subject: "bob-1", ID: -1, Type: "FAKE", Text: "x"}
	id := r.catalog().Latest("bob-1").ID
	calls := map[string]func() error{
		"register":       func() error { _, err := r.Register(ann, q); return err },
		"look up":        func() error { _, err := r.Lookup(ann, q, false); return err },
		"check":          func() error { _, err := r.Check(ann, q, nil); return err },
		"version":        func() error { _, err := r.Version(ann, "bob-1", 1, false); return err },
		"versions":       func() error { _, err := r.Versions(ann, "bob-1", catalog.Live); return err },
		"id":             func() error { _, err := r.ByID(ann, id, ""); return err },
		"guid":           func() error { _, err := r.ByGUID(ann, r.catalog().Latest("bob-1").GUID.String()); return err },
		"referrers":      func() error { _, err := r.Referrers(ann, "bob-1", 1, false); return err },
		"metadata":       func() error { _, err := r.WithMetadata(ann, "bob-1", nil, false); return err },
		"retag":          func() error { _, err := r.Retag(ann, Tagging{Subject: "bob-1", Version: 1}); return err },
		"delete version": func() error { _, err := r.DeleteVersion(ann, "bob-1", 1, false); return err },
		"delete subject": func() error { _, err := r.DeleteSubject(ann, "bob-1", false); return err },
		"delete context": func() error { return r.DeleteContext(ann, ":.ctx:") },
		"config":         func() error { _, err := r.SubjectConfig(ann, "bob-1", true); return err },
		"set config":     func() error { _, err := r.SetConfig(ann, "bob-1", ConfigUpdate{}); return err },
		"delete config":  func() error { _, err := r.DeleteConfig(ann, "bob-1"); return err },
		"mode":           func() error { _, err := r.Mode(ann, "bob-1", true); return err },
		"set mode":       func() error { return r.SetMode(ann, "bob-1", catalog.ReadOnly, false) },
		"delete mode":    func() error { _, err := r.DeleteMode(ann, "bob-1", true); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := r.Subjects(ann, ":*:", catalog.Live); !slices.Equal(got, []string{"ann-1"}) {
		t.Errorf("subjects %v", got)
	}
	if got := r.Search(ann, Search{Prefix: ":*:", Take: 10}); len(got) != 1 || got[0].Subject != "ann-1" {
		t.Errorf("search %v", got)
	}
	if uses, err := r.UsesOf(ann, id, "", false); err != nil || len(uses) != 0 {
		t.Errorf("uses %v, %v", uses, err)
	}
	if got := r.IDsOf(ann, r.catalog().Latest("bob-1").GUID.String()); len(got) != 0 {
		t.Errorf("ids %v", got)
	}
	if got := r.catalog().Versions("bob-1"); len(got) != 1 || got[0].Deleted {
		t.Errorf("something was changed: %v", got)
	}
}
