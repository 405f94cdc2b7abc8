package vfs

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// memNode is a file or a directory; exactly one of content and names is set.
type memNode struct {
	content *memContent
	names   map[string]*memNode // what programs see
	durable map[string]*memNode // what is surely on disk
	mode    fs.FileMode
	modTime int64
}

func newMemDir() *memNode {
	return &memNode{names: map[string]*memNode{}, durable: map[string]*memNode{}, mode: fs.ModeDir | 0o755}
}

func (n *memNode) isDir() bool { return n.names != nil }

// dirOp is one change of names: to.name now is node (nil: nothing), and from.name, where from is set, is gone. It happens whole or
// not at all.
type dirOp struct {
	from     *memNode
	fromName string
	to       *memNode
	toName   string
	node     *memNode
}

// names is a view of the directories: the names in one of them.
type names func(*memNode) map[string]*memNode

// apply makes the change in a view.
func (op *dirOp) apply(view names) {
	if op.from != nil {
		op.unlink(view(op.from), op.fromName)
	}
	if op.node == nil {
		delete(view(op.to), op.toName)
		return
	}
	view(op.to)[op.toName] = op.node
}

// unlink takes the name away if it still stands for the node.
func (op *dirOp) unlink(in map[string]*memNode, name string) {
	if in[name] == op.node {
		delete(in, name)
	}
}

// settle applies ops[i] to a view in which earlier changes may be missing. A node that moved twice must not stay where it was before the
// move that is missing.
func settle(ops []dirOp, i int, view names) {
	for _, earlier := range ops[:i] {
		if ops[i].node != nil && earlier.node == ops[i].node && earlier.from != nil {
			earlier.unlink(view(earlier.from), earlier.fromName)
		}
	}
	ops[i].apply(view)
}

func visibleNames(n *memNode) map[string]*memNode { return n.names }

func durableNames(n *memNode) map[string]*memNode { return n.durable }

// record makes a change visible and remembers that it is not durable.
func (m *MemFS) record(op dirOp) {
	op.apply(visibleNames)
	m.pending = append(m.pending, op)
}

// split cuts a path into the names on the way.
func split(name string) []string {
	clean := strings.Trim(path.Clean("/"+filepath.ToSlash(name)), "/")
	if clean == "" {
		return nil
	}
	return strings.Split(clean, "/")
}

// lookup walks to a path. node is nil where the last name does not exist; dir is then its directory.
func (m *MemFS) lookup(name string) (dir *memNode, base string, node *memNode, err error) {
	node = m.root
	for _, part := range split(name) {
		if node == nil {
			return nil, "", nil, fs.ErrNotExist
		}
		if !node.isDir() {
			return nil, "", nil, syscall.ENOTDIR
		}
		dir, base, node = node, part, node.names[part]
	}
	return dir, base, node, nil
}

// find is lookup for what must exist.
func (m *MemFS) find(name string) (*memNode, error) {
	_, _, node, err := m.lookup(name)
	if err == nil && node == nil {
		err = fs.ErrNotExist
	}
	return node, err
}

// within tells whether name lies beneath dir.
func within(dir, name string) bool {
	d, n := split(dir), split(name)
	return len(n) > len(d) && slices.Equal(d, n[:len(d)])
}

func sortedNames(names map[string]*memNode) []string {
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}

// info describes the node under a name.
func (n *memNode) info(name string) fs.FileInfo {
	i := memInfo{name: name, mode: n.mode, modTime: time.Unix(0, n.modTime)}
	if n.content != nil {
		i.size = int64(len(n.content.data))
	}
	return i
}

type memInfo struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
}

// Name implements fs.FileInfo.
func (i memInfo) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i memInfo) Size() int64 { return i.size }

// Mode implements fs.FileInfo.
func (i memInfo) Mode() fs.FileMode { return i.mode }

// ModTime implements fs.FileInfo: a count of changes, not a time of day.
func (i memInfo) ModTime() time.Time { return i.modTime }

// IsDir implements fs.FileInfo.
func (i memInfo) IsDir() bool { return i.mode.IsDir() }

// Sys implements fs.FileInfo.
func (i memInfo) Sys() any { return nil }
