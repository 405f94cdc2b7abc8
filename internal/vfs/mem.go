package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// MemFS is a file system in memory that knows what a power cut would leave of it.
//
// The model is harsher than ext4, and as harsh as POSIX allows:
//   - Bytes and sizes become durable by File.Sync and Volume.Sync only.
//   - Names become durable by SyncDir of their directory, and Volume.Sync. Syncing a file does not save its name.
//   - What is not durable may have reached the disk all the same, in any order: each sector of 512 bytes for itself, and each
//     creation, removal and rename for itself. A rename is atomic: the file is found under the old name or the new.
//   - A file that grew may be found at any length between, with zeros where a sector did not arrive.
//
// Paths are slash-separated; "/a", "a" and "./a" name the same file. Permissions are not enforced. MemFS may be used concurrently.
type MemFS struct {
	mu      sync.RWMutex
	root    *memNode
	pending []dirOp               // changes of names that are not durable, oldest first
	dirty   map[*memNode]struct{} // files with bytes or a size that are not durable
	locks   map[string]struct{}   // lock files held
	clock   int64                 // ticks per change; stands for the modification time
}

// NewMem returns an empty file system.
func NewMem() *MemFS {
	return &MemFS{root: newMemDir(), dirty: map[*memNode]struct{}{}, locks: map[string]struct{}{}}
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Open implements FS.
func (m *MemFS) Open(name string) (File, error) { return m.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile implements FS.
func (m *MemFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.openFile(name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return f, nil
}

func (m *MemFS) openFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, syscall.EINVAL
	}
	dir, base, node, err := m.lookup(name)
	switch {
	case err != nil:
		return nil, err
	case node != nil && node.isDir():
		return nil, syscall.EISDIR
	case node != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case node == nil && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	}
	if node == nil {
		m.clock++
		node = &memNode{content: new(memContent), mode: perm.Perm(), modTime: m.clock}
		m.record(dirOp{to: dir, toName: base, node: node})
	}
	access := flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
	if flag&os.O_TRUNC != 0 && access != os.O_RDONLY {
		m.change(node)
		node.content.truncate(0)
	}
	return &memFile{fs: m, node: node, name: name, access: access}, nil
}

// change notes that a file is about to differ from what is durable.
func (m *MemFS) change(node *memNode) {
	m.clock++
	node.modTime = m.clock
	m.dirty[node] = struct{}{}
}

// Remove implements FS.
func (m *MemFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, node, err := m.lookup(name)
	switch {
	case err != nil:
	case node == nil:
		err = fs.ErrNotExist
	case dir == nil:
		err = syscall.EBUSY
	case len(node.names) > 0:
		err = syscall.ENOTEMPTY
	default:
		m.record(dirOp{to: dir, toName: base})
	}
	return pathError("remove", name, err)
}

// RemoveAll implements FS. Each name beneath is a change of its own, so that a power cut may leave any part.
func (m *MemFS) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, node, err := m.lookup(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && node == nil {
		return nil
	}
	if err == nil && dir == nil {
		err = syscall.EBUSY
	}
	if err != nil {
		return pathError("removeall", name, err)
	}
	m.removeTree(dir, base, node)
	return nil
}

func (m *MemFS) removeTree(dir *memNode, base string, node *memNode) {
	for _, child := range sortedNames(node.names) {
		m.removeTree(node, child, node.names[child])
	}
	m.record(dirOp{to: dir, toName: base})
}

// Rename implements FS.
func (m *MemFS) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.rename(oldname, newname); err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (m *MemFS) rename(oldname, newname string) error {
	from, fromBase, node, err := m.lookup(oldname)
	if err != nil {
		return err
	}
	to, toBase, target, err := m.lookup(newname)
	switch {
	case err != nil:
		return err
	case node == nil:
		return fs.ErrNotExist
	case target != nil && target.isDir(): // package os refuses this before the system is asked
		return fs.ErrExist
	case from == nil || to == nil || within(oldname, newname):
		return syscall.EINVAL
	case node == target:
		return nil
	case target != nil && node.isDir():
		return syscall.ENOTDIR
	}
	m.record(dirOp{from: from, fromName: fromBase, to: to, toName: toBase, node: node})
	return nil
}

// MkdirAll implements FS.
func (m *MemFS) MkdirAll(name string, _ fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := m.root
	for _, part := range split(name) {
		child := dir.names[part]
		if child == nil {
			m.clock++
			child = newMemDir()
			child.modTime = m.clock
			m.record(dirOp{to: dir, toName: part, node: child})
		}
		if !child.isDir() {
			return pathError("mkdir", name, syscall.ENOTDIR)
		}
		dir = child
	}
	return nil
}

// ReadDir implements FS.
func (m *MemFS) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	node, err := m.find(name)
	if err == nil && !node.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	entries := make([]fs.DirEntry, 0, len(node.names))
	for _, child := range sortedNames(node.names) {
		entries = append(entries, fs.FileInfoToDirEntry(node.names[child].info(child)))
	}
	return entries, nil
}

// Stat implements FS.
func (m *MemFS) Stat(name string) (fs.FileInfo, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	node, err := m.find(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return node.info(path.Base(path.Clean("/" + filepath.ToSlash(name)))), nil
}

// SyncDir implements FS.
func (m *MemFS) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	node, err := m.find(name)
	if err == nil && !node.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return pathError("sync", name, err)
	}
	settled := map[*memNode]int{} // the last change of a node that is durable now; it covers the earlier ones
	kept := m.pending[:0:0]
	for i, op := range m.pending {
		if op.to == node || op.from == node {
			settle(m.pending, i, durableNames)
			settled[op.node] = i
		}
	}
	for i, op := range m.pending {
		upTo, ok := settled[op.node]
		mine := op.to == node || op.from == node
		covered := op.node != nil && ok && i < upTo
		if !mine && !covered {
			kept = append(kept, op)
		}
	}
	m.pending = kept
	return nil
}

// OpenVolume implements FS.
func (m *MemFS) OpenVolume(name string) (Volume, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(name); err != nil {
		return nil, pathError("open", name, err)
	}
	return memVolume{m}, nil
}

// memVolume is the whole of a MemFS.
type memVolume struct{ m *MemFS }

// Close implements Volume.
func (v memVolume) Close() error { return nil }

// Sync implements Volume.
func (v memVolume) Sync() error {
	m := v.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range m.pending {
		op.apply(durableNames)
	}
	m.pending = nil
	for node := range m.dirty {
		node.content.sync()
	}
	clear(m.dirty)
	return nil
}

// Lock implements FS.
func (m *MemFS) Lock(name string) (io.Closer, error) {
	f, err := m.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	key := strings.Join(split(name), "/")
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, held := m.locks[key]; held {
		return nil, pathError("lock", name, ErrLocked)
	}
	m.locks[key] = struct{}{}
	return &memLock{fs: m, key: key}, nil
}

// Usage implements FS: memory has no size that matters, so it reports a terabyte.
func (m *MemFS) Usage(name string) (Usage, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if _, err := m.find(name); err != nil {
		return Usage{}, pathError("statfs", name, err)
	}
	return Usage{Total: 1 << 40, Usable: 1 << 40}, nil
}

type memLock struct {
	fs   *MemFS
	key  string
	once sync.Once
}

// Close gives the lock back.
func (l *memLock) Close() error {
	err := fmt.Errorf("unlock: %w", fs.ErrClosed)
	l.once.Do(func() {
		l.fs.mu.Lock()
		defer l.fs.mu.Unlock()
		delete(l.fs.locks, l.key)
		err = nil
	})
	return err
}
