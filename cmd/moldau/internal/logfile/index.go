package logfile

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OffsetEntry is one entry of an offset index: the batch whose last offset is
// Offset begins at Position.
type OffsetEntry struct {
	Offset   int64 `json:"offset"`
	Position int64 `json:"position"`
}

// TimeEntry is one entry of a time index: no record up to Offset is younger
// than Timestamp.
type TimeEntry struct {
	Timestamp int64 `json:"timestamp"`
	Offset    int64 `json:"offset"`
}

// The sizes of index entries.
const (
	offsetEntryLen = 8
	timeEntryLen   = 12
)

// maxIndex bounds the size of an index that is read; Kafka's default is 10 MiB.
const maxIndex = 256 << 20

// BaseOffset is the first offset of a segment, from the name of one of its
// files.
func BaseOffset(path string) (int64, error) {
	name := filepath.Base(path)
	digits, _, _ := strings.Cut(name, ".")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || len(digits) != 20 || n < 0 {
		return 0, fmt.Errorf("%s: the name of a segment file begins with an offset of 20 digits", name)
	}
	return n, nil
}

// ReadOffsetIndex returns the entries of an offset index. A tail of zeros,
// which a running Kafka broker keeps behind the last entry, is left out.
func ReadOffsetIndex(path string) ([]OffsetEntry, error) {
	base, raw, err := readIndex(path, offsetEntryLen)
	if err != nil {
		return nil, err
	}
	var out []OffsetEntry
	for i := 0; i < len(raw); i += offsetEntryLen {
		rel, pos := binary.BigEndian.Uint32(raw[i:]), binary.BigEndian.Uint32(raw[i+4:])
		if i > 0 && rel == 0 && pos == 0 {
			break
		}
		out = append(out, OffsetEntry{base + int64(rel), int64(pos)})
	}
	return out, nil
}

// ReadTimeIndex returns the entries of a time index, without a tail of zeros.
func ReadTimeIndex(path string) ([]TimeEntry, error) {
	base, raw, err := readIndex(path, timeEntryLen)
	if err != nil {
		return nil, err
	}
	var out []TimeEntry
	for i := 0; i < len(raw); i += timeEntryLen {
		ts, rel := binary.BigEndian.Uint64(raw[i:]), binary.BigEndian.Uint32(raw[i+8:])
		if ts == 0 && rel == 0 {
			break
		}
		out = append(out, TimeEntry{int64(ts), base + int64(rel)})
	}
	return out, nil
}

func readIndex(path string, entry int64) (base int64, raw []byte, err error) {
	if base, err = BaseOffset(path); err != nil {
		return 0, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, nil, err
	}
	if info.Size() > maxIndex || info.Size()%entry != 0 {
		return 0, nil, fmt.Errorf("%s: %d bytes are no index with entries of %d bytes", path, info.Size(), entry)
	}
	raw, err = os.ReadFile(path)
	if err == nil && int64(len(raw))%entry != 0 {
		raw = raw[:int64(len(raw))/entry*entry] // it grew since
	}
	return base, raw, err
}
