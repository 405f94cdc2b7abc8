package vfs

import (
	"math/rand/v2"
)

// CrashClone returns the file system as it may be found after a power cut at this moment. m itself goes on unharmed. The same history
// and seed give the same answer; in the answer everything is durable, and no locks are held. It may be called while others use m.
func (m *MemFS) CrashClone(seed uint64) *MemFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	dice := rand.New(rand.NewPCG(seed, 0x6d6f6c646175))
	survivors := crashNames{view: map[*memNode]map[string]*memNode{}}
	odds := dice.IntN(5)
	for i := range m.pending {
		if dice.IntN(4) < odds {
			settle(m.pending, i, survivors.of)
		}
	}
	clone := NewMem()
	clone.clock = m.clock
	copied := map[*memNode]*memNode{m.root: clone.root}
	survivors.copyDir(dice, m.root, clone.root, copied)
	return clone
}

// crashNames are the names of each directory after the cut, made from the durable ones as the dice ask for more.
type crashNames struct {
	view map[*memNode]map[string]*memNode
}

func (c *crashNames) of(dir *memNode) map[string]*memNode {
	names, ok := c.view[dir]
	if !ok {
		names = make(map[string]*memNode, len(dir.durable))
		for name, node := range dir.durable {
			names[name] = node
		}
		c.view[dir] = names
	}
	return names
}

// copyDir fills to with what survived of from. A node that is found under two names stays one node.
func (c *crashNames) copyDir(dice *rand.Rand, from, to *memNode, copied map[*memNode]*memNode) {
	names := c.of(from)
	for _, name := range sortedNames(names) {
		node := names[name]
		twin, ok := copied[node]
		if !ok {
			twin = &memNode{mode: node.mode, modTime: node.modTime}
			copied[node] = twin
			if node.isDir() {
				twin.names, twin.durable = map[string]*memNode{}, map[string]*memNode{}
				c.copyDir(dice, node, twin, copied)
			} else {
				data := node.content.crash(dice)
				twin.content = &memContent{data: data, disk: append([]byte(nil), data...)}
			}
		}
		to.names[name], to.durable[name] = twin, twin
	}
}
