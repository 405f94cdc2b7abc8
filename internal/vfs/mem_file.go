package vfs

import (
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

// memFile is an open file of a MemFS. The file's bytes outlive its name while it is open.
type memFile struct {
	fs     *MemFS
	node   *memNode
	name   string
	access int
	closed atomic.Bool
}

// Name implements File.
func (f *memFile) Name() string { return f.name }

// Fd implements File.
func (f *memFile) Fd() (uintptr, bool) { return 0, false }

// Close implements File.
func (f *memFile) Close() error {
	if f.closed.Swap(true) {
		return pathError("close", f.name, fs.ErrClosed)
	}
	return nil
}

// usable tells why the file cannot be used in the way asked for.
func (f *memFile) usable(off int64, write bool) error {
	switch {
	case f.closed.Load():
		return fs.ErrClosed
	case off < 0:
		return syscall.EINVAL
	case write && f.access == os.O_RDONLY, !write && f.access == os.O_WRONLY:
		return syscall.EBADF
	}
	return nil
}

// ReadAt implements File.
func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.usable(off, false); err != nil {
		return 0, pathError("read", f.name, err)
	}
	f.fs.mu.RLock()
	defer f.fs.mu.RUnlock()
	data := f.node.content.data
	if off >= int64(len(data)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements File.
func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.usable(off, true); err != nil {
		return 0, pathError("write", f.name, err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.change(f.node)
	f.node.content.write(p, off)
	return len(p), nil
}

// Size implements File.
func (f *memFile) Size() (int64, error) {
	if f.closed.Load() {
		return 0, pathError("stat", f.name, fs.ErrClosed)
	}
	f.fs.mu.RLock()
	defer f.fs.mu.RUnlock()
	return int64(len(f.node.content.data)), nil
}

// Truncate implements File.
func (f *memFile) Truncate(size int64) error {
	if err := f.usable(size, true); err != nil {
		return pathError("truncate", f.name, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.change(f.node)
	f.node.content.truncate(size)
	return nil
}

// Preallocate implements File.
func (f *memFile) Preallocate(off, n int64) error {
	return pathError("fallocate", f.name, f.usable(min(off, n), true))
}

// Sync implements File.
func (f *memFile) Sync() error {
	if f.closed.Load() {
		return pathError("fdatasync", f.name, fs.ErrClosed)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.node.content.sync()
	delete(f.fs.dirty, f.node)
	return nil
}
