package storage

import (
	"fmt"
	"math"
	"os"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// Suffixes of the files of a compacted segment on their way into the log; Kafka's.
const (
	cleanedSuffix = ".cleaned" // being written
	swapSuffix    = ".swap"    // complete; the log file's name with it is the promise to finish the replacement
)

// compactedSegment is a segment that compaction writes. Nobody else sees it before swapIn. All its files are pinned, so that none is
// ever opened by name: the log may be deleted and made anew meanwhile.
type compactedSegment struct {
	*segment
	l        *Log
	h        vfs.File
	interval int64
	buf      []byte // batches behind pos, not written yet
	pos      int64  // bytes in the file
	end      int64  // offset behind the last batch
	changed  bool   // it isn't a copy of what it was made from
}

// beginCompacted makes the files of a segment to be filled.
func (l *Log) beginCompacted(base int64, w *cleanerWorker) (*compactedSegment, error) {
	s := newSegment(l.env.files, l.path, base)
	out := &compactedSegment{segment: s, l: l, interval: l.Config().IndexIntervalBytes, buf: w.pending[:0], end: base}
	for _, f := range out.all() {
		f.path += cleanedSuffix
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return nil, ErrClosed
	}
	for i, f := range out.all() {
		h, err := l.env.files.pin(f, os.O_CREATE|os.O_TRUNC)
		if err != nil {
			out.unpin(out.all()[:i])
			_ = removeAll(l.env.o.FS, out.paths()...) // the next attempt or the next start does so too
			return nil, l.ioError("compact", err)
		}
		if f == &s.log {
			out.h = h
		}
	}
	s.aborted.exists.Store(true)
	return out, nil
}

// all returns the files, the log file last.
func (out *compactedSegment) all() []*file {
	return []*file{out.index.current(), out.times.current(), out.aborted.file, &out.log}
}

// side returns the files beside the log file.
func (out *compactedSegment) side() []*file { return out.all()[:3] }

func (out *compactedSegment) paths() []string {
	var paths []string
	for _, f := range out.all() {
		paths = append(paths, f.path)
	}
	return paths
}

// append adds a batch.
func (out *compactedSegment) append(b record.Batch) error {
	pos := out.pos + int64(len(out.buf))
	if pos+int64(len(b)) > math.MaxInt32 {
		return fmt.Errorf("compact %s: the segment at %d would become larger than an index can address: %w", out.l.tp, out.base, ErrTooLarge)
	}
	out.note(batchMeta{last: b.LastOffset(), maxMs: b.MaxTimestamp(), pos: pos, size: int64(len(b))}, out.interval)
	out.end = b.NextOffset()
	out.buf = append(out.buf, b...)
	if len(out.buf) < cap(out.buf)/2 {
		return nil
	}
	return out.write()
}

// write writes what was gathered.
func (out *compactedSegment) write() error {
	if _, err := out.h.WriteAt(out.buf, out.pos); err != nil {
		return out.l.ioError("compact", err)
	}
	out.pos += int64(len(out.buf))
	out.buf = out.buf[:0]
	return nil
}

// finish completes the files and makes them durable. last is the last segment that went in.
func (out *compactedSegment) finish(last *segment) error {
	if err := out.write(); err != nil {
		return err
	}
	if err := out.sealIndexes(); err != nil {
		return out.l.ioError("compact", err)
	}
	last.mu.Lock()
	out.next, out.modifiedMs = last.next, last.modifiedMs
	last.mu.Unlock()
	out.size = out.pos
	out.segment.largest, out.largestKnown = out.w.largest, true
	out.w.createdMs = out.modifiedMs
	for _, f := range out.all() {
		if err := f.sync(); err != nil {
			return out.l.syncError("compact", err)
		}
	}
	return nil
}

// discard removes a segment that does not go into the log.
func (out *compactedSegment) discard() {
	out.unpin(out.all())
	out.drop()
	out.l.mu.Lock()
	defer out.l.mu.Unlock()
	if out.l.gone || out.l.dir.offlineErr() != nil {
		return // the names may be another log's by now, or the next start finds out what holds
	}
	if err := removeAll(out.l.env.o.FS, out.paths()...); err != nil {
		out.l.env.logger.Warn("could not remove what an abandoned compaction left; the next start tries again", "file", out.log.path, "err", err)
	}
}

func (out *compactedSegment) unpin(files []*file) {
	for _, f := range files {
		out.l.env.files.unpin(f)
	}
}
