package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"moldau/internal/vfs"
)

// tailBytes is how many bytes of new entries stay in memory before they are written: one write for each ~half MiB of records.
const tailBytes = 1 << 10

// searchBlock is the run of entries that a search reads with one call once it has narrowed down to it.
const searchBlock = 256

// entryFile is an index on disk: entries of one fixed size in rising order, the newest ones in memory until there are enough to write.
// One writer, who holds the log's append lock; any number of readers. An index can be rebuilt from its segment, so writes are lazy and
// never synced except when the segment is closed.
type entryFile struct {
	cache *fileCache
	width int

	mu      sync.Mutex
	file    *file  // replaced when the index is rebuilt
	written int    // entries in the file
	ragged  bool   // and a piece of one behind them, after a crash
	tail    []byte // entries behind them, not yet in the file; only ever appended to or replaced, so readers may keep it
}

// dirty tells whether entries await being written.
func (e *entryFile) dirty() bool {
	_, _, tail := e.snapshot()
	return len(tail) > 0
}

// snapshot returns what a reader may look at.
func (e *entryFile) snapshot() (f *file, written int, tail []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file, e.written, e.tail
}

// current returns the file.
func (e *entryFile) current() *file {
	f, _, _ := e.snapshot()
	return f
}

// replace takes over the file and the entries of another one, whose file has this one's name by now.
func (e *entryFile) replace(by *entryFile) {
	f, written, tail := by.snapshot()
	e.mu.Lock()
	old := e.file
	e.file, e.written, e.tail = f, written, tail
	e.mu.Unlock()
	e.cache.drop(old)
}

// count returns the number of entries.
func (e *entryFile) count() int {
	_, n, tail := e.snapshot()
	return n + len(tail)/e.width
}

// add appends an entry. It never fails: what can't be written yet stays in memory, and flush reports it.
func (e *entryFile) add(entry []byte) {
	e.mu.Lock()
	e.tail = append(e.tail, entry...)
	full := len(e.tail) >= tailBytes
	e.mu.Unlock()
	if full {
		_ = e.flush() // kept in memory and tried again later: the index is only complete at close
	}
}

// flush writes the tail to the file.
func (e *entryFile) flush() error {
	f, written, tail := e.snapshot()
	if len(tail) == 0 {
		return nil
	}
	h, err := e.cache.pin(f, os.O_CREATE)
	if err != nil {
		return err
	}
	defer e.cache.unpin(f)
	if _, err := h.WriteAt(tail, int64(written*e.width)); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	e.mu.Lock()
	e.written += len(tail) / e.width
	e.tail = nil
	e.mu.Unlock()
	return nil
}

// seal flushes, and cuts off whatever lies behind the last entry, so that the file is exactly its entries.
func (e *entryFile) seal() error {
	if err := e.flush(); err != nil {
		return err
	}
	f, written, _ := e.snapshot()
	h, err := e.cache.pin(f, os.O_CREATE)
	if err != nil {
		return err
	}
	defer e.cache.unpin(f)
	size, err := h.Size()
	if err != nil {
		return err
	}
	if want := int64(written * e.width); size != want {
		return h.Truncate(want)
	}
	return nil
}

// cut keeps the first n entries.
func (e *entryFile) cut(n int) error {
	f, written, tail := e.snapshot()
	if n == written && len(tail) == 0 && !e.ragged {
		return nil
	}
	if n > written {
		keep := (n - written) * e.width
		e.mu.Lock()
		e.tail = append([]byte(nil), tail[:min(keep, len(tail))]...)
		e.mu.Unlock()
		return nil
	}
	e.mu.Lock()
	e.written, e.tail, e.ragged = n, nil, false
	e.mu.Unlock()
	h, err := e.cache.pin(f, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer e.cache.unpin(f)
	return h.Truncate(int64(n * e.width))
}

// entryReader reads entries of one snapshot; the file stays pinned meanwhile.
type entryReader struct {
	e       *entryFile
	f       *file
	h       vfs.File
	written int
	tail    []byte
	block   []byte // entries first..first+len/width-1 of the file
	first   int
	pooled  *[blockBytes]byte // the memory of block
}

// blockBytes is the memory for searchBlock entries of either index.
const blockBytes = searchBlock * timeEntryLen

var blocks = sync.Pool{New: func() any { return new([blockBytes]byte) }}

// reader pins the file if it holds entries. Call done in the end.
func (e *entryFile) reader() (entryReader, error) {
	r := entryReader{e: e}
	r.f, r.written, r.tail = e.snapshot()
	if r.written == 0 {
		return r, nil
	}
	h, err := e.cache.pin(r.f, 0)
	if err != nil {
		return r, err
	}
	r.h = h
	return r, nil
}

func (r *entryReader) done() {
	if r.pooled != nil {
		blocks.Put(r.pooled)
		r.pooled, r.block = nil, nil
	}
	if r.h != nil {
		r.e.cache.unpin(r.f)
	}
}

func (r *entryReader) count() int { return r.written + len(r.tail)/r.e.width }

// entry returns entry i; the slice is valid until the next call.
func (r *entryReader) entry(i int) ([]byte, error) {
	w := r.e.width
	if i >= r.written {
		off := (i - r.written) * w
		return r.tail[off : off+w], nil
	}
	if i < r.first || i >= r.first+len(r.block)/w {
		if err := r.load(i, i+1); err != nil {
			return nil, err
		}
	}
	off := (i - r.first) * w
	return r.block[off : off+w], nil
}

// load reads the file's entries from lo to hi-1.
func (r *entryReader) load(lo, hi int) error {
	w := r.e.width
	if r.pooled == nil {
		r.pooled = blocks.Get().(*[blockBytes]byte)
	}
	hi = min(hi, r.written, lo+searchBlock)
	r.block, r.first = r.pooled[:(hi-lo)*w], lo
	n, err := r.h.ReadAt(r.block, int64(lo*w))
	if n < len(r.block) {
		r.block = r.block[:0]
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s is shorter than its %d entries: %w", r.f.path, r.written, ErrCorrupt)
		}
		return err
	}
	return nil
}

// last returns the index of the last entry for which ok holds, -1 if there is none. ok must hold for a prefix of the entries.
func (r *entryReader) last(ok func(entry []byte) bool) (int, error) {
	lo, hi := 0, r.count() // ok holds below lo, and does not from hi on
	for lo < hi {
		if inFile := min(hi, r.written) - lo; inFile > 0 && inFile <= searchBlock && !r.holds(lo, lo+inFile) {
			if err := r.load(lo, lo+inFile); err != nil {
				return -1, err
			}
		}
		mid := int(uint(lo+hi) >> 1) //nolint:gosec // both are counts
		entry, err := r.entry(mid)
		if err != nil {
			return -1, err
		}
		if ok(entry) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1, nil
}

// leading counts the entries before the first one for which ok does not hold.
func (e *entryFile) leading(ok func(entry []byte) bool) (int, error) {
	r, err := e.reader()
	if err != nil {
		return 0, err
	}
	defer r.done()
	for i := range r.count() {
		if i%searchBlock == 0 && i < r.written {
			if err := r.load(i, i+searchBlock); err != nil {
				return 0, err
			}
		}
		entry, err := r.entry(i)
		if err != nil {
			return 0, err
		}
		if !ok(entry) {
			return i, nil
		}
	}
	return r.count(), nil
}

// holds tells whether the block in memory covers the entries from lo to hi-1.
func (r *entryReader) holds(lo, hi int) bool {
	return r.first <= lo && hi <= r.first+len(r.block)/r.e.width
}
