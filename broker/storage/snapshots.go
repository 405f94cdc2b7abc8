package storage

import (
	"fmt"
	"os"
	"slices"
)

// snapshotEvery is how many bytes of batches may follow the last snapshot of a log that is written to. Recovery reads their headers,
// twice: it is what a start after a crash costs beyond what is in doubt. A snapshot is three small files to write.
const snapshotEvery = 8 << 20

// pendingSnapshot is a producer snapshot that awaits the flush of what it speaks for.
type pendingSnapshot struct {
	offset int64
	data   []byte
}

// snapshot takes the producers' state as of offset, which is the log end offset. The file is written after the next flush: recovery
// takes a good snapshot as proof that everything below its offset, index entries included, is on disk. The caller holds mu.
func (l *Log) snapshot(offset int64) {
	if offset <= l.snapAt {
		return
	}
	l.snapAt, l.snapBytes = offset, 0
	l.pending = append(l.pending, pendingSnapshot{offset, encodeSnapshot(l.producers)})
}

// writeSnapshots writes snapshot files after a flush, to be made durable with the next one. Without them recovery has to read more of
// the log, so failing is no error.
func (l *Log) writeSnapshots(flushed flushing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone || l.cuts != flushed.cuts { // deleted, or truncated meanwhile; cuts only changes under mu
		return
	}
	for _, p := range flushed.pending {
		f := &file{path: segmentPath(l.path, p.offset, snapshotSuffix)}
		if err := l.writeSnapshot(f, p.data); err != nil {
			l.env.files.drop(f)
			l.env.logger.Warn("could not write a producer snapshot", "file", f.path, "err", err)
			l.removeSnapshot(p.offset) // a torn one would be refused by its checksum
			continue
		}
		l.snapshots = append(l.snapshots, p.offset)
		l.dirDirty = true
	}
	l.wantFlush(true)
}

func (l *Log) writeSnapshot(f *file, data []byte) error {
	h, err := l.env.files.pin(f, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	if _, err := h.WriteAt(data, 0); err != nil {
		l.env.files.unpin(f)
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	l.dirty = append(l.dirty, dirtyFile{f: f, transient: true})
	return nil
}

// thinSnapshots removes snapshots that were taken between rolls once a newer one is durable: all but the newest and those at the
// beginning of a segment.
func (l *Log) thinSnapshots() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.snapshots) < 2 || l.gone {
		return
	}
	newest := l.snapshots[len(l.snapshots)-1]
	segs := l.segments()
	l.snapshots = slices.DeleteFunc(l.snapshots, func(off int64) bool {
		if off == newest || segs[segmentFor(segs, off)].base == off {
			return false
		}
		l.removeSnapshot(off)
		return true
	})
}

// removeSnapshot removes a snapshot file. It must be gone before another one of the same offset may be written.
func (l *Log) removeSnapshot(offset int64) {
	path := segmentPath(l.path, offset, snapshotSuffix)
	if err := removeAll(l.env.o.FS, path); err != nil {
		l.env.logger.Warn("could not remove a producer snapshot", "file", path, "err", err)
	}
}

// removeSnapshotsFrom removes snapshots beyond offset, written and pending ones, and tells whether a written one was among them. The
// caller holds mu.
func (l *Log) removeSnapshotsFrom(offset int64) bool {
	l.pending = nil
	before := len(l.snapshots)
	l.snapshots = slices.DeleteFunc(l.snapshots, func(off int64) bool {
		if off <= offset {
			return false
		}
		l.removeSnapshot(off)
		return true
	})
	return len(l.snapshots) < before
}
