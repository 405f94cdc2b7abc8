package storage

import (
	"os"
)

// roll closes the active segment and makes a new one that begins at base. The caller holds mu. On error nothing has changed.
func (l *Log) roll(base int64) (*segment, error) {
	old := l.active()
	if old.w.trim {
		if err := l.trimActive(old); err != nil {
			return nil, err
		}
	}
	s, err := l.createSegment(base)
	if err != nil {
		return nil, l.ioError("roll", err)
	}
	l.saveIndexes(old, (*segment).sealIndexes)
	l.snapshot(base)
	old.w.h, old.aborted.h = nil, nil // their pins stay with the list of dirty files
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
	for _, f := range []*file{s.index.current(), s.times.current(), s.aborted.file} {
		if _, err := l.env.o.FS.Stat(f.path); err == nil { // left over from a segment that recovery removed
			if err := l.env.o.FS.Remove(f.path); err != nil {
				s.drop()
				return nil, err
			}
		}
	}
	return s, nil
}

// saveIndexes writes a segment's index entries with write, to be made durable with the next flush. It goes with every snapshot:
// recovery trusts index files up to there. Where that fails the files are removed, and the indexes are rebuilt when somebody needs
// them. The caller holds mu.
func (l *Log) saveIndexes(s *segment, write func(*segment) error) {
	err := write(s)
	for _, f := range []*file{s.index.current(), s.times.current()} {
		if err != nil {
			break
		}
		if _, err = l.env.files.pin(f, os.O_CREATE); err == nil {
			l.dirty = append(l.dirty, dirtyFile{f: f})
		}
	}
	if err == nil {
		return
	}
	s.suspect.Store(true)
	l.env.logger.Warn("could not write indexes", "segment", s.log.path, "err", err)
	if err := removeAll(l.env.o.FS, s.index.current().path, s.times.current().path); err != nil {
		l.env.logger.Warn("could not remove incomplete indexes", "segment", s.log.path, "err", err)
	}
}
