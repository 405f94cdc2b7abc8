package store

import (
	"errors"
	"testing"

	"moldau/registry/catalog"
)

// A client of transactions may say that one is committed which was rolled back (the first one of a client, in a race
// with its learning the partition; found by a test that read what it had just written). Offsets alone then look right.
func TestRolledBackCommitIsNoticed(t *testing.T) {
	apply := func(c *catalog.Catalog, offset, generation, commit int64) *catalog.Catalog {
		t.Helper()
		ch := catalog.PutMode("s", catalog.ReadOnly)
		next, err := c.Apply(catalog.Record{Key: ch.Key, Value: ch.Value, Offset: offset, Generation: generation, Commit: commit})
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	first := apply(new(catalog.Catalog), 0, 3, 1)
	for _, c := range []struct {
		name    string
		catalog *catalog.Catalog
		ok      bool
	}{
		{"committed", apply(first, 2, 3, 2), true},
		{"rolled back", first.At(4), false},
		{"rolled back, then somebody else's record", apply(first, 4, 0, 0), false},
		{"another one took over", apply(first, 4, 4, 1), false},
	} {
		s := newState(newMetrics(nil))
		s.publish(published{catalog: c.catalog, loaded: true, exists: true})
		err := replayed(t.Context(), &tail{topic: "t", state: s}, &writer{generation: 3, commits: 2}, 2)
		if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
