package check

import (
	"fmt"
	"slices"
)

// Cyclic (I11, G1c) finds transactions that read each other in a circle: one depends on another when it read an element of
// the other's, which was committed then. The circles are the strongly connected components of that graph, by Tarjan's
// algorithm. The order of appends is no dependency: Kafka's transactions that are open at the same time append to their
// partitions as they come, so two lists may have them in contrary orders (G0).
func Cyclic(h TxnHistory) []Violation {
	var out []Violation
	for _, c := range dependencies(h).components() {
		if len(c) > 1 {
			slices.Sort(c)
			out = append(out, Violation{"cycle", fmt.Sprintf("transactions %v read each other", c)})
		}
	}
	return out
}

// graph has the ids of transactions as nodes.
type graph map[int][]int

func dependencies(h TxnHistory) graph {
	by, g := h.writers(), graph{}
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
	return g
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
