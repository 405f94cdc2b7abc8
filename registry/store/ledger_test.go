package store

import (
	"errors"
	"testing"
	"time"

	"moldau/registry/catalog"
)

// entry is a decision that registers a subject and puts an entry in the ledger, or refuses when the entry is there.
func entry(subject, key string) DecideBoth {
	return func(c *catalog.Catalog, l *catalog.Ledger) (Changes, error) {
		if _, ok := l.Get(key); ok {
			return Changes{}, errTaken
		}
		changes, err := register(subject)(c)
		return Changes{changes, []catalog.Change{{Key: []byte(key), Value: []byte(subject)}, {Key: []byte(key + "/2"), Value: []byte{}}}}, err
	}
}

var errTaken = errors.New("taken")

func TestCommitBoth(t *testing.T) {
	c := cluster(t)
	s := open(t, c, "a")
	ctx := within(t, 60*time.Second)
	if err := s.WaitLedger(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Owner(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(ctx, register("zero")); err != nil {
		t.Fatal(err)
	}
	if c.TopicInfo("__moldau_modules") != nil {
		t.Fatal("the ledger's topic was made before it is needed")
	}
	if _, err := s.CommitBoth(ctx, entry("one", "k")); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Ledger().Get("k"); !ok || string(v) != "one" || s.Catalog().Latest("one") == nil {
		t.Fatalf("the ledger has %q, the catalog %v", v, s.Catalog().Latest("one"))
	}
	if _, err := s.CommitBoth(ctx, entry("two", "k")); !errors.Is(err, errTaken) || s.Catalog().Latest("two") != nil {
		t.Fatalf("%v, and two is %v", err, s.Catalog().Latest("two"))
	}
	// Ledger alone, catalog alone, and a removal.
	if _, err := s.CommitBoth(ctx, func(*catalog.Catalog, *catalog.Ledger) (Changes, error) {
		return Changes{Ledger: []catalog.Change{{Key: []byte("k/2")}, {Key: []byte("m"), Value: []byte("x")}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(ctx, register("three")); err != nil {
		t.Fatal(err)
	}
	check := func(s *Store) {
		t.Helper()
		var keys []string
		for k := range s.Ledger().Find("") {
			keys = append(keys, k)
		}
		if len(keys) != 2 || keys[0] != "k" || keys[1] != "m" || s.Catalog().Size() != 3 {
			t.Fatalf("ledger %q, %d subjects", keys, s.Catalog().Size())
		}
	}
	check(s)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	// The next writer sees all of it and goes on with a higher generation, though the last one wrote to one topic only.
	b := open(t, c, "a")
	if _, err := b.Owner(ctx); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.WaitFor(ctx, s.Catalog().Offset()), b.WaitLedger(ctx, s.Ledger().Offset())); err != nil {
		t.Fatal(err)
	}
	check(b)
	if _, err := b.CommitBoth(ctx, entry("four", "n")); err != nil {
		t.Fatal(err)
	}
	if got, last := b.Ledger().Generation(), s.Ledger().Generation(); got <= last {
		t.Fatalf("generation %d follows %d", got, last)
	}
}

// Two replicas: what one commits to both topics the other one sees, and it writes nothing itself.
func TestCommitBothElsewhere(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	a := open(t, c, "a")
	owner(ctx, t, a)
	b := open(t, c, "b")
	if owner(ctx, t, a, b) != a {
		t.Fatal("the owner changed")
	}
	if _, err := b.CommitBoth(ctx, entry("one", "k")); !errors.Is(err, ErrNotOwner) {
		t.Fatal(err)
	}
	offset, err := a.CommitBoth(ctx, entry("one", "k"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.WaitFor(ctx, offset), b.WaitLedger(ctx, a.Ledger().Offset())); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Ledger().Get("k"); !ok || b.Catalog().Latest("one") == nil {
		t.Fatal("b does not see the commit")
	}
}
