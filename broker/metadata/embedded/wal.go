package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Badger writes its log (one NNNNN.mem file per memtable) through a memory map over a sparse file. On a full disk such a
// write is not an error but a SIGBUS that kills the process. So every log gets its blocks before Badger writes to it: the
// current one right after Badger has opened it, the next one by being created here, empty but with blocks allocated
// behind its end. Badger opens an empty file of the expected name as if it had created it, and growing a file keeps such
// blocks. Besides, the next log's directory entry is made durable, which Badger does not do.
type wal struct {
	dir  string
	next string // path of the file created for the next memtable
}

const walSuffix = ".mem"

// cleanWAL removes the empty file that the last run had created for its next memtable, which Badger would refuse.
func cleanWAL(dir string) error {
	ids, err := walIDs(dir)
	if err != nil {
		return err
	}
	for _, id := range ids {
		path := walPath(dir, id)
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		if st.Size() > 0 {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// openWAL allocates the log that Badger has just opened and the one after it.
func openWAL(dir string) (*wal, error) {
	ids, err := walIDs(dir)
	if err != nil {
		return nil, err
	}
	current := 0
	for _, id := range ids {
		current = max(current, id)
	}
	f, err := os.OpenFile(walPath(dir, current), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(allocate(f, walBytes), f.Close()); err != nil {
		return nil, err
	}
	w := &wal{dir: dir, next: walPath(dir, current)}
	return w, w.create(current + 1)
}

// create makes the file for the memtable after the current one.
func (w *wal) create(id int) error {
	path := walPath(w.dir, id)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(allocate(f, walBytes), f.Sync(), f.Close(), syncDir(w.dir)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	w.next = path
	return nil
}

// rotated reports whether Badger has begun to use the file for the next memtable. It is asked after every commit, and before one
// when advance failed the last time; it costs one stat of a file.
func (w *wal) rotated() (bool, error) {
	st, err := os.Stat(w.next)
	switch {
	case errors.Is(err, fs.ErrNotExist): // used, flushed and deleted already
		return true, nil
	case err != nil:
		return false, err
	}
	return st.Size() > 0, nil
}

// advance creates the next file once Badger has begun to use the last one.
func (w *wal) advance() error {
	id, err := walID(filepath.Base(w.next))
	if err != nil {
		return err
	}
	return w.create(id + 1)
}

// flushTimeout bounds the wait for a flush; it takes some 20 ms.
const flushTimeout = 5 * time.Second

// awaitFlush waits until the memtable of the full log, which is the one before the one that Badger has begun to use, has
// become a table, and the log is gone. Badger writes the table in the background, through a memory map over a sparse file
// again; waiting for it means that nothing is being written so while the store is at rest, where the space that was checked
// before could be taken by others. A reader that still holds the memtable delays the end of the log, so the wait has a bound.
func (w *wal) awaitFlush() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	id, err := walID(filepath.Base(w.next))
	if err != nil {
		return
	}
	full := walPath(w.dir, id-1)
	for deadline := time.Now().Add(flushTimeout); time.Now().Before(deadline); <-tick.C {
		if _, err := os.Stat(full); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// close removes the file that was never used.
func (w *wal) close() error {
	st, err := os.Stat(w.next)
	switch {
	case errors.Is(err, fs.ErrNotExist): // used, flushed and deleted already
		return nil
	case err != nil:
		return err
	case st.Size() > 0:
		return nil
	}
	return os.Remove(w.next)
}

func walPath(dir string, id int) string {
	return filepath.Join(dir, fmt.Sprintf("%05d%s", id, walSuffix))
}

func walID(name string) (int, error) { return strconv.Atoi(strings.TrimSuffix(name, walSuffix)) }

func walIDs(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), walSuffix) {
			continue
		}
		id, err := walID(e.Name())
		if err != nil {
			return nil, fmt.Errorf("unexpected file %s in %s", e.Name(), dir)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
