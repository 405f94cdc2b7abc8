package storage

import (
	"fmt"
	"os"
	"path/filepath"
)

// roll closes the active segment and makes a new one that begins at base. The caller holds mu. On error nothing has changed.
func (l *Log) roll(base int64) (*segment, error) {
	old := l.active()
	s, err := l.createSegment(base)
	if err != nil {
		return nil, l.ioError("roll", err)
	}
	if err := old.sealIndexes(); err != nil {
		old.suspect.Store(true) // the indexes are rebuilt when somebody needs them
		l.env.logger.Warn("could not complete indexes", "segment", old.log.path, "err", err)
	}
	l.snapshot(base)
	for _, f := range []*file{&old.index.file, &old.times.file} {
		if _, err := l.env.files.pin(f, 0); err == nil {
			l.dirty = append(l.dirty, dirtyFile{f: f})
		}
	}
	old.w.h = nil // its pin stays with the list of dirty files
	v := append(append(make([]*segment, 0, len(l.segments())+1), l.segments()...), s)
	l.view.Store(&v)
	l.dirDirty = true
	l.env.o.Metrics.SegmentRolled()
	l.wantFlush(true)
	return s, nil
}

// createSegment makes the file of a new segment and reserves its space if the topic asks for that.
func (l *Log) createSegment(base int64) (*segment, error) {
	cfg := l.Config()
	s := newSegment(l.env.files, l.path, base)
	now := l.env.nowMs()
	s.w.createdMs, s.modifiedMs = now, now
	s.largestKnown = true
	s.w.jitterMs = jitter(cfg.SegmentJitterMs)
	h, err := l.env.files.pin(&s.log, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	defer l.env.files.unpin(&s.log)
	if cfg.Preallocate {
		if err := h.Preallocate(0, cfg.SegmentBytes); err != nil {
			s.drop()
			_ = l.env.o.FS.Remove(s.log.path) // empty, and of no use
			return nil, err
		}
	}
	for _, f := range []*file{&s.index.file, &s.times.file} {
		if _, err := l.env.o.FS.Stat(f.path); err == nil { // left over from a segment that recovery removed
			if err := l.env.o.FS.Remove(f.path); err != nil {
				s.drop()
				return nil, err
			}
		}
	}
	return s, nil
}

// snapshot writes the producers' state as of offset to a snapshot file, to be made durable with the next flush. Without one, recovery
// has to read more of the log; so failing is no error. The caller holds mu.
func (l *Log) snapshot(offset int64) {
	if offset <= l.snapAt {
		return
	}
	path := segmentPath(l.path, offset, snapshotSuffix)
	f := &file{path: path}
	if err := l.writeSnapshot(f); err != nil {
		l.env.files.drop(f)
		_ = l.env.o.FS.Remove(path) // a torn one would be refused by its checksum
		l.env.logger.Warn("could not write a producer snapshot", "file", path, "err", err)
		return
	}
	l.snapAt, l.snapBytes = offset, 0
	l.snapshots = append(l.snapshots, offset)
	l.dirDirty = true
}

// snapshotEvery is how many bytes of batches may follow the last snapshot: recovery reads their headers.
const snapshotEvery = 32 << 20

// thinSnapshots removes snapshots that were taken between rolls once a newer one is durable. Those at the beginning of a segment stay
// with it.
func (l *Log) thinSnapshots() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.snapshots)
	if n < 2 {
		return
	}
	off := l.snapshots[n-2]
	if segs := l.segments(); segs[segmentFor(segs, off)].base == off {
		return
	}
	l.removeSnapshot(off)
	l.snapshots = append(l.snapshots[:n-2], l.snapshots[n-1])
}

func (l *Log) writeSnapshot(f *file) error {
	h, err := l.env.files.pin(f, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	if _, err := h.WriteAt(encodeSnapshot(l.producers), 0); err != nil {
		l.env.files.unpin(f)
		return fmt.Errorf("write %s: %w", filepath.Base(f.path), err)
	}
	l.dirty = append(l.dirty, dirtyFile{f: f, transient: true})
	return nil
}
