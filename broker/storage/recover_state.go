package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"moldau/internal/vfs"
)

// finish makes the log usable: segments are in order, now start offset, leader epochs and producer state follow from them.
func (r *recovery) finish() error {
	l := r.l
	if r.found.start > r.end {
		if err := r.restart(); err != nil {
			return err
		}
	}
	segs := slices.Clip(r.segs)
	l.view.Store(&segs)
	l.end.Store(r.end)
	l.start.Store(min(max(r.found.start, segs[0].base), r.end))
	if err := r.recoverEpochs(); err != nil {
		return err
	}
	r.indexed = r.end
	if !r.found.clean {
		r.indexed = min(r.end, max(r.found.point, r.proof))
	}
	return r.recoverProducers()
}

// restart empties a log whose records were deleted up to an offset that a crash then took away: everything that is left lies below
// the log start offset.
func (r *recovery) restart() error {
	l := r.l
	for _, s := range r.segs {
		s.drop()
		if err := removeAll(l.env.o.FS, s.log.path, s.index.current().path, s.times.current().path, s.aborted.file.path); err != nil {
			return err
		}
	}
	s, err := l.createSegment(r.found.start)
	if err != nil {
		return err
	}
	r.segs, r.end = []*segment{s}, s.base
	return l.env.o.FS.SyncDir(l.path)
}

// recoverEpochs reads the leader epoch cache, adds what the checked batches say, and drops what lies outside of the log. A cache that
// is missing or damaged is made anew from all batch headers.
func (r *recovery) recoverEpochs() error {
	l := r.l
	data, err := vfs.ReadFile(l.env.o.FS, filepath.Join(l.path, epochFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	missing := err != nil
	if !missing {
		l.epochs.entries, err = decodeEpochs(data)
	}
	if err == nil {
		err = r.verifyEpochs()
	}
	if err != nil && !r.empty() {
		if !missing {
			l.env.logger.Warn("leader epochs are damaged and made anew from the log", "partition", l.tp.String(), "err", err)
		}
		if err := r.epochsFromLog(); err != nil {
			return err
		}
	}
	if err := r.earlierEpochs(); err != nil {
		return err
	}
	if len(r.epochs) > 0 {
		l.epochs.truncateEnd(r.epochs[0].start) // from here on the batches say it themselves
	}
	for _, e := range r.epochs {
		if e.epoch > l.epochs.latest() {
			l.epochs.assign(e.epoch, e.start)
		}
	}
	l.epochs.truncateEnd(r.end + 1) // a leader may have begun its epoch at the end and written nothing yet
	l.epochs.truncateStart(l.start.Load())
	out := encodeEpochs(l.epochs.entries)
	if missing && len(l.epochs.entries) == 0 || slices.Equal(out, data) {
		return nil
	}
	return vfs.WriteFileAtomic(l.env.o.FS, filepath.Join(l.path, epochFile), out)
}

// verifyEpochs compares the epoch cache with some batches, because the file has no checksum: with the first and the last batch of the
// log, and with those that the newest entries say begin an epoch.
func (r *recovery) verifyEpochs() error {
	c, start := r.l.epochs, r.l.start.Load()
	c.entries = slices.Clone(c.entries)
	c.truncateEnd(r.end)
	if r.lastEpoch >= 0 && c.latest() != r.lastEpoch {
		return fmt.Errorf("%w: the last batch has leader epoch %d, the last entry %d", ErrCorrupt, r.lastEpoch, c.latest())
	}
	offsets := []int64{start}
	for _, e := range c.entries[max(0, len(c.entries)-2):] {
		if e.start > start {
			offsets = append(offsets, e.start)
		}
	}
	for _, off := range offsets {
		want, good := c.epochAt(off), true
		err := r.l.walkHeaders(r.segs, off, func(w *walker) bool {
			base := w.hdr.BaseOffset()
			if base > off { // compaction took the batches in between, perhaps all of that epoch
				want = c.epochAt(base)
			}
			good = w.hdr.PartitionLeaderEpoch() == want && (off == start || base >= off)
			return false
		})
		if err != nil {
			return err
		}
		if !good {
			return fmt.Errorf("%w: the batch at %d does not have leader epoch %d", ErrCorrupt, off, want)
		}
	}
	return nil
}

// earlierEpochs reads the epochs of batches before the first one in the cache from the log: a crash may bring segments back that had
// been deleted.
func (r *recovery) earlierEpochs() error {
	known := r.end
	if e := r.l.epochs.entries; len(e) > 0 {
		known = min(known, e[0].start)
	}
	if e := r.epochs; len(e) > 0 {
		known = min(known, e[0].start)
	}
	if known <= r.l.start.Load() {
		return nil
	}
	checked := r.epochs
	r.epochs = nil
	err := r.l.walkHeaders(r.segs, r.l.start.Load(), func(w *walker) bool {
		if w.hdr.BaseOffset() >= known {
			return false
		}
		r.noteEpoch(w.hdr.PartitionLeaderEpoch(), w.hdr.BaseOffset())
		return true
	})
	earlier := r.epochs
	r.epochs = checked
	if n := len(earlier); n > 0 && len(r.l.epochs.entries) > 0 && earlier[n-1].epoch == r.l.epochs.entries[0].epoch {
		r.l.epochs.entries = r.l.epochs.entries[1:]
	}
	r.l.epochs.entries = append(earlier, r.l.epochs.entries...)
	return err
}

func (r *recovery) epochsFromLog() error {
	r.epochs, r.l.epochs.entries = nil, nil
	return r.l.walkHeaders(r.segs, 0, func(w *walker) bool {
		r.noteEpoch(w.hdr.PartitionLeaderEpoch(), w.hdr.BaseOffset())
		return true
	})
}

// recoverProducers takes the newest good snapshot and replays the batches behind it. Snapshots beyond the end, and damaged ones, are
// removed.
func (r *recovery) recoverProducers() error {
	l := r.l
	if err := r.pickSnapshot(r.end); err != nil {
		return err
	}
	from := l.start.Load()
	if n := len(r.snapshots); n > 0 {
		from = r.snapshots[n-1]
		l.snapAt, l.snapshots = from, r.snapshots
	}
	segs := l.segments()
	if err := r.keepAborted(segs, from); err != nil {
		return err
	}
	p := newReplay(l.producers, &l.txns, l.env.nowMs())
	err := l.replay(p, segs, from, func(w *walker, e *abortedEntry) error {
		l.snapBytes += w.size
		if e == nil || e.LastOffset < r.indexed {
			return nil
		}
		return segs[segmentFor(segs, e.LastOffset)].aborted.restore(*e)
	})
	l.txns.firstUnstable(l.hw.Load()) // forgets what need not be remembered
	return err
}

// keepAborted keeps of the transaction indexes what is known to be on disk. What follows is made anew from the batches: by the replay
// if that begins early enough.
func (r *recovery) keepAborted(segs []*segment, from int64) error {
	lo := segmentFor(segs, r.indexed)
	if from > r.indexed {
		r.indexed = r.end
		return r.l.rebuildAborted(segs, lo, len(segs), r.snapshots)
	}
	if r.found.clean {
		return nil
	}
	for _, s := range segs[lo:] {
		err := s.aborted.cut(s.base, r.indexed)
		if errors.Is(err, ErrCorrupt) {
			r.indexed = r.end
			return r.l.rebuildAborted(segs, lo, len(segs), r.snapshots)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pickSnapshot loads the newest good snapshot up to offset end into the log's table of producers, and removes all newer ones.
func (r *recovery) pickSnapshot(end int64) error {
	l := r.l
	for n := len(r.snapshots); n > 0; n = len(r.snapshots) {
		off := r.snapshots[n-1]
		if off <= end && r.loaded == off {
			return nil
		}
		if off <= end {
			good, err := r.loadSnapshot(off)
			if err != nil {
				return err
			}
			if good {
				r.loaded = off
				return nil
			}
		}
		if err := removeAll(l.env.o.FS, segmentPath(l.path, off, snapshotSuffix)); err != nil {
			return err
		}
		r.snapshots = r.snapshots[:n-1]
	}
	l.producers.clear()
	r.loaded = 0
	return nil
}

func (r *recovery) loadSnapshot(off int64) (bool, error) {
	name := segmentPath(r.l.path, off, snapshotSuffix)
	data, err := vfs.ReadFile(r.l.env.o.FS, name)
	if err != nil {
		return false, err
	}
	if err := decodeSnapshot(r.l.producers, data, r.l.env.nowMs()); err != nil {
		r.l.env.logger.Warn("producer snapshot is damaged and not used", "file", name, "err", err)
		return false, nil
	}
	return true, nil
}

// walkHeaders calls visit for the header of every batch from the one that holds offset from on, until visit returns false.
func (l *Log) walkHeaders(segs []*segment, from int64, visit func(*walker) bool) error {
	if len(segs) == 0 {
		return nil
	}
	for _, s := range segs[segmentFor(segs, from):] {
		more, err := l.walkSegment(s, from, visit)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (l *Log) walkSegment(s *segment, from int64, visit func(*walker) bool) (more bool, err error) {
	next, size := s.bounds()
	if size == 0 || next <= from {
		return true, nil
	}
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return false, err
	}
	defer l.env.files.unpin(&s.log)
	pos, ok, err := s.locate(h, from, size)
	if err != nil || !ok {
		return err == nil, err
	}
	w := walk(h, s.name, pos, size)
	defer w.done()
	for {
		ok, err := w.next()
		if err != nil || !ok {
			return err == nil, err
		}
		if !visit(w) {
			return false, nil
		}
	}
}
