package storage

import "fmt"

// repair rebuilds the indexes of a segment from its batches, after they proved wrong or missing. If that fails the segment stays
// suspect: it is read without indexes, and repair is not tried again.
func (l *Log) repair(s *segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.suspect.Load() || s.w.beyondRepair {
		return
	}
	l.env.logger.Warn("rebuilding indexes", "segment", s.log.path)
	if err := l.rebuildIndexes(s, s != l.active()); err != nil {
		s.w.beyondRepair = true
		l.env.logger.Error("could not rebuild indexes", "segment", s.log.path, "err", err)
		return
	}
	s.suspect.Store(false)
}

// rebuildIndexes makes both indexes anew by stepping over the segment's batches, in files that take the old ones' place when they are
// complete and durable: recovery trusts index files that it finds. closed says that the segment will not grow. The caller holds mu, or
// is the only one.
func (l *Log) rebuildIndexes(s *segment, closed bool) error {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return err
	}
	defer l.env.files.unpin(&s.log)
	fresh := newSegment(s.cache, l.path, s.base)
	for _, f := range []*file{fresh.index.file, fresh.times.file} {
		f.path += tmpSuffix
	}
	w := walk(h, s.name, 0, s.size)
	defer w.done()
	interval := l.Config().IndexIntervalBytes
	for {
		ok, err := w.next()
		if err != nil {
			fresh.drop()
			return err
		}
		if !ok {
			break
		}
		fresh.note(batchMeta{last: w.hdr.LastOffset(), maxMs: w.hdr.MaxTimestamp(), pos: w.pos, size: w.size}, interval)
	}
	if closed {
		fresh.noteTime()
	}
	if err := l.adoptIndexes(s, fresh); err != nil {
		fresh.drop()
		return err
	}
	return nil
}

// adoptIndexes puts the indexes of fresh in the place of those of s.
func (l *Log) adoptIndexes(s, fresh *segment) error {
	for _, pair := range [][2]*entryFile{{&s.index.entryFile, &fresh.index.entryFile}, {&s.times.entryFile, &fresh.times.entryFile}} {
		old, by := pair[0], pair[1]
		f := by.current()
		if err := l.env.o.FS.RemoveAll(f.path); err != nil { // an earlier attempt may have left it
			return err
		}
		if err := by.seal(); err != nil {
			return err
		}
		if err := l.syncFound(f); err != nil {
			return err
		}
		if err := l.env.files.rename(f, old.current().path); err != nil {
			return err
		}
		old.replace(by)
	}
	s.w.largest, s.w.lastTime, s.w.sinceIndex = fresh.w.largest, fresh.w.lastTime, fresh.w.sinceIndex
	s.mu.Lock()
	s.largest, s.largestKnown = s.w.largest, true
	s.mu.Unlock()
	return l.env.o.FS.SyncDir(l.path)
}

// resetIndexes empties both indexes and what the writer knows of them.
func (s *segment) resetIndexes() error {
	if err := s.index.cut(0); err != nil {
		return fmt.Errorf("reset %s: %w", s.index.current().path, err)
	}
	if err := s.times.cut(0); err != nil {
		return fmt.Errorf("reset %s: %w", s.times.current().path, err)
	}
	s.w.largest = timestampOffset{-1, s.base}
	s.w.lastTime = s.w.largest
	s.w.sinceIndex = 0
	return nil
}
