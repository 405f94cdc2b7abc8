package storage

import (
	"fmt"
	"time"
)

// SetStart moves the log start offset up to offset (DeleteRecords); a lower one does nothing. It is durable when the call returns.
// Segments that lie wholly below are removed by the next Retain. ErrOffsetOutOfRange if offset is above End.
func (l *Log) SetStart(offset int64) error {
	l.mu.Lock()
	err := l.setStart(offset)
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("set start of %s to %d: %w", l.tp, offset, err)
	}
	if err := l.dir.keeper.checkpoint(false); err != nil {
		return fmt.Errorf("set start of %s to %d: %w", l.tp, offset, err)
	}
	return nil
}

func (l *Log) setStart(offset int64) error {
	if err := l.writable(); err != nil {
		return err
	}
	if offset > l.end.Load() || offset < 0 {
		return ErrOffsetOutOfRange
	}
	if offset <= l.start.Load() {
		return nil
	}
	l.start.Store(offset)
	l.dir.startsChanged.Store(true)
	l.forgetEpochs(offset)
	return nil
}

// forgetEpochs drops epochs below the log start offset from memory. The file follows with the next new epoch; until then what it says
// too much is dropped again at start.
func (l *Log) forgetEpochs(start int64) {
	l.epochMu.Lock()
	l.epochs.truncateStart(start)
	l.epochMu.Unlock()
}

// Retain deletes the segments at the beginning of the log that retention.ms and retention.bytes let go, or that lie below the log start
// offset. Only records below the high watermark (SetHighWatermark) are ever deleted. It returns the number of segments. Their files
// are renamed at once and removed after file.delete.delay.ms.
func (l *Log) Retain(now time.Time) (deleted int, err error) {
	if err := l.writable(); err != nil {
		return 0, fmt.Errorf("retain %s: %w", l.tp, err)
	}
	state, err := l.retainState(now)
	if err != nil {
		return 0, l.readError("retain", err)
	}
	if n, _ := retainChoice(state); n == 0 {
		return 0, nil
	}
	l.reshape.Lock()
	defer l.reshape.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return 0, fmt.Errorf("retain %s: %w", l.tp, err)
	}
	if state, err = l.retainState(now); err != nil { // appends may have come in between
		return 0, l.readError("retain", err)
	}
	n, why := retainChoice(state)
	if n == 0 {
		return 0, nil
	}
	if n == len(state.segments) {
		if _, err := l.roll(l.end.Load()); err != nil {
			return 0, err
		}
	}
	if err := l.advance(n); err != nil {
		return 0, fmt.Errorf("retain %s: %w", l.tp, err)
	}
	l.dropSegments(n, why)
	return n, nil
}

// retainState gathers what retainChoice decides on. Where a segment's indexes must be rebuilt first, that is put off: the segment
// stays until somebody has done so.
func (l *Log) retainState(now time.Time) (retainState, error) {
	cfg := l.Config()
	s := retainState{
		start: l.start.Load(), end: l.end.Load(), limit: l.hw.Load(), nowMs: now.UnixMilli(),
		retentionMs: cfg.RetentionMs, retentionBytes: cfg.RetentionBytes, deletePolicy: cfg.Delete,
	}
	for _, seg := range l.segments() {
		_, size := seg.bounds()
		r := retainSegment{base: seg.base, size: size}
		if size > 0 && cfg.Delete && cfg.RetentionMs >= 0 {
			t, err := l.largestOf(seg)
			if err != nil {
				return s, err
			}
			if r.largestMs = t.timestamp; t.timestamp < 0 {
				seg.mu.Lock()
				r.largestMs = seg.modifiedMs
				seg.mu.Unlock()
			}
		}
		s.segments = append(s.segments, r)
	}
	return s, nil
}

// advance moves the log start offset over the first n segments, durably: recovery can then tell segments that were deleted from
// segments that were lost. The names of those that stay must be durable before, too. The caller holds mu.
func (l *Log) advance(n int) error {
	if l.dirDirty {
		if err := l.env.o.FS.SyncDir(l.path); err != nil {
			return l.syncError("sync", err)
		}
	}
	if first := l.segments()[n].base; first > l.start.Load() {
		l.start.Store(first)
		l.dir.startsChanged.Store(true)
	}
	return l.dir.keeper.checkpoint(false)
}

// dropSegments takes the first n segments out of the log. The caller holds mu.
func (l *Log) dropSegments(n int, why string) {
	segs := l.segments()
	gone, rest := segs[:n], append([]*segment(nil), segs[n:]...)
	l.view.Store(&rest)
	l.forgetEpochs(l.start.Load())
	bytes := int64(0)
	for _, s := range gone {
		bytes += s.size
		l.discardSegment(s)
	}
	l.discardSnapshots(rest[0].base)
	l.dirDirty = true
	l.env.logger.Info("deleted segments", "partition", l.tp.String(), "reason", why, "segments", n, "bytes", bytes, "start", l.start.Load())
	l.env.o.Metrics.SegmentsDeleted(n, bytes)
}

// discardSegment gives a segment's files the suffix .deleted and leaves them to the sweeper. Readers that still see the segment find
// them under the new name.
func (l *Log) discardSegment(s *segment) {
	delay := l.dir.deleteDelay(l.Config())
	for _, f := range s.files() {
		to := l.deletedPath(f.path)
		if err := l.env.files.rename(f, to); err != nil {
			if !isNotExist(err) {
				l.env.logger.Warn("could not rename a deleted file", "file", f.path, "err", err)
			}
			continue
		}
		l.dir.sweeper.discard(to, delay, f)
	}
}

// discardSnapshots removes producer snapshots below offset.
func (l *Log) discardSnapshots(offset int64) {
	kept := l.snapshots[:0]
	for _, off := range l.snapshots {
		if off >= offset {
			kept = append(kept, off)
			continue
		}
		l.removeSnapshot(off)
	}
	l.snapshots = kept
}
