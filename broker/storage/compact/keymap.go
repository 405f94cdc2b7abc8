package compact

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// slotLen is the memory that a key takes in a KeyMap: 16 bytes of its hash and the offset.
const slotLen = 24

// minSlots is the size of the smallest KeyMap.
const minSlots = 16

// KeyMap holds the last offset of each key, in a table of fixed size. Keys are told apart by 128 bits of their SHA-256: nobody can make
// two that are taken for one, which would lose a record.
type KeyMap struct {
	slots  []slot
	used   int
	limit  int
	latest int64
}

type slot struct {
	hi, lo uint64
	after  int64 // the offset plus 1; 0 where the slot is free
}

// NewKeyMap makes a table for a number of keys, of at most maxBytes. Up to the part load of its slots is used: a fuller table means
// longer searches.
func NewKeyMap(keys, maxBytes int64, load float64) *KeyMap {
	load = min(max(load, 0.05), 0.95)
	want := int64(float64(max(keys, 0))/load) + 1
	n := max(minSlots, min(want, maxBytes/slotLen))
	return &KeyMap{slots: make([]slot, n), limit: max(1, int(float64(n)*load)), latest: -1}
}

// Len returns the number of keys.
func (m *KeyMap) Len() int { return m.used }

// Utilization returns what part of the table is in use.
func (m *KeyMap) Utilization() float64 { return float64(m.used) / float64(len(m.slots)) }

// Latest returns the offset up to which the map knows all keys, -1 in the beginning.
func (m *KeyMap) Latest() int64 { return m.latest }

// Reach says that the map knows all keys up to an offset.
func (m *KeyMap) Reach(offset int64) { m.latest = max(m.latest, offset) }

// Put notes a key at an offset that is greater than all before. It returns false when there is no room for a new key.
func (m *KeyMap) Put(key []byte, offset int64) bool {
	hi, lo := hash(key)
	s := m.find(hi, lo)
	if s.after == 0 {
		if m.used >= m.limit {
			return false
		}
		m.used++
		s.hi, s.lo = hi, lo
	}
	s.after = offset + 1
	return true
}

// Get returns the last offset of a key, -1 if it is unknown.
func (m *KeyMap) Get(key []byte) int64 { return m.find(hash(key)).after - 1 }

// find returns the slot of a hash, or the free one where it belongs. There is always a free one.
func (m *KeyMap) find(hi, lo uint64) *slot {
	at, _ := bits.Mul64(hi, uint64(len(m.slots)))
	for i := int(at); ; { //nolint:gosec // less than the number of slots
		s := &m.slots[i]
		if s.after == 0 || s.hi == hi && s.lo == lo {
			return s
		}
		if i++; i == len(m.slots) {
			i = 0
		}
	}
}

func hash(key []byte) (hi, lo uint64) {
	sum := sha256.Sum256(key)
	return binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])
}
