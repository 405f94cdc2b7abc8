package jsonschema

// match pairs as many of the left ones as can be with a right one each, given which right ones each left one can have. It
// answers the right one of each left one, -1 for none. Augmenting paths find a largest matching.
func match(compatible [][]int, right int) []int {
	m := matching{compatible: compatible, left: make([]int, right), seen: make([]int, right)}
	for j := range m.left {
		m.left[j] = -1
	}
	for i := range compatible {
		m.round = i + 1
		m.augment(i)
	}
	pairs := make([]int, len(compatible))
	for i := range pairs {
		pairs[i] = -1
	}
	for j, i := range m.left {
		if i >= 0 {
			pairs[i] = j
		}
	}
	return pairs
}

type matching struct {
	compatible [][]int
	// left is the partner of each right one, seen the round in which it was last asked for.
	left, seen []int
	round      int
}

// augment finds a partner for a left one, where need be by finding others for those who have one.
func (m *matching) augment(i int) bool {
	for _, j := range m.compatible[i] {
		if m.seen[j] == m.round {
			continue
		}
		m.seen[j] = m.round
		if m.left[j] < 0 || m.augment(m.left[j]) {
			m.left[j] = i
			return true
		}
	}
	return false
}
