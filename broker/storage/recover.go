package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"moldau/internal/vfs"
)

// found is what the checkpoints say of a log.
type found struct {
	point   int64 // recovery point: everything below is on disk
	start   int64 // log start offset
	hw      int64 // high watermark
	cleaned int64 // compacted up to here
	clean   bool  // the directory was closed cleanly
	lost    bool  // the recovery point is unknown: everything is checked, and damage may lie anywhere

	startLost bool // the log start offset is unknown: the first segment says it
}

// recovery is the work on one log.
type recovery struct {
	l         *Log
	found     found
	segs      []*segment
	snapshots []int64
	loaded    int64        // offset of the snapshot that the table of producers holds, 0 if none
	proof     int64        // everything below is on disk, says the newest good snapshot of ours
	indexed   int64        // transaction indexes are right up to here
	epochs    []epochEntry // seen in what was checked
	end       int64
	lastEpoch int32 // of the last batch, -1 if none was seen
	buf       []byte
}

// recoverLog opens one log. It checks what lies behind the recovery point, cuts off what a crash left half written, rebuilds indexes,
// leader epochs and producer state. A log that is damaged before its recovery point, or can't be read, comes back with an Err. The
// answer is nil for what is left of a creation that a crash interrupted.
func recoverLog(env *environment, d *logDir, tp TopicPartition, f found) (*Log, error) {
	began := time.Now()
	l := newLog(env, d, tp, TopicID{}, env.o.Config(tp))
	r := &recovery{l: l, found: f, lastEpoch: -1}
	defer func() { l.recovery.Took = time.Since(began) }()
	l.recovery.Clean = f.clean
	l.hw.Store(f.hw)
	l.cleaned.Store(f.cleaned)
	unswapped := r.finishSwaps()
	if err := r.list(); err != nil {
		return nil, err
	}
	if r.stillborn() {
		d.sweeper.discard(l.path, 0)
		return nil, nil
	}
	if unswapped != nil {
		r.giveUp(unswapped)
		return l, nil
	}
	if err := r.check(); err != nil {
		r.giveUp(err)
		return l, nil
	}
	if err := r.finish(); err != nil {
		r.giveUp(err)
	}
	return l, nil
}

// giveUp makes the log what can still be read of it. Files stay as they are.
func (r *recovery) giveUp(err error) {
	l := r.l
	if !errors.Is(err, ErrReadOnly) {
		err = fmt.Errorf("%w: recover %s: %w", ErrStorage, l.tp, err)
	}
	l.fail(err)
	l.savedPoint = r.found.point
	l.env.logger.Error("log is damaged and takes no writes", "partition", l.tp.String(), "dir", l.path, "err", err)
	if len(r.segs) == 0 {
		r.segs = []*segment{newSegment(l.env.files, l.path, max(r.found.start, 0))}
		r.end = r.segs[0].base
	}
	l.view.Store(&r.segs)
	l.end.Store(r.end)
	l.start.Store(min(max(r.found.start, r.segs[0].base), r.end))
	l.flushedEnd = r.end
	r.peekTransactions()
	if data, err := vfs.ReadFile(l.env.o.FS, filepath.Join(l.path, epochFile)); err == nil {
		if entries, err := decodeEpochs(data); err == nil {
			l.epochs.entries = entries
		}
	}
}

// damaged is the error for what is wrong below the recovery point.
func (r *recovery) damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrReadOnly, r.l.path, fmt.Sprintf(format, args...))
}

// check brings the segments in order: what lies below the recovery point is trusted, what lies behind is read and verified.
func (r *recovery) check() error {
	if len(r.segs) == 0 {
		if r.found.point > r.found.start {
			r.end = r.found.start
			return r.damaged("no segment is left, the recovery point is %d", r.found.point)
		}
		s, err := r.l.createSegment(r.found.start)
		if err != nil {
			return err
		}
		r.segs, r.end = []*segment{s}, s.base
		return nil
	}
	if err := r.checkFirst(); err != nil {
		return err
	}
	if err := r.pickSnapshot(math.MaxInt64); err != nil {
		return err
	}
	if !r.l.dir.foreign {
		r.proof = r.loaded
	}
	first := segmentFor(r.segs, r.found.point)
	if !r.found.clean && first > 0 && r.segs[first].base > r.proof {
		r.segs[first-1].suspect.Store(true) // its last index entries may not have reached the disk
	}
	for i := first; i < len(r.segs); i++ {
		s := r.segs[i]
		if i > first && s.base != r.end {
			return r.mend(i, 0, fmt.Errorf("%s begins at %d, not at %d: %w", s.log.path, s.base, r.end, ErrCorrupt))
		}
		pos, err := r.scan(s, i == first)
		if err == nil && i == first && r.end < r.found.point {
			err = fmt.Errorf("%s ends at offset %d: %w", s.log.path, r.end, ErrCorrupt)
		}
		if errors.Is(err, ErrCorrupt) {
			return r.mend(i, pos, err)
		}
		if err != nil {
			return err
		}
		s.next, s.largest, s.largestKnown = r.end, s.w.largest, true
		if i+1 < len(r.segs) {
			if err := s.sealIndexes(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFirst compares the first segment with the log start offset. Segments below it were deleted; a power cut brought them back.
// If the first segment begins above it, the one before is missing.
func (r *recovery) checkFirst() error {
	for len(r.segs) > 1 && r.segs[1].base <= r.found.start {
		r.l.discardSegment(r.segs[0])
		r.segs = r.segs[1:]
	}
	base := r.segs[0].base
	if base <= r.found.start {
		return nil
	}
	if r.found.startLost {
		r.found.start = base
		return nil
	}
	if r.found.point > r.found.start {
		return r.damaged("the first segment begins at %d, the log at %d, and the recovery point is %d", base, r.found.start, r.found.point)
	}
	s, err := r.l.createSegment(r.found.start) // what was in it never became durable, and neither did what follows
	if err != nil {
		return err
	}
	r.segs = append([]*segment{s}, r.segs...)
	s.next = base
	return nil
}

// scan steps over a segment's batches, in the first one from the last index entry before the recovery point, and completes the indexes.
// Batches behind the recovery point are verified. It returns the end of what is whole.
func (r *recovery) scan(s *segment, first bool) (pos int64, err error) {
	h, err := r.l.env.files.pin(&s.log, 0)
	if err != nil {
		return 0, err
	}
	defer r.l.env.files.unpin(&s.log)
	known, err := r.begin(s, h)
	if err != nil {
		return 0, err
	}
	if first {
		if pos, err = r.resume(s, h); err != nil {
			return 0, err
		}
	}
	r.end = s.base // raised by the first batch
	s.w.unsynced = !r.found.clean
	interval := r.l.Config().IndexIntervalBytes
	compacted := r.l.Config().Compact || s.base < r.found.cleaned // the policy may have been another one since
	w := walk(h, s.name, pos, s.size)
	defer w.done()
	for {
		ok, err := w.next()
		if err != nil || !ok {
			return w.pos, err
		}
		if err := r.follows(s, w, pos, compacted); err != nil {
			return w.pos, err
		}
		if w.hdr.LastOffset() >= r.found.point {
			if r.buf, err = w.verify(r.buf); err != nil {
				return w.pos, err
			}
			r.l.recovery.Scanned += w.size
			r.noteEpoch(w.hdr.PartitionLeaderEpoch(), w.hdr.BaseOffset())
		}
		b := batchMeta{last: w.hdr.LastOffset(), maxMs: w.hdr.MaxTimestamp(), pos: w.pos, size: w.size}
		if b.last > known {
			s.note(b, interval)
		} else {
			s.observe(b)
			s.w.sinceIndex = b.size // counts from the last entry, which is the last to come here
		}
		r.end, r.lastEpoch = w.hdr.NextOffset(), w.hdr.PartitionLeaderEpoch()
	}
}

// follows checks the offsets of the walker's batch against what came before. start is where the walk began.
func (r *recovery) follows(s *segment, w *walker, start int64, compacted bool) error {
	off, begins := w.hdr.BaseOffset(), w.pos == start && start > 0
	if off < r.end || off > r.end && !begins && !compacted {
		return w.corrupt("offset %d after %d", off, r.end)
	}
	if w.hdr.LastOffset()-s.base > math.MaxInt32 {
		return w.corrupt("offset %d in a segment that begins at %d", w.hdr.LastOffset(), s.base)
	}
	return nil
}

func (r *recovery) noteEpoch(epoch int32, offset int64) {
	if n := len(r.epochs); epoch >= 0 && (n == 0 || r.epochs[n-1].epoch != epoch) {
		r.epochs = append(r.epochs, epochEntry{epoch, offset})
	}
}

// begin cuts the indexes to the entries that are known to be on disk, and sets the writer's state to behind them. It returns the last
// offset that has an entry. These entries stay as they are, also those behind the recovery point: the power may fail again meanwhile.
func (r *recovery) begin(s *segment, h vfs.File) (known int64, err error) {
	if !s.suspect.Load() {
		last, ok, err := r.keepIndexes(s)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err == nil && (!ok || r.names(s, h, last)) {
			return last.offset, nil
		}
	}
	if err := r.dropProof(s.base); err != nil {
		return 0, err
	}
	s.suspect.Store(false)
	return s.base - 1, s.resetIndexes()
}

// keepIndexes cuts the indexes, unless the stop was clean and they are complete. ok is false if no entry is left, and last.offset then
// lies before the segment.
func (r *recovery) keepIndexes(s *segment) (last offsetPosition, ok bool, err error) {
	if r.found.clean {
		if last, ok, err = s.index.lookup(math.MaxInt64); !ok {
			last.offset = s.base - 1
		}
	} else {
		n, t := 0, 0
		last, n, err = s.index.prefix(r.proof - 1)
		if err == nil {
			t, err = s.times.prefix(r.proof - 1)
		}
		if err == nil {
			err = errors.Join(s.index.cut(n), s.times.cut(t))
		}
		ok = n > 0
	}
	if err != nil {
		return last, ok, err
	}
	newest, found, err := s.times.newest()
	if !found {
		newest = timestampOffset{-1, s.base}
	}
	s.w.lastTime, s.w.largest, s.w.sinceIndex = newest, newest, 0
	return last, ok, err
}

// resume returns where to begin in the segment that holds the recovery point: at the last index entry before it.
func (r *recovery) resume(s *segment, h vfs.File) (pos int64, err error) {
	hint, ok, err := s.index.lookup(r.found.point)
	if err != nil || !ok || !r.names(s, h, hint) {
		if errors.Is(err, ErrCorrupt) {
			err = nil
		}
		return 0, err
	}
	return hint.pos, nil
}

// dropProof removes the snapshots that say of index files of the segment at base that they are on disk: these are about to be made
// anew, and the power may fail again meanwhile.
func (r *recovery) dropProof(base int64) error {
	if r.proof <= base {
		return nil
	}
	if err := r.pickSnapshot(base); err != nil {
		return err
	}
	r.proof = r.loaded
	return r.l.env.o.FS.SyncDir(r.l.path)
}

// names tells whether an index entry really names a batch.
func (r *recovery) names(s *segment, h vfs.File, hint offsetPosition) bool {
	w := walk(h, s.name, hint.pos, s.size)
	defer w.done()
	ok, err := w.next()
	return ok && err == nil && w.hdr.LastOffset() == hint.offset
}
