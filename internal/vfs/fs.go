package vfs

import (
	"io"
	"io/fs"
)

// FS is a file system. All methods may be called concurrently. Errors are *fs.PathError, *os.LinkError or wrap such, so that
// errors.Is(err, fs.ErrNotExist) and errors.Is(err, syscall.ENOSPC) work on every implementation.
type FS interface {
	// Open opens a file for reading only.
	Open(name string) (File, error)
	// OpenFile opens a file with the flags of package os. os.O_APPEND is refused: all writes name their offset.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Remove deletes a file or an empty directory.
	Remove(name string) error
	// RemoveAll deletes name and all beneath it. A missing name is no error.
	RemoveAll(name string) error
	// Rename moves oldname to newname atomically and replaces a file of that name.
	Rename(oldname, newname string) error
	// MkdirAll makes a directory and its missing parents.
	MkdirAll(name string, perm fs.FileMode) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat describes a file or directory.
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals inside the directory durable.
	SyncDir(name string) error
	// OpenVolume opens the file system that holds the directory name, to make it durable as a whole.
	OpenVolume(name string) (Volume, error)
	// Lock takes the exclusive lock file name, creating it, and holds it until the returned closer is closed or the process
	// ends. It does not wait: the error wraps ErrLocked while somebody else holds it.
	Lock(name string) (io.Closer, error)
	// Usage reports the size of the file system that holds name. The answer wraps errors.ErrUnsupported where the platform does
	// not tell.
	Usage(name string) (Usage, error)
}

// File is an open file. ReadAt and WriteAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Name is the name the file was opened by.
	Name() string
	// Size is the current length in bytes.
	Size() (int64, error)
	// Truncate cuts the file, or extends it with zeros.
	Truncate(size int64) error
	// Preallocate asks for disk blocks for n bytes at off without changing the file's size, so that later appends need no
	// allocation. Best effort: nil where the file system cannot do it. A lack of space is an error.
	Preallocate(off, n int64) error
	// Sync makes the file's bytes and size durable (fdatasync). It does not make the file's name durable: see FS.SyncDir.
	// After an error the state of the file on disk is unknown, and calling again proves nothing.
	Sync() error
	// Fd returns the descriptor for sendfile. ok is false where there is none, or where reads must pass through ReadAt.
	Fd() (fd uintptr, ok bool)
}

// Volume is a whole file system. It is opened before the writes that it is to make durable: a write that fails in the background is
// reported to each volume that was open at the time, but to a later one only if nobody else has been told.
type Volume interface {
	io.Closer
	// Sync makes everything written to the file system durable with one call (syncfs), and reports what could not be written since the
	// volume was opened or synced before. The answer wraps errors.ErrUnsupported where the platform has no such call; use File.Sync on
	// each file and FS.SyncDir then.
	Sync() error
}

// Usage is the room on a file system in bytes.
type Usage struct {
	Total  int64 // size of the file system
	Usable int64 // what is left for this process
}
