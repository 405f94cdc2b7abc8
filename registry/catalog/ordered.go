package catalog

import (
	"cmp"
	"iter"
)

// ordered is an immutable map in the order of its keys: an AVL tree whose changes copy the path to what changed. The
// zero value is empty.
type ordered[K cmp.Ordered, V any] struct{ root *branch[K, V] }

type branch[K cmp.Ordered, V any] struct {
	key         K
	value       V
	left, right *branch[K, V]
	height      int8
	size        int
}

// size is the number of keys.
func (m ordered[K, V]) size() int { return m.root.count() }

// get returns the value of a key.
func (m ordered[K, V]) get(key K) (V, bool) {
	b := m.root
	for b != nil {
		switch c := cmp.Compare(key, b.key); {
		case c < 0:
			b = b.left
		case c > 0:
			b = b.right
		default:
			return b.value, true
		}
	}
	var none V
	return none, false
}

// with returns the map with a value for a key.
func (m ordered[K, V]) with(key K, value V) ordered[K, V] {
	return ordered[K, V]{m.root.with(key, value)}
}

// without returns the map without a key.
func (m ordered[K, V]) without(key K) ordered[K, V] {
	if _, ok := m.get(key); !ok {
		return m
	}
	return ordered[K, V]{m.root.without(key)}
}

// from walks over the keys that are not less than low, in order.
func (m ordered[K, V]) from(low K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { m.root.walk(low, yield) }
}

// all walks over all keys, in order.
func (m ordered[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { m.root.walkAll(yield) }
}

func (b *branch[K, V]) count() int {
	if b == nil {
		return 0
	}
	return b.size
}

func (b *branch[K, V]) tall() int8 {
	if b == nil {
		return 0
	}
	return b.height
}

func (b *branch[K, V]) walk(low K, yield func(K, V) bool) bool {
	switch {
	case b == nil:
		return true
	case b.key < low:
		return b.right.walk(low, yield)
	}
	return b.left.walk(low, yield) && yield(b.key, b.value) && b.right.walkAll(yield)
}

func (b *branch[K, V]) walkAll(yield func(K, V) bool) bool {
	return b == nil || b.left.walkAll(yield) && yield(b.key, b.value) && b.right.walkAll(yield)
}

func (b *branch[K, V]) with(key K, value V) *branch[K, V] {
	if b == nil {
		return &branch[K, V]{key: key, value: value, height: 1, size: 1}
	}
	switch c := cmp.Compare(key, b.key); {
	case c < 0:
		return join(b.left.with(key, value), b.key, b.value, b.right)
	case c > 0:
		return join(b.left, b.key, b.value, b.right.with(key, value))
	}
	return join(b.left, key, value, b.right)
}

// without removes a key that is there.
func (b *branch[K, V]) without(key K) *branch[K, V] {
	switch c := cmp.Compare(key, b.key); {
	case c < 0:
		return join(b.left.without(key), b.key, b.value, b.right)
	case c > 0:
		return join(b.left, b.key, b.value, b.right.without(key))
	case b.left == nil:
		return b.right
	case b.right == nil:
		return b.left
	}
	next := b.right
	for next.left != nil {
		next = next.left
	}
	return join(b.left, next.key, next.value, b.right.without(next.key))
}

// join makes a branch of two halves whose heights differ by two at most.
func join[K cmp.Ordered, V any](left *branch[K, V], key K, value V, right *branch[K, V]) *branch[K, V] {
	switch d := left.tall() - right.tall(); {
	case d > 1 && left.left.tall() >= left.right.tall():
		return make2(left.left, left.key, left.value, make2(left.right, key, value, right))
	case d > 1:
		mid := left.right
		return make2(make2(left.left, left.key, left.value, mid.left), mid.key, mid.value, make2(mid.right, key, value, right))
	case d < -1 && right.right.tall() >= right.left.tall():
		return make2(make2(left, key, value, right.left), right.key, right.value, right.right)
	case d < -1:
		mid := right.left
		return make2(make2(left, key, value, mid.left), mid.key, mid.value, make2(mid.right, right.key, right.value, right.right))
	}
	return make2(left, key, value, right)
}

func make2[K cmp.Ordered, V any](left *branch[K, V], key K, value V, right *branch[K, V]) *branch[K, V] {
	return &branch[K, V]{
		key: key, value: value, left: left, right: right,
		height: max(left.tall(), right.tall()) + 1,
		size:   left.count() + right.count() + 1,
	}
}
