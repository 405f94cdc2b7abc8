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
	if err := l.rebuildIndexes(s); err != nil {
		s.w.beyondRepair = true
		l.env.logger.Error("could not rebuild indexes", "segment", s.log.path, "err", err)
		return
	}
	s.suspect.Store(false)
}

// rebuildIndexes makes both indexes anew by stepping over the segment's batches. Readers see them grow meanwhile, which is harmless:
// every prefix of an index is one. The caller holds mu.
func (l *Log) rebuildIndexes(s *segment) error {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return err
	}
	defer l.env.files.unpin(&s.log)
	if err := s.resetIndexes(); err != nil {
		return err
	}
	w := walk(h, s.log.path, 0, s.size)
	defer w.done()
	interval := l.Config().IndexIntervalBytes
	for {
		ok, err := w.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		s.note(batchMeta{last: w.hdr.LastOffset(), maxMs: w.hdr.MaxTimestamp(), pos: w.pos, size: w.size}, interval)
	}
	if s != l.active() {
		if err := s.sealIndexes(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.largest, s.largestKnown = s.w.largest, true
	s.mu.Unlock()
	return nil
}

// resetIndexes empties both indexes and what the writer knows of them.
func (s *segment) resetIndexes() error {
	if err := s.index.cut(0); err != nil {
		return fmt.Errorf("reset %s: %w", s.index.file.path, err)
	}
	if err := s.times.cut(0); err != nil {
		return fmt.Errorf("reset %s: %w", s.times.file.path, err)
	}
	s.w.largest = timestampOffset{-1, s.base}
	s.w.lastTime = s.w.largest
	s.w.sinceIndex = 0
	return nil
}
