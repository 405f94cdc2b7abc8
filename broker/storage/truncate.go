package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// TruncateTo removes all batches that reach beyond offset, as a follower does whose log diverges from its leader's. The recovery point
// is moved back on disk first, so that a crash in between isn't taken for damage. The epoch cache is cut even if the log ends before
// offset: an epoch that got no records may sit at the end (KAFKA-10706).
func (l *Log) TruncateTo(offset int64) error {
	l.reshape.Lock()
	defer l.reshape.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return fmt.Errorf("truncate %s to %d: %w", l.tp, offset, err)
	}
	if offset < l.start.Load() {
		return fmt.Errorf("truncate %s to %d, it starts at %d: %w", l.tp, offset, l.start.Load(), ErrOffsetOutOfRange)
	}
	end := l.end.Load()
	if offset >= end {
		return l.changeEpochs(func(c *epochCache) bool { return c.truncateEnd(end) })
	}
	segs := l.segments()
	i := segmentFor(segs, offset)
	pos, next, err := l.findCut(segs[i], offset)
	if err != nil {
		return l.readError("truncate", err)
	}
	l.uncleanFrom(next)
	if err := l.lowerPoint(next); err != nil {
		return fmt.Errorf("truncate %s to %d: %w", l.tp, offset, err)
	}
	if err := l.cutAt(segs, i, pos, next); err != nil {
		return l.syncError("truncate", err)
	}
	if err := l.changeEpochs(func(c *epochCache) bool { return c.truncateEnd(next) }); err != nil {
		return err
	}
	return l.rewindProducers(next)
}

// findCut returns the position of the first batch of s that reaches beyond offset, and the offset at which the log will end: that of
// the batch's beginning.
func (l *Log) findCut(s *segment, offset int64) (pos, next int64, err error) {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return 0, 0, err
	}
	defer l.env.files.unpin(&s.log)
	pos, ok, err := s.locate(h, offset, s.size)
	if err != nil {
		return 0, 0, err
	}
	if !ok {
		return s.size, min(offset, s.next), nil
	}
	w := walk(h, s.name, pos, s.size)
	defer w.done()
	if _, err := w.next(); err != nil {
		return 0, 0, err
	}
	return pos, min(offset, w.hdr.BaseOffset()), nil
}

// lowerPoint moves flushed end and recovery point back to offset, on disk too.
func (l *Log) lowerPoint(offset int64) error {
	l.flushMu.Lock()
	l.cuts++
	lower := l.flushedEnd > offset
	l.flushedEnd = min(l.flushedEnd, offset)
	l.flushMu.Unlock()
	if !lower {
		return nil
	}
	l.dir.pointsChanged.Store(true)
	return l.dir.keeper.checkpoint(false)
}

// cutAt removes what lies behind position pos of segment i. The caller holds mu.
func (l *Log) cutAt(segs []*segment, i int, pos, next int64) error {
	s := segs[i]
	if err := l.pinActive(s); err != nil {
		return err
	}
	// Snapshots are the proof that transaction indexes are complete: it goes before they do, on disk too.
	if l.removeSnapshotsFrom(next) {
		if err := l.env.o.FS.SyncDir(l.path); err != nil {
			return err
		}
	}
	keep := append([]*segment(nil), segs[:i+1]...)
	l.view.Store(&keep)
	l.end.Store(next)
	for _, gone := range segs[i+1:] {
		l.forgetDirty(gone)
		l.discardSegment(gone)
	}
	// Nothing of what was cut may come back beside what is appended next.
	if err := l.env.o.FS.SyncDir(l.path); err != nil {
		return err
	}
	if err := s.truncate(pos, next); err != nil {
		return err
	}
	if err := s.w.h.Sync(); err != nil {
		return err
	}
	if err := l.rebuildIndexes(s, false); err != nil {
		s.suspect.Store(true)
		return err
	}
	l.wantFlush(true)
	return nil
}

// truncate shortens the file and what readers see of it; old marks would lead behind its end.
func (s *segment) truncate(pos, next int64) error {
	s.mu.Lock()
	s.next, s.size = next, pos
	s.appended, s.read, s.flushed = markRing{}, markRing{}, mark{s.base, 0}
	s.mu.Unlock()
	return s.w.h.Truncate(pos)
}

// forgetDirty takes a segment's files off the list of those to flush.
func (l *Log) forgetDirty(s *segment) {
	kept := l.dirty[:0]
	for _, d := range l.dirty {
		if slices.Contains(s.files(), d.f) {
			l.env.files.unpin(d.f)
			continue
		}
		kept = append(kept, d)
	}
	l.dirty = kept
	s.w.h, s.aborted.h = nil, nil
}

// rewindProducers makes producer state what it was at end: from the last snapshot before, and the batches behind it.
func (l *Log) rewindProducers(end int64) error {
	r := &recovery{l: l, segs: l.segments(), snapshots: l.snapshots, end: end, indexed: end}
	l.snapshots, l.snapAt, l.snapBytes = nil, 0, 0
	if err := r.recoverProducers(); err != nil {
		return l.readError("truncate", err)
	}
	return nil
}
