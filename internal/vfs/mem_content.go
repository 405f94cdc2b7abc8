package vfs

import (
	"math/rand/v2"
)

// sectorSize is what a disk writes whole or not at all.
const sectorSize = 512

// memContent is the bytes of one file: as programs see them, and as they surely are on disk.
type memContent struct {
	data  []byte
	disk  []byte
	dirty []uint64 // bit set of the sectors that were written since the last sync
}

func (c *memContent) mark(from, to int64) {
	if from >= to {
		return
	}
	last := (to - 1) / sectorSize
	for int64(len(c.dirty)) <= last/64 {
		c.dirty = append(c.dirty, 0)
	}
	for s := from / sectorSize; s <= last; s++ {
		c.dirty[s/64] |= 1 << (s % 64)
	}
}

// eachDirty calls do with the bounds of every dirty sector, in order.
func (c *memContent) eachDirty(do func(from, to int64)) {
	for word, bits := range c.dirty {
		for bit := range 64 {
			if bits&(1<<bit) != 0 {
				from := (int64(word)*64 + int64(bit)) * sectorSize
				do(from, from+sectorSize)
			}
		}
	}
}

func (c *memContent) write(p []byte, off int64) {
	end := off + int64(len(p))
	if size := int64(len(c.data)); off > size {
		c.truncate(off)
	}
	if end > int64(len(c.data)) {
		c.data = resize(c.data, end)
	}
	copy(c.data[off:end], p)
	c.mark(off, end)
}

func (c *memContent) truncate(size int64) {
	old := int64(len(c.data))
	c.data = resize(c.data, size)
	c.mark(min(old, size), max(old, size))
}

func (c *memContent) sync() {
	c.disk = resize(c.disk, int64(len(c.data)))
	c.eachDirty(func(from, to int64) {
		if from < int64(len(c.data)) {
			to = min(to, int64(len(c.data)))
			copy(c.disk[from:to], c.data[from:to])
		}
	})
	clear(c.dirty)
}

// crash is what a power cut may leave.
func (c *memContent) crash(dice *rand.Rand) []byte {
	size := crashSize(dice, int64(len(c.disk)), int64(len(c.data)))
	left := make([]byte, size)
	copy(left, c.disk)
	odds := dice.IntN(5) // of four: 0 loses every sector that was not synced, 4 keeps all
	c.eachDirty(func(from, to int64) {
		if from >= size || dice.IntN(4) >= odds {
			return
		}
		sector := left[from:min(to, size)]
		clear(sector)
		if from < int64(len(c.data)) {
			copy(sector, c.data[from:])
		}
	})
	return left
}

// crashSize is a size between the durable one and the one that programs saw. A file that shrank did so in one step.
func crashSize(dice *rand.Rand, disk, seen int64) int64 {
	switch choice := dice.IntN(3); {
	case choice == 0:
		return disk
	case choice == 1 || seen <= disk:
		return seen
	}
	return disk + dice.Int64N(seen-disk+1)
}

// resize cuts b or extends it with zeros.
func resize(b []byte, size int64) []byte {
	old := int64(len(b))
	if size <= old {
		return b[:size]
	}
	if size <= int64(cap(b)) {
		b = b[:size]
		clear(b[old:])
		return b
	}
	grown := make([]byte, size, max(size, 2*old))
	copy(grown, b)
	return grown
}
