package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrLocked says that another holder has the lock file.
var ErrLocked = errors.New("locked by another holder")

// OS is the file system of the machine.
var OS FS = osFS{}

type osFS struct{}

// Open implements FS.
func (osFS) Open(name string) (File, error) {
	return osFS{}.OpenFile(name, os.O_RDONLY, 0)
}

// OpenFile implements FS.
func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EINVAL}
	}
	f, err := os.OpenFile(name, flag, perm) //nolint:gosec // a file system opens what it is told to
	if err != nil {
		return nil, err
	}
	return &osFile{f}, nil
}

// Remove implements FS.
func (osFS) Remove(name string) error { return os.Remove(name) }

// RemoveAll implements FS.
func (osFS) RemoveAll(name string) error { return os.RemoveAll(name) }

// Rename implements FS.
func (osFS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// MkdirAll implements FS.
func (osFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// ReadDir implements FS.
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat implements FS.
func (osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir implements FS.
func (osFS) SyncDir(name string) error {
	d, err := os.Open(name) //nolint:gosec // a file system opens what it is told to
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", name, err), d.Close())
	}
	return d.Close()
}

// OpenVolume implements FS.
func (osFS) OpenVolume(name string) (Volume, error) {
	d, err := os.Open(name) //nolint:gosec // a file system opens what it is told to
	if err != nil {
		return nil, err
	}
	return osVolume{d}, nil
}

// Lock implements FS.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // a file system opens what it is told to
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		err = &fs.PathError{Op: "lock", Path: name, Err: err}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Usage implements FS.
func (osFS) Usage(name string) (Usage, error) {
	u, err := statfs(name)
	if err != nil {
		return Usage{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return u, nil
}

// osVolume is a file system, by a directory in it.
type osVolume struct{ dir *os.File }

// Sync implements Volume.
func (v osVolume) Sync() error {
	if err := syncfs(v.dir); err != nil {
		return &fs.PathError{Op: "syncfs", Path: v.dir.Name(), Err: err}
	}
	return nil
}

// Close implements Volume.
func (v osVolume) Close() error { return v.dir.Close() }

type osFile struct{ f *os.File }

// ReadAt implements File.
func (o *osFile) ReadAt(p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }

// WriteAt implements File.
func (o *osFile) WriteAt(p []byte, off int64) (int, error) { return o.f.WriteAt(p, off) }

// Close implements File.
func (o *osFile) Close() error { return o.f.Close() }

// Name implements File.
func (o *osFile) Name() string { return o.f.Name() }

// Truncate implements File.
func (o *osFile) Truncate(size int64) error { return o.f.Truncate(size) }

// Fd implements File.
func (o *osFile) Fd() (uintptr, bool) { return o.f.Fd(), true }

// Size implements File.
func (o *osFile) Size() (int64, error) {
	info, err := o.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Preallocate implements File.
func (o *osFile) Preallocate(off, n int64) error {
	if n <= 0 {
		return nil
	}
	if err := fallocate(o.f, off, n); err != nil {
		return &fs.PathError{Op: "fallocate", Path: o.f.Name(), Err: err}
	}
	return nil
}

// Sync implements File.
func (o *osFile) Sync() error {
	if err := fdatasync(o.f); err != nil {
		return &fs.PathError{Op: "fdatasync", Path: o.f.Name(), Err: err}
	}
	return nil
}
