package catalog

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A map of the language is the oracle, over random changes; old versions must not change.
func TestOrderedAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var m ordered[int, int]
	oracle := map[int]int{}
	type version struct {
		m      ordered[int, int]
		oracle map[int]int
	}
	var old []version
	for i := range 5000 {
		k := rng.IntN(300)
		if rng.IntN(3) == 0 {
			m = m.without(k)
			delete(oracle, k)
		} else {
			m = m.with(k, i)
			oracle[k] = i
		}
		if i%500 == 0 {
			old = append(old, version{m, maps.Clone(oracle)})
		}
	}
	for _, v := range append(old, version{m, oracle}) {
		checkOrdered(t, v.m, v.oracle)
	}
}

func checkOrdered(t *testing.T, m ordered[int, int], oracle map[int]int) {
	t.Helper()
	if m.size() != len(oracle) {
		t.Fatalf("%d keys, want %d", m.size(), len(oracle))
	}
	keys := slices.Sorted(maps.Keys(oracle))
	var got []int
	for k, v := range m.all() {
		if oracle[k] != v {
			t.Fatalf("key %d: %d, want %d", k, v, oracle[k])
		}
		got = append(got, k)
	}
	if !slices.Equal(got, keys) {
		t.Fatalf("keys %v, want %v", got, keys)
	}
	for _, low := range []int{-1, 0, 137, 299, 1000} {
		got = nil
		for k := range m.from(low) {
			if got = append(got, k); len(got) == 5 {
				break
			}
		}
		i, _ := slices.BinarySearch(keys, low)
		if want := keys[i:min(i+5, len(keys))]; !slices.Equal(got, want) {
			t.Fatalf("from %d: %v, want %v", low, got, want)
		}
	}
	if h := balanced(t, m.root); len(keys) > 0 && h > 12 {
		t.Fatalf("%d keys make a height of %d", len(keys), h)
	}
}

func balanced[K int, V any](t *testing.T, b *branch[K, V]) int {
	t.Helper()
	if b == nil {
		return 0
	}
	l, r := balanced(t, b.left), balanced(t, b.right)
	if l-r > 1 || r-l > 1 || int(b.height) != max(l, r)+1 {
		t.Fatalf("a branch of height %d has halves of %d and %d", b.height, l, r)
	}
	return max(l, r) + 1
}
