package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"moldau/internal/vfs"
)

// sideSuffixes are those of the files beside a log file that compaction makes.
var sideSuffixes = []string{indexSuffix, timeSuffix, txnSuffix}

// finishSwaps finishes the replacement of segments by compacted ones that a crash interrupted, as far as it held: see Log.swapIn. What
// did not hold yet is removed.
func (r *recovery) finishSwaps() error {
	fsys, dir := r.l.env.o.FS, r.l.path
	names, err := swapNames(fsys, dir)
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		base, ok := parseBase(strings.TrimSuffix(name, swapSuffix), logSuffix)
		if !ok || !strings.HasSuffix(name, swapSuffix) {
			continue
		}
		r.l.env.logger.Info("finishing an interrupted compaction", "partition", r.l.tp.String(), "segment", base)
		if err := r.finishSwap(base); err != nil {
			return fmt.Errorf("finish the compaction of %s: %w", r.l.tp, err)
		}
	}
	left, err := swapNames(fsys, dir)
	if err != nil || len(left) == 0 {
		return err
	}
	for _, name := range left {
		if err := removeAll(fsys, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return fsys.SyncDir(dir)
}

// swapNames lists the files of compacted segments that are not part of the log yet.
func swapNames(fsys vfs.FS, dir string) ([]string, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == cleanedSuffix || ext == swapSuffix {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// finishSwap puts the compacted segment at base into its place, in the order of Log.swapIn.
func (r *recovery) finishSwap(base int64) error {
	fsys, dir := r.l.env.o.FS, r.l.path
	swap := segmentPath(dir, base, logSuffix) + swapSuffix
	end, err := endOfFile(fsys, swap)
	if err != nil {
		return err
	}
	if err := removeReplaced(fsys, dir, base, end); err != nil {
		return err
	}
	for _, suffix := range sideSuffixes {
		name := segmentPath(dir, base, suffix)
		err := fsys.Rename(name+swapSuffix, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // missing: it has its final name already
			return err
		}
	}
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	if err := fsys.Rename(swap, segmentPath(dir, base, logSuffix)); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// removeReplaced removes the files of the segments that begin behind base and before end.
func removeReplaced(fsys vfs.FS, dir string, base, end int64) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, suffix := range append(slices.Clone(sideSuffixes), logSuffix) {
			if at, ok := parseBase(e.Name(), suffix); ok && at > base && at < end {
				if err := removeAll(fsys, filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// endOfFile returns the offset behind the last batch of a file.
func endOfFile(fsys vfs.FS, name string) (end int64, err error) {
	h, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	size, err := h.Size()
	if err != nil {
		return 0, err
	}
	w := walk(h, name, 0, size)
	defer w.done()
	for {
		ok, err := w.next()
		if err != nil || !ok {
			return end, err
		}
		end = w.hdr.NextOffset()
	}
}
