package check

import (
	"cmp"
	"fmt"
	"slices"
)

// Cyclic (I11, G0 and G1c) finds transactions that come after each other in a circle. One comes after another when it read an
// element of the other's (write-read), when it began after the other was known to be committed (time), and when its element
// stands behind the other's in a list although it was the first by time (write-write). Transactions that were open at the same
// time have no order of appends: Kafka lets each append to its partitions as it comes, so two lists may have them in contrary
// orders. The circles are the strongly connected components of that graph, by Tarjan's algorithm.
func Cyclic(h TxnHistory) []Violation {
	var out []Violation
	for _, c := range dependencies(h).components() {
		c = slices.DeleteFunc(c, func(node int) bool { return node < 0 })
		if len(c) > 1 {
			slices.Sort(c)
			out = append(out, Violation{"cycle", fmt.Sprintf("transactions %v come after each other", c)})
		}
	}
	return out
}

// graph has the ids of transactions as nodes, which are positive, and points in time as negative ones.
type graph map[int][]int

func dependencies(h TxnHistory) graph {
	g := graph{}
	g.addReads(h)
	g.addTime(h)
	g.addWrites(h)
	return g
}

// addReads leads from writers to their readers.
func (g graph) addReads(h TxnHistory) {
	by := h.writers()
	for i := range h.Txns {
		reader := &h.Txns[i]
		from := map[int]bool{reader.ID: true}
		for p, list := range reader.Reads {
			for _, e := range list {
				if w := by[Item{p, e}]; w != nil && !from[w.ID] {
					from[w.ID] = true
					g[w.ID] = append(g[w.ID], reader.ID)
				}
			}
		}
	}
}

// addTime leads from what was committed to everything that began later. One node for each end, each with an edge to the next,
// keeps that as short as the history.
func (g graph) addTime(h TxnHistory) {
	ended := make([]*Txn, 0, len(h.Txns))
	for i := range h.Txns {
		if h.Txns[i].End > 0 {
			ended = append(ended, &h.Txns[i])
		}
	}
	slices.SortFunc(ended, func(a, b *Txn) int { return cmp.Compare(a.End, b.End) })
	for i, x := range ended {
		point := -1 - i
		g[x.ID] = append(g[x.ID], point)
		if i > 0 {
			g[point+1] = append(g[point+1], point)
		}
	}
	for i := range h.Txns {
		x := &h.Txns[i]
		before, _ := slices.BinarySearchFunc(ended, x.Begin, func(e *Txn, begin int64) int { return cmp.Compare(e.End, begin) })
		if before > 0 {
			g[-before] = append(g[-before], x.ID)
		}
	}
}

// addWrites leads from the youngest of the transactions in front of an element to the one that appended it, if that one had ended
// before. Lists that agree with the time add nothing to it.
func (g graph) addWrites(h TxnHistory) {
	by := h.writers()
	for p, list := range h.Final {
		var youngest *Txn
		for _, e := range list {
			x := by[Item{p, e}]
			if x == nil {
				continue
			}
			if youngest != nil && x.End > 0 && x.End < youngest.Begin {
				g[youngest.ID] = append(g[youngest.ID], x.ID)
			}
			if youngest == nil || x.Begin > youngest.Begin {
				youngest = x
			}
		}
	}
}

// components returns the strongly connected components. It keeps its own stack, as histories are longer than call stacks should be.
func (g graph) components() [][]int {
	t := tarjan{g: g, index: map[int]int{}, low: map[int]int{}, on: map[int]bool{}}
	nodes := make([]int, 0, len(g))
	for n := range g {
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	for _, n := range nodes {
		if _, seen := t.index[n]; !seen {
			t.visit(n)
		}
	}
	return t.out
}

type tarjan struct {
	g          graph
	index, low map[int]int
	on         map[int]bool
	stack      []int
	out        [][]int
}

// frame is a node on the way, with the next of its edges.
type frame struct{ node, edge int }

func (t *tarjan) visit(root int) {
	way := []frame{t.enter(root)}
	for len(way) > 0 {
		f := &way[len(way)-1]
		if f.edge < len(t.g[f.node]) {
			to := t.g[f.node][f.edge]
			f.edge++
			if _, seen := t.index[to]; !seen {
				way = append(way, t.enter(to))
			} else if t.on[to] {
				t.low[f.node] = min(t.low[f.node], t.index[to])
			}
			continue
		}
		node := f.node
		t.leave(node)
		if way = way[:len(way)-1]; len(way) > 0 {
			parent := way[len(way)-1].node
			t.low[parent] = min(t.low[parent], t.low[node])
		}
	}
}

func (t *tarjan) enter(n int) frame {
	t.index[n], t.low[n] = len(t.index), len(t.index)
	t.stack, t.on[n] = append(t.stack, n), true
	return frame{node: n}
}

// leave takes the component off the stack that a node is the root of.
func (t *tarjan) leave(n int) {
	if t.low[n] != t.index[n] {
		return
	}
	at := len(t.stack)
	for done := false; !done; {
		at--
		t.on[t.stack[at]], done = false, t.stack[at] == n
	}
	t.out = append(t.out, slices.Clone(t.stack[at:]))
	t.stack = t.stack[:at]
}
