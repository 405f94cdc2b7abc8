package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moldau/broker/record"
)

// Finding is something wrong in a file.
type Finding struct {
	File     string `json:"file"`
	Position int64  `json:"position"` // in the file; -1 for the file as a whole
	Problem  string `json:"problem"`
}

// Report is what Verify found out.
type Report struct {
	Segments int       `json:"segments"`
	Batches  int64     `json:"batches"`
	Records  int64     `json:"records"`
	Bytes    int64     `json:"bytes"`
	Findings []Finding `json:"findings"`
}

// place is what Verify remembers of a batch to judge the indexes.
type place struct{ position, first, last int64 }

// verifier walks the segments of one partition in order.
type verifier struct {
	report       *Report
	decompressor *record.Decompressor
	next         int64 // the least offset that may come next
	places       []place
	maxTimestamp int64
}

// Verify reads every segment of a partition's directory, or of every partition
// directory below it: checksums, records, the order of offsets, and that the
// indexes lead to batches that are there.
func Verify(dir string) (*Report, error) {
	byDir := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, berr := BaseOffset(path); berr == nil && !d.IsDir() && strings.HasSuffix(path, ".log") {
			byDir[filepath.Dir(path)] = append(byDir[filepath.Dir(path)], path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(byDir) == 0 {
		return nil, fmt.Errorf("%s holds no segments", dir)
	}
	report := &Report{Findings: []Finding{}}
	dirs := make([]string, 0, len(byDir))
	for d := range byDir {
		dirs = append(dirs, d)
	}
	slices.Sort(dirs)
	for _, d := range dirs {
		slices.Sort(byDir[d]) // by base offset: the names have equal length
		v := verifier{report: report, decompressor: record.NewDecompressor(record.Limits{MaxBytes: math.MaxInt32})}
		for _, path := range byDir[d] {
			if err := v.segment(path); err != nil {
				return nil, err
			}
		}
	}
	return report, nil
}

func (v *verifier) find(file string, position int64, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{file, position, fmt.Sprintf(format, args...)})
}

func (v *verifier) segment(path string) error {
	base, err := BaseOffset(path)
	if err != nil {
		return err
	}
	if base < v.next {
		v.find(path, -1, "the segment begins at offset %d, and the one before it goes up to %d", base, v.next-1)
	}
	v.next, v.places, v.maxTimestamp = base, v.places[:0], -1
	v.report.Segments++
	end, err := Scan(path, func(l Located) error { v.batch(path, l); return nil })
	v.report.Bytes += end
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &pathErr):
		return err
	case err != nil:
		v.find(path, end, "%v", err)
	}
	return errors.Join(v.offsetIndex(path), v.timeIndex(path))
}

func (v *verifier) batch(path string, l Located) {
	b := l.Batch
	v.report.Batches++
	if err := b.Verify(); err != nil {
		v.find(path, l.Position, "%v", err)
		return
	}
	if b.BaseOffset() < v.next {
		v.find(path, l.Position, "the batch begins at offset %d, and %d was expected at least", b.BaseOffset(), v.next)
	}
	v.next = b.NextOffset()
	v.places = append(v.places, place{l.Position, b.BaseOffset(), b.LastOffset()})
	v.maxTimestamp = max(v.maxTimestamp, b.MaxTimestamp())
	r := b.Records(v.decompressor)
	defer r.Close()
	last := b.BaseOffset() - 1
	for r.Next() {
		v.report.Records++
		if o := r.Record().Offset; o <= last || o > b.LastOffset() {
			v.find(path, l.Position, "record with offset %d behind %d in a batch that ends at %d", o, last, b.LastOffset())
		}
		last = r.Record().Offset
	}
	if err := r.Err(); err != nil {
		v.find(path, l.Position, "%v", err)
	}
}

// offsetIndex checks that every entry leads to the batch that holds its offset.
func (v *verifier) offsetIndex(segment string) error {
	path := strings.TrimSuffix(segment, ".log") + ".index"
	entries, err := ReadOffsetIndex(path)
	if err != nil {
		return v.unreadable(path, err)
	}
	last := int64(-1)
	for i, e := range entries {
		at := int64(i) * offsetEntryLen
		if e.Offset <= last {
			v.find(path, at, "offset %d stands behind %d", e.Offset, last)
		}
		last = e.Offset
		n, found := slices.BinarySearchFunc(v.places, e.Position, func(p place, pos int64) int { return int(p.position - pos) })
		switch {
		case !found:
			v.find(path, at, "offset %d leads to position %d, where no batch begins", e.Offset, e.Position)
		case e.Offset < v.places[n].first || e.Offset > v.places[n].last:
			v.find(path, at, "offset %d leads to position %d, to the batch of %d to %d", e.Offset, e.Position, v.places[n].first, v.places[n].last)
		}
	}
	return nil
}

// timeIndex checks that entries ascend and name times and offsets that exist.
func (v *verifier) timeIndex(segment string) error {
	path := strings.TrimSuffix(segment, ".log") + ".timeindex"
	entries, err := ReadTimeIndex(path)
	if err != nil {
		return v.unreadable(path, err)
	}
	last := TimeEntry{Timestamp: math.MinInt64, Offset: -1}
	for i, e := range entries {
		at := int64(i) * timeEntryLen
		if e.Timestamp <= last.Timestamp || e.Offset < last.Offset {
			v.find(path, at, "time %d, offset %d stand behind time %d, offset %d", e.Timestamp, e.Offset, last.Timestamp, last.Offset)
		}
		if e.Timestamp > v.maxTimestamp || e.Offset >= v.next {
			v.find(path, at, "time %d, offset %d lie behind the end of the segment (time %d, offset %d)", e.Timestamp, e.Offset, v.maxTimestamp, v.next-1)
		}
		last = e
	}
	return nil
}

// unreadable reports an index that cannot be read; one that is missing is
// rebuilt by the broker and no finding.
func (v *verifier) unreadable(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	v.find(path, -1, "%v", err)
	return nil
}
