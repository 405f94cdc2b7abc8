package storage

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"moldau/internal/vfs"
)

const (
	fallbackMaxOpenFiles = 8192
	minOpenFiles         = 128
)

// fileCache keeps the descriptors of segments and indexes within one budget. Files are opened when they are pinned and stay open,
// least recently used ones first to go, until the budget is used up. The budget is soft: when every open file is pinned (unflushed or
// being read) one more is opened, and pressure is called so that the flushers let go of what they hold.
type fileCache struct {
	fs       vfs.FS
	budget   int
	pressure func()

	mu   sync.Mutex
	open int
	lru  file // sentinel of the ring of unpinned open files: lru.next was used last
}

// file is a file that the cache may open and close at will. Its fields belong to the cache's lock.
type file struct {
	path string
	f    vfs.File
	pins int
	gone bool // deleted or closed: no more pins, and no descriptor once the last pin is gone

	prev, next *file
}

func newFileCache(fsys vfs.FS, budget int, pressure func()) *fileCache {
	c := &fileCache{fs: fsys, budget: budget, pressure: pressure}
	c.lru.prev, c.lru.next = &c.lru, &c.lru
	return c
}

// pin opens the file if need be and keeps it open until unpin. flag is added to O_RDWR.
func (c *fileCache) pin(f *file, flag int) (vfs.File, error) {
	c.mu.Lock()
	if f.gone {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	if f.f != nil {
		if f.pins == 0 {
			f.unlink()
		}
		f.pins++
		h := f.f
		c.mu.Unlock()
		return h, nil
	}
	path := f.path
	c.mu.Unlock()

	h, err := c.fs.OpenFile(path, os.O_RDWR|flag, 0o644)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		c.closeIdle()
		h, err = c.fs.OpenFile(path, os.O_RDWR|flag, 0o644)
	}
	if err != nil {
		return nil, err
	}
	return c.adopt(f, h)
}

// adopt pins f with a descriptor that was just opened, or with one that somebody else opened meanwhile.
func (c *fileCache) adopt(f *file, h vfs.File) (vfs.File, error) {
	c.mu.Lock()
	var extra vfs.File
	switch {
	case f.gone:
		c.mu.Unlock()
		return nil, errors.Join(ErrClosed, h.Close())
	case f.f != nil:
		extra = h
		if f.pins == 0 {
			f.unlink()
		}
	default:
		f.f = h
		c.open++
	}
	f.pins++
	h = f.f
	victims, over := c.shrink(), c.open > c.budget
	c.mu.Unlock()
	if extra != nil {
		_ = extra.Close() // nothing was written through it
	}
	closeAll(victims)
	if over && c.pressure != nil {
		c.pressure()
	}
	return h, nil
}

// unpin ends one pin.
func (c *fileCache) unpin(f *file) {
	c.mu.Lock()
	f.pins--
	if f.pins > 0 {
		c.mu.Unlock()
		return
	}
	var victims []vfs.File
	if f.gone {
		victims = append(victims, f.f)
		f.f = nil
		c.open--
	} else {
		f.link(&c.lru)
		victims = c.shrink()
	}
	c.mu.Unlock()
	closeAll(victims)
}

// drop closes the file for good, at once or with its last pin.
func (c *fileCache) drop(f *file) {
	c.mu.Lock()
	f.gone = true
	var h vfs.File
	if f.f != nil && f.pins == 0 {
		if f.next != nil {
			f.unlink()
		}
		h, f.f = f.f, nil
		c.open--
	}
	c.mu.Unlock()
	if h != nil {
		_ = h.Close() // all that matters was flushed by the flusher
	}
}

// rename moves the file on disk; later opens use the new name.
func (c *fileCache) rename(f *file, to string) error {
	c.mu.Lock()
	from := f.path
	f.path = to
	c.mu.Unlock()
	if err := c.fs.Rename(from, to); err != nil {
		c.mu.Lock()
		f.path = from
		c.mu.Unlock()
		return err
	}
	return nil
}

// retire is rename for a file whose name another one takes: also where there is no such file, the old name is not used any more.
func (c *fileCache) retire(f *file, to string) error {
	from := f.path
	err := c.rename(f, to)
	if errors.Is(err, fs.ErrNotExist) {
		c.mu.Lock()
		if f.path == from {
			f.path = to
		}
		c.mu.Unlock()
	}
	return err
}

// pinned tells whether somebody uses the file.
func (c *fileCache) pinned(f *file) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f.pins > 0
}

// openFiles returns how many descriptors are open.
func (c *fileCache) openFiles() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// shrink takes unpinned files out until the budget is kept; the caller closes them outside the lock.
func (c *fileCache) shrink() (victims []vfs.File) {
	for c.open > c.budget && c.lru.prev != &c.lru {
		victims = append(victims, c.evict())
	}
	return victims
}

func (c *fileCache) evict() vfs.File {
	f := c.lru.prev
	f.unlink()
	h := f.f
	f.f = nil
	c.open--
	return h
}

// closeIdle closes every unpinned file: the process ran out of descriptors.
func (c *fileCache) closeIdle() {
	var victims []vfs.File
	c.mu.Lock()
	for c.lru.prev != &c.lru {
		victims = append(victims, c.evict())
	}
	c.mu.Unlock()
	closeAll(victims)
}

func closeAll(files []vfs.File) {
	for _, f := range files {
		_ = f.Close() // what must last was flushed while it was pinned; indexes can be rebuilt
	}
}

func (f *file) link(after *file) {
	f.prev, f.next = after, after.next
	after.next.prev, after.next = f, f
}

func (f *file) unlink() {
	f.prev.next, f.next.prev = f.next, f.prev
	f.prev, f.next = nil, nil
}
