package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"moldau/internal/vfs"
)

// Suffixes of the files of a segment; Kafka's but for cutSuffix.
const (
	logSuffix      = ".log"
	indexSuffix    = ".index"
	timeSuffix     = ".timeindex"
	txnSuffix      = ".txnindex"
	snapshotSuffix = ".snapshot"
	deletedSuffix  = ".deleted"
	tmpSuffix      = ".tmp"
	cutSuffix      = ".cut"
)

// segmentPath names a segment's file: its base offset in 20 digits.
func segmentPath(dir string, base int64, suffix string) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", base, suffix))
}

// mark is a batch border: the batch with the next offset off begins (or will begin) at pos.
type mark struct {
	off, pos int64
}

// markRing remembers the last few marks. Appends, flushes and reads leave theirs, so that a reader who comes back finds its place
// without an index.
type markRing struct {
	marks [8]mark
	n     uint8
}

func (r *markRing) add(m mark) {
	r.marks[r.n%uint8(len(r.marks))] = m
	if r.n++; r.n == 2*uint8(len(r.marks)) {
		r.n = uint8(len(r.marks))
	}
}

func (r *markRing) find(off int64) (int64, bool) {
	for i := range min(int(r.n), len(r.marks)) {
		if r.marks[i].off == off {
			return r.marks[i].pos, true
		}
	}
	return 0, false
}

// segment is one file of batches with its indexes. The last segment of a log is active: the only one that grows.
type segment struct {
	cache *fileCache
	base  int64
	name  string // of the log file, for error texts; log.path changes when the segment is deleted
	log   file
	index offsetIndex
	times timeIndex
	// aborted is the transaction index.
	aborted abortedIndex

	// suspect says that an index proved wrong or was missing: it is not used until Log.repair has rebuilt it.
	suspect atomic.Bool

	mu           sync.Mutex // memory only
	next         int64      // offset after the last batch
	size         int64      // bytes of whole batches
	largest      timestampOffset
	largestKnown bool
	modifiedMs   int64 // the file's modification time, for records without timestamps
	appended     markRing
	read         markRing
	flushed      mark

	w writerState
}

// writerState belongs to the holder of Log.mu.
type writerState struct {
	h            vfs.File        // pinned while there is something to flush, else nil
	largest      timestampOffset // largest timestamp so far; -1 if none
	lastTime     timestampOffset // last entry of the time index
	sinceIndex   int64           // bytes since the last index entry
	firstMs      int64           // timestamp of the first batch, -1 if none
	firstKnown   bool
	createdMs    int64
	jitterMs     int64
	trim         bool // a failed append may have left bytes behind size
	unsynced     bool // recovery read it, and it may have been in the page cache only
	beyondRepair bool // rebuilding the indexes failed once
}

func newSegment(cache *fileCache, dir string, base int64) *segment {
	s := &segment{cache: cache, base: base, next: base}
	s.name = segmentPath(dir, base, logSuffix)
	s.log.path = s.name
	s.index.entryFile = entryFile{cache: cache, width: offsetEntryLen, file: &file{path: segmentPath(dir, base, indexSuffix)}}
	s.index.base = base
	s.times.entryFile = entryFile{cache: cache, width: timeEntryLen, file: &file{path: segmentPath(dir, base, timeSuffix)}}
	s.times.base = base
	s.aborted.cache, s.aborted.file = cache, &file{path: segmentPath(dir, base, txnSuffix)}
	s.largest = timestampOffset{-1, base}
	s.w.largest, s.w.lastTime = s.largest, s.largest
	s.w.firstMs = -1
	return s
}

// bounds returns the published end of the segment.
func (s *segment) bounds() (next, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next, s.size
}

// batchMeta is what the indexes need of a batch.
type batchMeta struct {
	last  int64 // last offset
	maxMs int64 // largest timestamp
	pos   int64 // position in the file
	size  int64
}

// note enters a batch into the indexes: an entry each time more than interval bytes have passed since the last one. The caller holds
// Log.mu.
func (s *segment) note(b batchMeta, interval int64) {
	s.observe(b)
	if s.w.sinceIndex > interval {
		s.index.append(offsetPosition{b.last, b.pos})
		s.noteTime()
		s.w.sinceIndex = 0
	}
	s.w.sinceIndex += b.size
}

// observe notes a batch's timestamp.
func (s *segment) observe(b batchMeta) {
	if !s.w.firstKnown && b.pos == 0 {
		s.w.firstMs, s.w.firstKnown = b.maxMs, true
	}
	if b.maxMs > s.w.largest.timestamp {
		s.w.largest = timestampOffset{b.maxMs, b.last}
	}
}

// noteTime adds the largest timestamp so far to the time index, if it is new.
func (s *segment) noteTime() {
	if s.times.append(s.w.largest, s.w.lastTime) {
		s.w.lastTime = s.w.largest
	}
}

// publish shows readers what was appended. The caller holds Log.mu.
func (s *segment) publish(next, size, nowMs int64) {
	s.mu.Lock()
	s.next, s.size = next, size
	s.largest, s.largestKnown = s.w.largest, true
	s.modifiedMs = nowMs
	s.appended.add(mark{next, size})
	s.mu.Unlock()
}

// flushIndexes writes the entries that are in memory only.
func (s *segment) flushIndexes() error { return errors.Join(s.index.flush(), s.times.flush()) }

// sealIndexes completes the indexes at the end of the segment's active life: a last time entry, and files that end with the last entry.
func (s *segment) sealIndexes() error {
	s.noteTime()
	return errors.Join(s.index.seal(), s.times.seal())
}

// marked returns the position of a batch border that was used lately.
func (s *segment) marked(off int64) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case off == s.base:
		return 0, true
	case off == s.next:
		return s.size, true
	case off == s.flushed.off:
		return s.flushed.pos, true
	}
	if pos, ok := s.appended.find(off); ok {
		return pos, true
	}
	return s.read.find(off)
}

// remember leaves a mark for the reader that will come back for off.
func (s *segment) remember(off, pos int64) {
	s.mu.Lock()
	s.read.add(mark{off, pos})
	s.mu.Unlock()
}

// locate returns the position of the first batch whose last offset is >= off, at most limit. It steps over headers from the last
// index entry before. found is false if there is no such batch.
func (s *segment) locate(h vfs.File, off, limit int64) (pos int64, found bool, err error) {
	if pos, ok := s.marked(off); ok && pos <= limit {
		return pos, pos < limit, nil
	}
	hint, hinted := s.indexed(off)
	w := walk(h, s.name, hint.pos, limit)
	defer func() { w.done() }()
	for first := true; ; first = false {
		ok, err := w.next()
		if first && hinted && (err != nil || !ok || w.hdr.LastOffset() != hint.offset) {
			s.suspect.Store(true) // the index led astray: begin at the start, and let the log rebuild it
			w.done()
			w, hinted = walk(h, s.name, 0, limit), false
			ok, err = w.next()
		}
		if err != nil || !ok {
			return 0, false, err
		}
		if w.hdr.LastOffset() >= off {
			return w.pos, true, nil
		}
	}
}

// indexed returns where to begin a search for off: at the index entry before it, or (not found) at the start of the segment.
func (s *segment) indexed(off int64) (p offsetPosition, found bool) {
	if s.suspect.Load() {
		return offsetPosition{}, false
	}
	p, found, err := s.index.lookup(off)
	if err != nil {
		s.suspect.Store(true)
		return offsetPosition{}, false
	}
	return p, found
}

// border returns the last batch border in the file at or below want, walking from from, which is one itself.
func (s *segment) border(h vfs.File, from, want, limit int64) (pos, nextOffset int64, err error) {
	if p, found, err := s.index.lookupPos(want); err == nil && found && p.pos > from && !s.suspect.Load() {
		pos, nextOffset, err := s.walkBorder(h, p.pos, want, limit)
		if err == nil || !errors.Is(err, ErrCorrupt) {
			return pos, nextOffset, err
		}
		s.suspect.Store(true)
	}
	return s.walkBorder(h, from, want, limit)
}

func (s *segment) walkBorder(h vfs.File, from, want, limit int64) (pos, nextOffset int64, err error) {
	w := walk(h, s.name, from, limit)
	defer w.done()
	pos, nextOffset = from, -1
	for {
		ok, err := w.next()
		if err != nil || !ok || w.pos+w.size > want {
			switch {
			case pos > from:
				err = nil // what was found is whole; the next read meets the error
			case err == nil && ok:
				nextOffset = w.hdr.BaseOffset()
			}
			return pos, nextOffset, err
		}
		pos, nextOffset = w.pos+w.size, w.hdr.NextOffset()
	}
}

// largestTimestamp returns the segment's largest timestamp, from the last time index entry for a segment that was found at start. The
// entry is compared with the batch it names: records must not be deleted for a flipped bit.
func (s *segment) largestTimestamp() (timestampOffset, error) {
	s.mu.Lock()
	t, known := s.largest, s.largestKnown
	s.mu.Unlock()
	if known {
		return t, nil
	}
	t, found, err := s.times.newest()
	if err == nil && found {
		found, err = s.verifyTime(t)
	} else if err == nil {
		t, found = timestampOffset{-1, s.base}, true
	}
	damaged := errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCorrupt)
	switch {
	case err != nil && !damaged:
		return t, err
	case damaged || !found:
		s.suspect.Store(true)
		return timestampOffset{-1, s.base}, nil
	}
	if !s.suspect.Load() {
		s.mu.Lock()
		s.largest, s.largestKnown = t, true
		s.mu.Unlock()
	}
	return t, nil
}

// verifyTime tells whether there is a batch with the last offset and the largest timestamp that an entry of the time index says.
func (s *segment) verifyTime(t timestampOffset) (bool, error) {
	h, err := s.cache.pin(&s.log, 0)
	if err != nil {
		return false, err
	}
	defer s.cache.unpin(&s.log)
	_, size := s.bounds()
	pos, ok, err := s.locate(h, t.offset, size)
	if err != nil || !ok {
		return false, err
	}
	w := walk(h, s.name, pos, size)
	defer w.done()
	ok, err = w.next()
	return ok && w.hdr.MaxTimestamp() == t.timestamp && w.hdr.LastOffset() == t.offset, err
}

// drop closes the segment's files for good.
func (s *segment) drop() {
	for _, f := range s.files() {
		s.cache.drop(f)
	}
}

// files returns the files of the segment, as far as they exist for sure or may.
func (s *segment) files() []*file {
	out := []*file{&s.log, s.index.current(), s.times.current()}
	if s.aborted.exists.Load() {
		out = append(out, s.aborted.file)
	}
	return out
}
