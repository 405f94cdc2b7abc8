package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"sort"

	"moldau/internal/vfs"
)

// Read returns whole batches from the one that contains offset from, up to offset upTo, at most maxBytes of them and of one segment.
// With minOneBatch the first batch is returned whole even if it is larger (KIP-74). An empty Slice means that nothing fits, that from
// has reached upTo, or that compaction has left nothing in between. ErrOffsetOutOfRange if from is below Start or above End.
//
// The caller must Release the slice.
func (l *Log) Read(from, upTo int64, maxBytes int, minOneBatch bool) (Slice, error) {
	if err := l.readable(); err != nil {
		return Slice{}, fmt.Errorf("read %s at %d: %w", l.tp, from, err)
	}
	for attempt := 0; ; attempt++ {
		end := l.end.Load()
		if start := l.start.Load(); from < start || from > end {
			return Slice{}, fmt.Errorf("read %s at %d, log has %d to %d: %w", l.tp, from, start, end, ErrOffsetOutOfRange)
		}
		s, err := l.read(query{from: from, upTo: min(upTo, end), maxBytes: max(int64(maxBytes), 0), minOneBatch: minOneBatch})
		if err == nil {
			return s, nil
		}
		if vanished := errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrClosed); !vanished || attempt == 2 || l.readable() != nil {
			return Slice{}, l.readError("read", err)
		}
	}
}

// query is one read.
type query struct {
	from, upTo  int64
	maxBytes    int64
	minOneBatch bool
}

// read looks for the batches in the segments as they are now.
func (l *Log) read(q query) (Slice, error) {
	if q.from >= q.upTo {
		return Slice{}, nil
	}
	segs := l.segments()
	for _, s := range segs[segmentFor(segs, q.from):] {
		next, size := s.bounds()
		if q.from >= next || size == 0 {
			continue // a gap that compaction left
		}
		slice, found, err := l.readSegment(s, q, next, size)
		if s.suspect.Load() {
			l.repair(s)
		}
		if err != nil || found || q.upTo <= next {
			return slice, err
		}
	}
	return Slice{}, nil
}

// readSegment reads from one segment, of which next and size are the bounds. found says that it holds a batch at or after q.from.
func (l *Log) readSegment(s *segment, q query, next, size int64) (slice Slice, found bool, err error) {
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return Slice{}, false, err
	}
	defer func() {
		if slice.n == 0 {
			l.env.files.unpin(&s.log)
		}
	}()
	pos, found, err := s.locate(h, q.from, size)
	if err != nil || !found {
		return Slice{}, false, err
	}
	limit := size
	if q.upTo < next {
		border, before, err := s.locate(h, q.upTo, size)
		if err != nil {
			return Slice{}, false, err
		}
		if before {
			limit = border
		}
		next = q.upTo
	}
	n := limit - pos
	if n > q.maxBytes {
		if n, next, err = s.fit(h, pos, limit, q); err != nil {
			return Slice{}, true, err
		}
	}
	if n <= 0 {
		return Slice{}, true, nil
	}
	s.remember(next, pos+n)
	return Slice{cache: l.env.files, f: &s.log, h: h, off: pos, n: int(n), next: next}, true, nil
}

// fit returns how many bytes of whole batches from pos on fit into q.maxBytes, and the offset behind them.
func (s *segment) fit(h vfs.File, pos, limit int64, q query) (n, next int64, err error) {
	end, next, err := s.border(h, pos, pos+q.maxBytes, limit)
	if err != nil || end > pos || !q.minOneBatch {
		return end - pos, next, err
	}
	w := walk(h, s.name, pos, limit)
	defer w.done()
	if _, err := w.next(); err != nil {
		return 0, next, err
	}
	return w.size, w.hdr.NextOffset(), nil
}

// segmentFor returns the index of the segment that holds offset: the last one that does not begin after it.
func segmentFor(segs []*segment, offset int64) int {
	return max(0, sort.Search(len(segs), func(i int) bool { return segs[i].base > offset })-1)
}
