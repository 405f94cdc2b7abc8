package storage

import (
	"errors"
	"testing"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// FuzzOpen puts arbitrary bytes into the files of a log and opens it. Opening must not panic or hang, and a log
// that takes writes must give back what is appended.
func FuzzOpen(f *testing.F) {
	set := vfs.NewMem()
	e := openEngine(f, set)
	l := createLog(f, e, smallConfig())
	for i := range 25 {
		appendOne(f, l, batchSpec{n: 2, ts: int64(1000 + 2*i), pid: 9, seq: int32(2 * i), value: "value"})
	}
	flush(f, l)
	closeEngine(f, e)
	read := func(name string) []byte {
		data, err := vfs.ReadFile(set, "/logs/"+name)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	segment := func(base int64, suffix string) []byte { return read("t-0/" + segmentPath("", base, suffix)) }
	f.Add(segment(0, logSuffix), segment(0, indexSuffix), segment(0, timeSuffix), segment(34, snapshotSuffix), read("t-0/"+epochFile), read(recoveryPointFile), false, int64(0))
	f.Add(segment(34, logSuffix), segment(34, indexSuffix), segment(34, timeSuffix), []byte{}, []byte("0\n0\n"), []byte("0\n1\nt 0 40\n"), true, int64(34))
	f.Add(append(segment(0, logSuffix), segment(34, logSuffix)...), []byte{1, 2, 3}, []byte{}, []byte{0, 1}, []byte{}, []byte{}, false, int64(0))
	f.Fuzz(func(t *testing.T, log, index, times, snapshot, epochs, points []byte, clean bool, base int64) {
		if base < 0 {
			return
		}
		fsys := vfs.NewMem()
		write := func(name string, data []byte) {
			if err := vfs.WriteFileAtomic(fsys, "/logs/"+name, data); err != nil {
				t.Fatal(err)
			}
		}
		if err := fsys.MkdirAll("/logs/t-0", 0o755); err != nil {
			t.Fatal(err)
		}
		write(formatFile, []byte("version=1\n"))
		write(recoveryPointFile, points)
		write("t-0/"+partitionMetadataFile, encodePartitionMetadata(testID))
		write("t-0/"+epochFile, epochs)
		write("t-0/"+segmentPath("", base, logSuffix), log)
		write("t-0/"+segmentPath("", base, indexSuffix), index)
		write("t-0/"+segmentPath("", base, timeSuffix), times)
		write("t-0/"+segmentPath("", base/2+20, snapshotSuffix), snapshot)
		if clean {
			write(cleanShutdownFile, nil)
		}
		e, err := tryOpen(t, fsys, smallSegments)
		if err != nil {
			t.Fatal(err)
		}
		defer closeEngine(t, e)
		useOpened(t, foundLog(t, e))
	})
}

// useOpened reads, searches and appends, as far as the log permits.
func useOpened(t *testing.T, l *Log) {
	if l.Start() < 0 || l.End() < l.Start() || l.FlushedEnd() > l.End() {
		t.Fatalf("start %d, end %d, flushed %d", l.Start(), l.End(), l.FlushedEnd())
	}
	for from := l.Start(); from < l.End(); {
		s, err := l.Read(from, l.End(), 4096, true)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrStorage) {
				t.Fatal(err)
			}
			break
		}
		data, err := s.Bytes()
		s.Release()
		if err != nil || len(data) == 0 {
			break
		}
		for len(data) > 0 {
			b, rest, err := record.Next(data)
			if err != nil || b.LastOffset() < from {
				return // damage before the recovery point, which only the reader's own checks find
			}
			data, from = rest, b.NextOffset()
		}
	}
	_, _, _ = l.OffsetForTimestamp(1010)
	_, _, _ = l.MaxTimestamp()
	end := l.End()
	info, err := l.Append(batchSpec{ts: 5}.build(t), max(l.LatestEpoch(), 0), OriginClient)
	if l.Err() == nil && err != nil {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	flush(t, l)
	if info.BaseOffset != end || readBatches(t, l, end, 1000)[0].BaseOffset() != end {
		t.Fatalf("appended at %d: %+v", end, info)
	}
}

// FuzzSmallFiles decodes arbitrary bytes as each of the small files. What is accepted must survive being written again.
func FuzzSmallFiles(f *testing.F) {
	f.Add([]byte("0\n1\nt 0 40\n"))
	f.Add([]byte("0\n2\n0 0\n3 17\n"))
	f.Add([]byte("version: 0\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA\n"))
	f.Add([]byte("#\nnode.id=1\ndirectory.id=AQIDAAAAAAAAAAAAAAAAAA\nversion=1\ncluster.id=x\n"))
	table := newProducerTable(10)
	table.apply(producerAppend{id: 1, epoch: 2, baseSeq: 3, lastSeq: 4, baseOffset: 5, lastOffset: 6}, 0)
	f.Add(encodeSnapshot(table))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := decodeOffsets(data); err == nil {
			if again, err := decodeOffsets(encodeOffsets(m)); err != nil || len(again) != len(m) {
				t.Fatal(m, again, err)
			}
		}
		if entries, err := decodeEpochs(data); err == nil {
			if again, err := decodeEpochs(encodeEpochs(entries)); err != nil || len(again) != len(entries) {
				t.Fatal(entries, again, err)
			}
		}
		if id, err := decodePartitionMetadata(data); err == nil {
			if again, err := decodePartitionMetadata(encodePartitionMetadata(id)); err != nil || again != id {
				t.Fatal(id, again, err)
			}
		}
		if p, err := decodeProperties(data); err == nil && p.hasDirID {
			if again, err := decodeProperties(encodeProperties(p)); err != nil || again.directoryID != p.directoryID || again.nodeID != p.nodeID {
				t.Fatal(p, again, err)
			}
		}
		table := newProducerTable(1000)
		if err := decodeSnapshot(table, data, 1); err != nil && len(table.entries) != 0 {
			t.Fatal("a refused snapshot left state behind")
		}
	})
}
