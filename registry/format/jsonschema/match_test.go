package jsonschema

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMatch holds matchings against the largest ones that trying everything finds.
func TestMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	for range 2000 {
		left, right := r.IntN(6), r.IntN(6)
		compatible := make([][]int, left)
		for i := range compatible {
			for j := range right {
				if r.IntN(3) == 0 {
					compatible[i] = append(compatible[i], j)
				}
			}
		}
		pairs, taken, n := match(compatible, right), make(map[int]bool), 0
		for i, j := range pairs {
			if j < 0 {
				continue
			}
			n++
			if taken[j] || !slices.Contains(compatible[i], j) {
				t.Fatalf("%v: %v", compatible, pairs)
			}
			taken[j] = true
		}
		if want := largest(compatible, 0, 0); n != want {
			t.Fatalf("%v: %v has %d pairs, want %d", compatible, pairs, n, want)
		}
	}
}

// largest tries every partner for the left ones from i on.
func largest(compatible [][]int, i int, taken uint) int {
	if i == len(compatible) {
		return 0
	}
	best := largest(compatible, i+1, taken)
	for _, j := range compatible[i] {
		if taken&(1<<j) == 0 {
			best = max(best, 1+largest(compatible, i+1, taken|1<<j))
		}
	}
	return best
}
