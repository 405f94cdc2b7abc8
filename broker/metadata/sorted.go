package metadata

import (
	"iter"
	"slices"
)

// chunkMax is the greatest length of a chunk. A change copies one chunk and the list of chunks: with 20,000 entries
// about 3 KiB and 6 KiB, where one flat array would copy half a megabyte.
const chunkMax = 128

// sorted is an immutable ordered map: an array of sorted chunks. with returns a new map that shares every chunk in which
// nothing changed. The zero value needs a compare function.
type sorted[K comparable, V any] struct {
	cmp    func(a, b K) int
	chunks [][]entry[K, V]
	n      int
}

type entry[K comparable, V any] struct {
	key K
	val V
}

func (s sorted[K, V]) len() int { return s.n }

// find returns the chunk that holds or would hold key, and the place in it.
func (s sorted[K, V]) find(key K) (chunk, at int, found bool) {
	chunk, found = slices.BinarySearchFunc(s.chunks, key, func(c []entry[K, V], k K) int { return s.cmp(c[0].key, k) })
	if found {
		return chunk, 0, true
	}
	chunk = max(chunk-1, 0)
	if len(s.chunks) == 0 {
		return 0, 0, false
	}
	at, found = slices.BinarySearchFunc(s.chunks[chunk], key, func(e entry[K, V], k K) int { return s.cmp(e.key, k) })
	return chunk, at, found
}

func (s sorted[K, V]) get(key K) (V, bool) {
	c, i, ok := s.find(key)
	if !ok {
		var none V
		return none, false
	}
	return s.chunks[c][i].val, true
}

// edits are changes of a map: new values, and nil for keys that vanish.
type edits[K comparable, V any] map[K]*V

func (e edits[K, V]) set(key K, val V) { e[key] = &val }
func (e edits[K, V]) del(key K)        { e[key] = nil }

// with returns the map with changes. A chunk is rewritten once, however many of its keys change.
func (s sorted[K, V]) with(changes edits[K, V]) sorted[K, V] {
	if len(changes) == 0 {
		return s
	}
	keys := make([]K, 0, len(changes))
	for k := range changes {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, s.cmp)
	next := sorted[K, V]{cmp: s.cmp, n: s.n, chunks: make([][]entry[K, V], 0, len(s.chunks)+len(keys)/chunkMax+1)}
	if len(s.chunks) == 0 {
		next.rewrite(nil, keys, changes)
		return next
	}
	for i, chunk := range s.chunks {
		here := len(keys) // keys before the next chunk belong to this one
		if i+1 < len(s.chunks) {
			here, _ = slices.BinarySearchFunc(keys, s.chunks[i+1][0].key, s.cmp)
		}
		if here == 0 {
			next.chunks = append(next.chunks, chunk)
			continue
		}
		next.rewrite(chunk, keys[:here], changes)
		keys = keys[here:]
	}
	return next
}

// rewrite appends what becomes of a chunk, as several when it has grown too long. Keys are in order.
func (s *sorted[K, V]) rewrite(chunk []entry[K, V], keys []K, changes edits[K, V]) {
	merged := make([]entry[K, V], 0, len(chunk)+len(keys))
	before := len(chunk)
	for _, k := range keys {
		for len(chunk) > 0 && s.cmp(chunk[0].key, k) < 0 {
			merged, chunk = append(merged, chunk[0]), chunk[1:]
		}
		if len(chunk) > 0 && s.cmp(chunk[0].key, k) == 0 {
			chunk = chunk[1:]
		}
		if val := changes[k]; val != nil {
			merged = append(merged, entry[K, V]{k, *val})
		}
	}
	merged = append(merged, chunk...)
	s.n += len(merged) - before
	for pieces := (len(merged) + chunkMax - 1) / chunkMax; pieces > 0; pieces-- {
		n := len(merged) / pieces
		s.chunks = append(s.chunks, merged[:n:n])
		merged = merged[n:]
	}
}

// all yields the entries in order.
func (s sorted[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, chunk := range s.chunks {
			for _, e := range chunk {
				if !yield(e.key, e.val) {
					return
				}
			}
		}
	}
}
