package group

import (
	"container/heap"
	"time"
)

// deadlines orders groups by when they want to be looked at.
type deadlines struct{ groups []*group }

var _ heap.Interface = (*deadlines)(nil)

// Len implements heap.Interface.
func (d *deadlines) Len() int { return len(d.groups) }

// Less implements heap.Interface.
func (d *deadlines) Less(i, j int) bool { return d.groups[i].due.Before(d.groups[j].due) }

// Swap implements heap.Interface.
func (d *deadlines) Swap(i, j int) {
	d.groups[i], d.groups[j] = d.groups[j], d.groups[i]
	d.groups[i].heapIndex, d.groups[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	g := x.(*group)
	g.heapIndex = len(d.groups)
	d.groups = append(d.groups, g)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	n := len(d.groups) - 1
	g := d.groups[n]
	d.groups[n] = nil
	d.groups = d.groups[:n]
	g.heapIndex = -1
	return g
}

// schedule gives a group its place after its due time has changed.
func (d *deadlines) schedule(g *group) {
	if g.heapIndex < 0 {
		heap.Push(d, g)
		return
	}
	heap.Fix(d, g.heapIndex)
}

// forget takes a group out.
func (d *deadlines) forget(g *group) {
	if g.heapIndex >= 0 {
		heap.Remove(d, g.heapIndex)
	}
	g.due = time.Time{}
}

// next returns when the first group is due; zero is never.
func (d *deadlines) next() time.Time {
	if len(d.groups) == 0 {
		return time.Time{}
	}
	return d.groups[0].due
}

// take returns a group that is due, or nil.
func (d *deadlines) take(now time.Time) *group {
	if len(d.groups) == 0 || d.groups[0].due.After(now) {
		return nil
	}
	g := heap.Pop(d).(*group)
	g.due = time.Time{}
	return g
}
