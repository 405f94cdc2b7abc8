package storage

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// swapIn puts a compacted segment into the place of those it was made from. A crash at any point leaves either the old segments or the
// new one, which recovery finds out by the names; docs/format/compaction.md has the states. The order is:
//
//  1. the files beside the log file are renamed from .cleaned to .swap, durably;
//  2. the log file is. From here on the new segment holds;
//  3. the old files get the suffix .deleted, and the new files beside the log file their final names, durably;
//  4. the log file gets its final name.
//
// Appends wait for the renames, as they do for those of a roll, and not for the disk. Readers are not held up: who has the old segments
// in view finds their files under the new names until the sweeper removes them.
func (l *Log) swapIn(out *compactedSegment, old []*segment, cuts int) error {
	l.reshape.Lock()
	defer l.reshape.Unlock()
	err := l.swapStage(func() error {
		if !l.holds(old) || l.truncations() != cuts {
			return errOvertaken
		}
		return l.resuffix(cleanedSuffix, swapSuffix, out.side()...)
	})
	if err == nil {
		err = l.swapStage(func() error { return l.resuffix(cleanedSuffix, swapSuffix, &out.log) })
	}
	if err != nil {
		return l.notSwapped(err)
	}
	var retired []*file
	err = l.swapStage(func() (err error) {
		if retired, err = l.retire(old); err != nil {
			return err
		}
		return l.resuffix(swapSuffix, "", out.side()...)
	})
	if err == nil {
		err = l.swapStage(func() error {
			if err := l.resuffix(swapSuffix, "", &out.log); err != nil {
				return err
			}
			l.replace(old, out.segment)
			return nil
		})
	}
	if err != nil {
		return l.halfSwapped(err)
	}
	l.swapped(out, retired)
	return nil
}

// swapStage renames files under the append lock, if the log is still there, and makes the names durable.
func (l *Log) swapStage(rename func() error) error {
	if err := l.renaming(rename); err != nil {
		return err
	}
	if err := l.env.o.FS.SyncDir(l.path); err != nil && !l.isGone() {
		return l.syncError("compact", err)
	}
	return nil
}

func (l *Log) renaming(rename func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return err
	}
	return rename()
}

// isGone tells whether the log was deleted or closed: its directory may be another log's by now.
func (l *Log) isGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// notSwapped is the error of a replacement that failed before it held.
func (l *Log) notSwapped(err error) error {
	if werr := l.writable(); werr != nil {
		return werr
	}
	if errors.Is(err, errOvertaken) {
		return err
	}
	return l.ioError("compact", err)
}

// halfSwapped is the error of a replacement that holds and could not be finished: the next start does it.
func (l *Log) halfSwapped(err error) error {
	if werr := l.writable(); werr != nil {
		return werr
	}
	return l.syncError("compact", err)
}

// holds tells whether some segments follow each other in the log, and none of them is active. The caller holds mu.
func (l *Log) holds(old []*segment) bool {
	segs := l.segments()
	i := slices.Index(segs, old[0])
	return i >= 0 && i+len(old) < len(segs) && slices.Equal(segs[i:i+len(old)], old)
}

// replace shows readers the new segment. The caller holds mu.
func (l *Log) replace(old []*segment, by *segment) {
	segs := l.segments()
	i := slices.Index(segs, old[0])
	next := append(slices.Clone(segs[:i]), by)
	next = append(next, segs[i+len(old):]...)
	l.view.Store(&next)
}

// resuffix gives files another suffix.
func (l *Log) resuffix(from, to string, files ...*file) error {
	for _, f := range files {
		if err := l.env.files.rename(f, strings.TrimSuffix(f.path, from)+to); err != nil {
			return err
		}
	}
	return nil
}

// retire renames the files of old segments, and makes sure that nobody writes to them. The caller holds mu.
func (l *Log) retire(old []*segment) (retired []*file, err error) {
	for _, s := range old {
		s.w.beyondRepair = true // its names are the new segment's
		for _, f := range []*file{&s.log, s.index.current(), s.times.current(), s.aborted.file} {
			err := l.env.files.retire(f, l.deletedPath(f.path))
			if isNotExist(err) && f != &s.log {
				continue
			}
			if err != nil {
				return nil, err
			}
			retired = append(retired, f)
		}
	}
	return retired, nil
}

// deletedPath returns a name for a file that is no longer part of the log. An earlier file of the same name may still be waiting for
// its removal.
func (l *Log) deletedPath(path string) string {
	for n := 0; ; n++ {
		to := path + deletedSuffix
		if n > 0 {
			to = path + "." + strconv.Itoa(n) + deletedSuffix
		}
		if _, err := l.env.o.FS.Stat(to); err != nil {
			return to
		}
	}
}

// swapped hands the old files to the sweeper.
func (l *Log) swapped(out *compactedSegment, retired []*file) {
	delay := l.dir.deleteDelay(l.Config())
	for _, f := range retired {
		l.dir.sweeper.discard(f.path, delay, f)
	}
	out.unpin(out.all())
	if out.aborted.has() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone || out.aborted.has() {
		return
	}
	if err := removeAll(l.env.o.FS, out.aborted.file.path); err == nil { // most segments have none
		out.aborted.exists.Store(false)
		l.env.files.drop(out.aborted.file)
		out.aborted.file = &file{path: out.aborted.file.path}
	}
}
