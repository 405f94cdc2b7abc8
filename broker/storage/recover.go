package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"moldau/internal/vfs"
)

// load opens every log of a directory, several at a time, before the directory's goroutines run. After an unclean stop everything
// that was found is made durable in the end: it may have been in the page cache only.
func (e *Engine) load(ctx context.Context, d *logDir) error {
	clean, err := takeCleanShutdown(e.env.o.FS, d.path)
	if err != nil {
		return err
	}
	known, err := d.readCheckpoints()
	if err != nil {
		return err
	}
	entries, err := e.env.o.FS.ReadDir(d.path)
	if err != nil {
		return err
	}
	var parts []TopicPartition
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if strings.HasSuffix(entry.Name(), deleteSuffix) {
			d.sweeper.discard(filepath.Join(d.path, entry.Name()), 0)
		} else if tp, ok := parseDirName(entry.Name()); ok {
			parts = append(parts, tp)
		}
	}
	if err := e.loadAll(ctx, d, parts, known, clean); err != nil {
		return err
	}
	if !clean {
		if err := d.syncLoaded(); err != nil {
			return err
		}
	}
	for _, l := range d.list() {
		if l.err.Load() == nil {
			l.flushedEnd = l.end.Load()
		}
	}
	d.pointsChanged.Store(!clean)
	return nil
}

// loadAll recovers logs with a bounded number of goroutines, which end before it returns.
func (e *Engine) loadAll(ctx context.Context, d *logDir, parts []TopicPartition, known checkpoints, clean bool) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	work := make(chan TopicPartition)
	for range e.env.o.RecoveryThreads {
		wg.Go(func() {
			for tp := range work {
				l, err := recoverLog(e.env, d, tp, found{
					point: known.points[tp], start: known.starts[tp], hw: known.hws[tp], clean: clean, lost: known.pointsLost, startLost: known.startsLost || d.foreign,
				})
				mu.Lock()
				if err == nil && l != nil {
					if other := e.logs[tp]; other != nil {
						err = fmt.Errorf("log %s is in %s and in %s", tp, other.dir.path, d.path)
					} else {
						e.logs[tp] = l
						d.add(l)
					}
				}
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
			}
		})
	}
feed:
	for _, tp := range parts {
		select {
		case work <- tp:
		case <-ctx.Done():
			errs = append(errs, ctx.Err())
			break feed
		}
	}
	close(work)
	wg.Wait()
	return errors.Join(errs...)
}

// syncLoaded makes what was found durable.
func (d *logDir) syncLoaded() error {
	err := d.env.o.FS.SyncFS(d.path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	var jobs []func() error
	for _, l := range d.list() {
		if l.err.Load() != nil {
			continue
		}
		for _, s := range l.segments() {
			if s.w.unsynced {
				for _, f := range s.files() {
					jobs = append(jobs, func() error { return l.syncFound(f) })
				}
			}
		}
		jobs = append(jobs, func() error { return d.env.o.FS.SyncDir(l.path) })
	}
	jobs = append(jobs, func() error { return d.env.o.FS.SyncDir(d.path) })
	return inParallel(syncWorkers, jobs)
}

// syncFound makes one file durable. An index without entries may have none.
func (l *Log) syncFound(f *file) error {
	if _, err := l.env.files.pin(f, 0); err != nil {
		if isNotExist(err) {
			return nil
		}
		return err
	}
	defer l.env.files.unpin(f)
	return f.sync()
}

// found is what the checkpoints say of a log.
type found struct {
	point int64 // recovery point: everything below is on disk
	start int64 // log start offset
	hw    int64 // high watermark
	clean bool  // the directory was closed cleanly
	lost  bool  // the recovery point is unknown: everything is checked, and damage may lie anywhere

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
	epochs    []epochEntry // seen in what was checked
	end       int64
	buf       []byte
}

// recoverLog opens one log. It checks what lies behind the recovery point, cuts off what a crash left half written, rebuilds indexes,
// leader epochs and producer state. A log that is damaged before its recovery point, or can't be read, comes back with an Err. The
// answer is nil for what is left of a creation that a crash interrupted.
func recoverLog(env *environment, d *logDir, tp TopicPartition, f found) (*Log, error) {
	began := time.Now()
	l := newLog(env, d, tp, TopicID{}, env.o.Config(tp))
	r := &recovery{l: l, found: f, buf: make([]byte, 0, 64<<10)}
	defer func() { l.recovery.Took = time.Since(began) }()
	l.recovery.Clean = f.clean
	l.hw.Store(f.hw)
	if err := r.list(); err != nil {
		return nil, err
	}
	if r.stillborn() {
		d.sweeper.discard(l.path, 0)
		return nil, nil
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

// list finds the log's files, and removes what earlier lives left behind.
func (r *recovery) list() error {
	l := r.l
	entries, err := l.env.o.FS.ReadDir(l.path)
	if err != nil {
		return err
	}
	sizes := make(map[string]int64, len(entries))
	for _, entry := range entries {
		name := entry.Name()
		switch filepath.Ext(name) {
		case deletedSuffix, tmpSuffix:
			l.dir.sweeper.discard(filepath.Join(l.path, name), 0)
			continue
		case snapshotSuffix:
			if off, ok := parseBase(name, snapshotSuffix); ok {
				r.snapshots = append(r.snapshots, off)
			}
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		sizes[name] = info.Size()
		if base, ok := parseBase(name, logSuffix); ok {
			s := newSegment(l.env.files, l.path, base)
			s.size, s.modifiedMs = info.Size(), info.ModTime().UnixMilli()
			s.w.createdMs = s.modifiedMs
			s.w.jitterMs = jitter(l.Config().SegmentJitterMs)
			r.segs = append(r.segs, s)
		}
	}
	slices.SortFunc(r.segs, func(a, b *segment) int { return int(min(max(a.base-b.base, -1), 1)) })
	slices.Sort(r.snapshots)
	for i, s := range r.segs {
		if i+1 < len(r.segs) {
			s.next = r.segs[i+1].base
		}
		s.adoptIndex(&s.index.entryFile, sizes)
		s.adoptIndex(&s.times.entryFile, sizes)
	}
	return r.readTopicID(sizes)
}

// adoptIndex takes an index file as it is: a missing or torn one of a segment with batches will be rebuilt before it is used.
func (s *segment) adoptIndex(e *entryFile, sizes map[string]int64) {
	size, ok := sizes[filepath.Base(e.current().path)]
	e.written, e.ragged = int(size/int64(e.width)), size%int64(e.width) != 0
	if s.size > 0 && (!ok || size%int64(e.width) != 0) {
		s.suspect.Store(true)
	}
}

// parseBase reads the offset in a segment file's name.
func parseBase(name, suffix string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), err == nil //nolint:gosec // 63 bits
}

func (r *recovery) readTopicID(sizes map[string]int64) error {
	l := r.l
	if _, ok := sizes[partitionMetadataFile]; !ok {
		return nil
	}
	name := filepath.Join(l.path, partitionMetadataFile)
	data, err := vfs.ReadFile(l.env.o.FS, name)
	if err != nil {
		return err
	}
	id, err := decodePartitionMetadata(data)
	if err != nil {
		if !r.empty() {
			l.env.logger.Error("topic id is lost", "file", name, "err", err)
		}
		return nil
	}
	l.id.Store(&id)
	return nil
}

func (r *recovery) empty() bool {
	for _, s := range r.segs {
		if s.size > 0 {
			return false
		}
	}
	return true
}

// stillborn tells whether a crash interrupted the creation: there are no records, never were any, and the topic id is missing.
func (r *recovery) stillborn() bool {
	return r.empty() && r.found.point == 0 && r.found.start == 0 && r.l.TopicID() == TopicID{} && !r.found.clean
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

// scan steps over a segment's batches, from the last index entry before the recovery point in the first one, and makes the indexes
// anew from there. Batches behind the recovery point are verified. It returns the end of what is whole.
func (r *recovery) scan(s *segment, first bool) (pos int64, err error) {
	h, err := r.l.env.files.pin(&s.log, 0)
	if err != nil {
		return 0, err
	}
	defer r.l.env.files.unpin(&s.log)
	if pos, err = r.begin(s, h, first); err != nil {
		return 0, err
	}
	s.w.unsynced = !r.found.clean
	interval := r.l.Config().IndexIntervalBytes
	w := walk(h, s.log.path, pos, s.size)
	defer w.done()
	for {
		ok, err := w.next()
		if err != nil || !ok {
			return w.pos, err
		}
		if w.hdr.BaseOffset() < r.end {
			return w.pos, w.corrupt("offset %d after %d", w.hdr.BaseOffset(), r.end)
		}
		if w.hdr.LastOffset() >= r.found.point {
			if r.buf, err = w.verify(r.buf); err != nil {
				return w.pos, err
			}
			r.l.recovery.Scanned += w.size
			r.noteEpoch(w.hdr.PartitionLeaderEpoch(), w.hdr.BaseOffset())
		}
		s.note(batchMeta{last: w.hdr.LastOffset(), maxMs: w.hdr.MaxTimestamp(), pos: w.pos, size: w.size}, interval)
		r.end = w.hdr.NextOffset()
	}
}

func (r *recovery) noteEpoch(epoch int32, offset int64) {
	if n := len(r.epochs); epoch >= 0 && (n == 0 || r.epochs[n-1].epoch != epoch) {
		r.epochs = append(r.epochs, epochEntry{epoch, offset})
	}
}

// begin chooses where to start in a segment, and cuts the indexes to what lies before.
func (r *recovery) begin(s *segment, h vfs.File, first bool) (pos int64, err error) {
	r.end = s.base
	if first {
		if hint, ok := s.indexed(r.indexedTo()); ok && r.trusted(s, h, hint) {
			if err := s.keepIndexes(hint, r.found.clean); err == nil {
				return hint.pos, nil
			} else if !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
				return 0, err
			}
		}
	}
	s.suspect.Store(false)
	return 0, s.resetIndexes()
}

// indexedTo returns the offset up to which the index files are known to be on disk: a snapshot is only written when they are.
func (r *recovery) indexedTo() int64 {
	if r.found.clean {
		return r.found.point
	}
	return min(r.proof, r.found.point) - 1
}

// trusted tells whether an index entry really names a batch, and whether the entries before it rise.
func (r *recovery) trusted(s *segment, h vfs.File, hint offsetPosition) bool {
	if s.suspect.Load() {
		return false
	}
	w := walk(h, s.log.path, hint.pos, s.size)
	defer w.done()
	if ok, err := w.next(); !ok || err != nil || w.hdr.LastOffset() != hint.offset {
		return false
	}
	return r.found.clean || s.index.rises(hint)
}

// rises tells whether the entries up to last rise strictly in both columns.
func (x *offsetIndex) rises(last offsetPosition) bool {
	rd, err := x.reader()
	if err != nil {
		return false
	}
	defer rd.done()
	prev := offsetPosition{x.base - 1, -1}
	for i := range rd.count() {
		if i%searchBlock == 0 && i < rd.written {
			if rd.load(i, i+searchBlock) != nil {
				return false
			}
		}
		entry, err := rd.entry(i)
		if err != nil {
			return false
		}
		p := x.decode(entry)
		if p.offset <= prev.offset || p.pos <= prev.pos {
			return false
		}
		if p == last {
			return true
		}
		prev = p
	}
	return false
}

// keepIndexes cuts both indexes behind the entry hint, and sets the writer's state to there. After a clean stop nothing is cut.
func (s *segment) keepIndexes(hint offsetPosition, clean bool) error {
	if !clean {
		n, err := s.index.entries(func(entry []byte) bool { return s.index.decode(entry).offset <= hint.offset })
		if err != nil {
			return err
		}
		t, err := s.times.entries(func(entry []byte) bool { return s.times.decode(entry).offset <= hint.offset })
		if err != nil {
			return err
		}
		if err := errors.Join(s.index.cut(n), s.times.cut(t)); err != nil {
			return err
		}
	}
	last, ok, err := s.times.newest()
	if err != nil {
		return err
	}
	if !ok {
		last = timestampOffset{-1, s.base}
	}
	s.w.lastTime, s.w.largest, s.w.sinceIndex = last, last, 0
	return nil
}

// entries counts the entries for which ok holds, a prefix of them.
func (e *entryFile) entries(ok func(entry []byte) bool) (int, error) {
	rd, err := e.reader()
	if err != nil {
		return 0, err
	}
	defer rd.done()
	i, err := rd.last(ok)
	return i + 1, err
}
