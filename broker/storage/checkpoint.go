package storage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"moldau/internal/vfs"
)

// Names of the checkpoint files of a log directory; Kafka's.
const (
	recoveryPointFile = "recovery-point-offset-checkpoint"
	logStartFile      = "log-start-offset-checkpoint"
	highWatermarkFile = "replication-offset-checkpoint"
)

// checkpointVersion is the first line of every checkpoint file.
const checkpointVersion = 0

// encodeOffsets writes an offset checkpoint: version, count, and one line "topic partition offset" for each partition, sorted.
func encodeOffsets(offsets map[TopicPartition]int64) []byte {
	keys := make([]TopicPartition, 0, len(offsets))
	for tp := range offsets {
		keys = append(keys, tp)
	}
	slices.SortFunc(keys, func(a, b TopicPartition) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	out := make([]byte, 0, 16+48*len(keys))
	out = appendCheckpointHead(out, len(keys))
	for _, tp := range keys {
		out = append(out, tp.Topic...)
		out = append(out, ' ')
		out = strconv.AppendInt(out, int64(tp.Partition), 10)
		out = append(out, ' ')
		out = strconv.AppendInt(out, offsets[tp], 10)
		out = append(out, '\n')
	}
	return out
}

// decodeOffsets reads an offset checkpoint.
func decodeOffsets(data []byte) (map[TopicPartition]int64, error) {
	lines, err := checkpointLines(data)
	if err != nil {
		return nil, err
	}
	out := make(map[TopicPartition]int64, len(lines))
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%w: checkpoint line %q", ErrCorrupt, line)
		}
		p, perr := strconv.ParseInt(f[1], 10, 32)
		off, oerr := strconv.ParseInt(f[2], 10, 64)
		if perr != nil || oerr != nil || p < 0 || off < 0 {
			return nil, fmt.Errorf("%w: checkpoint line %q", ErrCorrupt, line)
		}
		out[TopicPartition{Topic: f[0], Partition: int32(p)}] = off
	}
	return out, nil
}

// encodeEpochs writes a leader-epoch-checkpoint: version, count, and one line "epoch startOffset" for each entry.
func encodeEpochs(entries []epochEntry) []byte {
	out := appendCheckpointHead(make([]byte, 0, 16+24*len(entries)), len(entries))
	for _, e := range entries {
		out = strconv.AppendInt(out, int64(e.epoch), 10)
		out = append(out, ' ')
		out = strconv.AppendInt(out, e.start, 10)
		out = append(out, '\n')
	}
	return out
}

// decodeEpochs reads a leader-epoch-checkpoint. Entries must rise in both epoch and start offset.
func decodeEpochs(data []byte) ([]epochEntry, error) {
	lines, err := checkpointLines(data)
	if err != nil {
		return nil, err
	}
	out := make([]epochEntry, 0, len(lines))
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) != 2 {
			return nil, fmt.Errorf("%w: leader epoch line %q", ErrCorrupt, line)
		}
		epoch, eerr := strconv.ParseInt(f[0], 10, 32)
		start, serr := strconv.ParseInt(f[1], 10, 64)
		if eerr != nil || serr != nil || epoch < 0 || start < 0 {
			return nil, fmt.Errorf("%w: leader epoch line %q", ErrCorrupt, line)
		}
		if n := len(out); n > 0 && (int32(epoch) <= out[n-1].epoch || start <= out[n-1].start) {
			return nil, fmt.Errorf("%w: leader epoch line %q is out of order", ErrCorrupt, line)
		}
		out = append(out, epochEntry{epoch: int32(epoch), start: start})
	}
	return out, nil
}

func appendCheckpointHead(out []byte, n int) []byte {
	out = strconv.AppendInt(out, checkpointVersion, 10)
	out = append(out, '\n')
	out = strconv.AppendInt(out, int64(n), 10)
	return append(out, '\n')
}

// checkpointLines checks version and count, and returns the lines behind them.
func checkpointLines(data []byte) ([]string, error) {
	lines := strings.Split(string(bytes.TrimRight(data, "\n")), "\n")
	if len(lines) < 2 {
		return nil, fmt.Errorf("%w: checkpoint has no head", ErrCorrupt)
	}
	if v, err := strconv.Atoi(strings.TrimSpace(lines[0])); err != nil || v != checkpointVersion {
		return nil, fmt.Errorf("%w: checkpoint version %q", ErrCorrupt, lines[0])
	}
	n, err := strconv.Atoi(strings.TrimSpace(lines[1]))
	if err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%w: checkpoint says %q entries and has %d", ErrCorrupt, lines[1], len(lines)-2)
	}
	return lines[2:], nil
}

// readOffsets reads a checkpoint file; a missing one is empty.
func readOffsets(fsys vfs.FS, name string) (map[TopicPartition]int64, error) {
	data, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return map[TopicPartition]int64{}, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := decodeOffsets(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}
