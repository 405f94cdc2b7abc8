package metadata

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortedAgainstMap runs random changes on a sorted map and on Go's map, and keeps old versions to see that they do not
// change.
func TestSortedAgainstMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := sorted[int, int]{cmp: cmp.Compare[int]}
	model := map[int]int{}
	type version struct {
		s     sorted[int, int]
		model map[int]int
	}
	var kept []version
	for i := range 3000 {
		changes := edits[int, int]{}
		for range 1 + rnd.IntN(4)*rnd.IntN(200)/10 {
			key := rnd.IntN(3000)
			if rnd.IntN(3) == 0 {
				changes.del(key)
				delete(model, key)
			} else {
				changes.set(key, i)
				model[key] = i
			}
		}
		s = s.with(changes)
		if i%300 == 0 {
			kept = append(kept, version{s, maps.Clone(model)})
		}
	}
	kept = append(kept, version{s, model})
	for i, v := range kept {
		checkSorted(t, i, v.s, v.model)
	}
}

func checkSorted(t *testing.T, version int, s sorted[int, int], model map[int]int) {
	t.Helper()
	if s.len() != len(model) {
		t.Fatalf("version %d: length %d, want %d", version, s.len(), len(model))
	}
	keys := slices.Sorted(maps.Keys(model))
	i := 0
	for k, v := range s.all() {
		if k != keys[i] || v != model[k] {
			t.Fatalf("version %d: entry %d is %d=%d, want %d=%d", version, i, k, v, keys[i], model[keys[i]])
		}
		i++
	}
	if i != len(keys) {
		t.Fatalf("version %d: %d entries, want %d", version, i, len(keys))
	}
	for k := -1; k < 3001; k++ {
		v, ok := s.get(k)
		want, wantOK := model[k]
		if v != want || ok != wantOK {
			t.Fatalf("version %d: get %d = %d %v, want %d %v", version, k, v, ok, want, wantOK)
		}
	}
	for _, chunk := range s.chunks {
		if len(chunk) == 0 || len(chunk) > chunkMax {
			t.Fatalf("version %d: chunk of %d entries", version, len(chunk))
		}
	}
}

func TestSortedEmpty(t *testing.T) {
	s := sorted[int, int]{cmp: cmp.Compare[int]}
	if _, ok := s.get(1); ok || s.with(edits[int, int]{1: nil}).len() != 0 {
		t.Fatal("an empty map has something")
	}
	one := 1
	s = s.with(edits[int, int]{1: &one}).with(edits[int, int]{1: nil})
	if s.len() != 0 || len(s.chunks) != 0 {
		t.Fatalf("emptied map is %+v", s)
	}
	for range s.all() {
		t.Fatal("emptied map yields")
	}
}

// TestSortedSharing: a change copies one chunk, not the map.
func TestSortedSharing(t *testing.T) {
	all := edits[int, int]{}
	for i := range 10_000 {
		all.set(i, i)
	}
	s := sorted[int, int]{cmp: cmp.Compare[int]}.with(all)
	changed := s.with(edits[int, int]{5000: nil})
	shared := 0
	for i := range s.chunks {
		if &s.chunks[i][0] == &changed.chunks[i][0] {
			shared++
		}
	}
	if shared != len(s.chunks)-1 {
		t.Fatalf("%d of %d chunks are shared", shared, len(s.chunks))
	}
}
