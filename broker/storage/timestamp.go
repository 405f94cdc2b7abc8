package storage

// Timestamped is a record found by its timestamp.
type Timestamped struct {
	Offset      int64
	Timestamp   int64
	LeaderEpoch int32 // of the batch that holds it
}

// OffsetForTimestamp finds the first record whose timestamp is at least ts, also inside compressed batches. ok is false if there is
// none.
func (l *Log) OffsetForTimestamp(ts int64) (found Timestamped, ok bool, err error) {
	if err := l.readable(); err != nil {
		return found, false, l.readError("search", err)
	}
	for _, s := range l.segments() {
		if next, size := s.bounds(); size == 0 || next <= l.Start() {
			continue
		}
		largest, err := l.largestOf(s)
		if err != nil {
			return found, false, l.readError("search", err)
		}
		if largest.timestamp < ts {
			continue
		}
		found, ok, err := l.searchSegment(s, ts)
		if err != nil {
			return found, false, l.readError("search", err)
		}
		if ok {
			return found, true, nil
		}
	}
	return found, false, nil
}

// MaxTimestamp finds the first record that has the largest timestamp of all. ok is false if the log is empty or its records have no
// timestamps.
func (l *Log) MaxTimestamp() (found Timestamped, ok bool, err error) {
	if err := l.readable(); err != nil {
		return found, false, l.readError("search", err)
	}
	var best *segment
	most := timestampOffset{timestamp: -1}
	for _, s := range l.segments() {
		if next, size := s.bounds(); size == 0 || next <= l.Start() {
			continue
		}
		t, err := l.largestOf(s)
		if err != nil {
			return found, false, l.readError("search", err)
		}
		if t.timestamp > most.timestamp {
			best, most = s, t
		}
	}
	if best == nil {
		return found, false, nil
	}
	found, ok, err = l.batchOfMax(best, most)
	if err != nil {
		return found, false, l.readError("search", err)
	}
	return found, ok, nil
}

// largestOf returns a segment's largest timestamp, rebuilding its indexes first if they are not to be trusted.
func (l *Log) largestOf(s *segment) (timestampOffset, error) {
	t, err := s.largestTimestamp()
	if err != nil || !s.suspect.Load() {
		return t, err
	}
	l.repair(s)
	return s.largestTimestamp()
}

// searchSegment steps over the batches from the time index's entry on until one has a record that is late enough.
func (l *Log) searchSegment(s *segment, ts int64) (found Timestamped, ok bool, err error) {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return found, false, err
	}
	defer l.env.files.unpin(&s.log)
	_, size := s.bounds()
	from := s.base
	// The last entry that is earlier: records up to its offset are at most as late as it says.
	t, have, err := s.times.lookup(ts - 1)
	if err == nil && have {
		from = t.offset
	}
	pos, ok, err := s.locate(h, max(from, l.Start()), size)
	if err != nil || !ok {
		return found, false, err
	}
	w := walk(h, s.log.path, pos, size)
	defer w.done()
	for {
		more, err := w.next()
		if err != nil || !more {
			return found, false, err
		}
		if w.hdr.MaxTimestamp() < ts {
			continue
		}
		epoch := w.hdr.PartitionLeaderEpoch()
		batch, err := w.batch(nil)
		if err != nil {
			return found, false, err
		}
		off, at, ok, err := batch.OffsetForTimestamp(ts, l.Start(), l.env.unpack)
		if err != nil {
			return found, false, w.corrupt("%v", err)
		}
		if ok {
			return Timestamped{Offset: off, Timestamp: at, LeaderEpoch: epoch}, true, nil
		}
	}
}

// batchOfMax finds the record with timestamp t in the batch that the time index names.
func (l *Log) batchOfMax(s *segment, t timestampOffset) (found Timestamped, ok bool, err error) {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return found, false, err
	}
	defer l.env.files.unpin(&s.log)
	_, size := s.bounds()
	pos, ok, err := s.locate(h, t.offset, size)
	if err != nil || !ok {
		return found, false, err
	}
	w := walk(h, s.log.path, pos, size)
	defer w.done()
	if _, err := w.next(); err != nil {
		return found, false, err
	}
	epoch := w.hdr.PartitionLeaderEpoch()
	batch, err := w.batch(nil)
	if err != nil {
		return found, false, err
	}
	off, at, err := batch.OffsetOfMaxTimestamp(l.env.unpack)
	if err != nil {
		return found, false, w.corrupt("%v", err)
	}
	return Timestamped{Offset: off, Timestamp: at, LeaderEpoch: epoch}, off >= 0, nil
}
