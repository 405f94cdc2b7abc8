package storage

import (
	"errors"

	"moldau/broker/record"
)

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

// TimestampAt returns the timestamp of the batch that holds an offset, or of the next one where there is none: the first of its records'
// timestamps in ms, or what the broker gave them. ok is false at the end of the log, and where records have no timestamps.
func (l *Log) TimestampAt(offset int64) (ms int64, ok bool, err error) {
	if err := l.readable(); err != nil {
		return 0, false, l.readError("search", err)
	}
	err = l.walkHeaders(l.segments(), max(offset, l.Start()), func(w *walker) bool {
		ms = w.hdr.BaseTimestamp()
		if w.hdr.TimestampType() == record.LogAppendTime {
			ms = w.hdr.MaxTimestamp()
		}
		ok = ms >= 0
		return false
	})
	if err != nil {
		return 0, false, l.readError("search", err)
	}
	return ms, ok, nil
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

// timeHint returns where to begin the search for a timestamp: at the last entry of the time index that is earlier, because records up
// to its offset are at most as late as it says. An entry that doesn't agree with its batch has the index rebuilt.
func (l *Log) timeHint(s *segment, ts int64) (int64, error) {
	for range 2 {
		if s.suspect.Load() {
			break
		}
		t, have, err := s.times.lookup(ts - 1)
		if err == nil && !have {
			return s.base, nil
		}
		good := false
		if err == nil {
			good, err = s.verifyTime(t)
		}
		if err != nil && !isNotExist(err) && !errors.Is(err, ErrCorrupt) {
			return 0, err
		}
		if good {
			return t.offset, nil
		}
		s.suspect.Store(true)
		l.repair(s)
	}
	return s.base, nil
}

// searchSegment steps over the batches from the time index's entry on until one has a record that is late enough.
func (l *Log) searchSegment(s *segment, ts int64) (found Timestamped, ok bool, err error) {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return found, false, err
	}
	defer l.env.files.unpin(&s.log)
	_, size := s.bounds()
	from, err := l.timeHint(s, ts)
	if err != nil {
		return found, false, err
	}
	pos, ok, err := s.locate(h, max(from, l.Start()), size)
	if err != nil || !ok {
		return found, false, err
	}
	w := walk(h, s.name, pos, size)
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
	w := walk(h, s.name, pos, size)
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
