package storage

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moldau/internal/vfs"
)

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
		if size, ok := sizes[filepath.Base(s.aborted.file.path)]; ok {
			s.aborted.adopt(size)
		}
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
