package storage

import (
	"testing"

	"moldau/internal/vfs"
)

// TestRoundTrip appends, reads, searches and reopens, on a real file system and on the one in memory.
func TestRoundTrip(t *testing.T) {
	t.Run("real", func(t *testing.T) { roundTrip(t, vfs.OS, t.TempDir()) })
	t.Run("memory", func(t *testing.T) { roundTrip(t, vfs.NewMem(), "/logs") })
}

func roundTrip(t *testing.T, fsys vfs.FS, dir string) {
	inDir := func(o *Options) { o.Dirs = []string{dir} }
	e := openEngine(t, fsys, inDir)
	cfg := DefaultConfig()
	cfg.SegmentBytes, cfg.IndexIntervalBytes = 2000, 200
	l := createLog(t, e, cfg)
	for i := range 100 {
		info, err := l.Append(batchSpec{n: 2, ts: int64(1000 + 2*i)}.build(t), 3, OriginClient)
		if err != nil {
			t.Fatal(err)
		}
		if info.BaseOffset != int64(2*i) || info.LastOffset != int64(2*i+1) || info.End != int64(2*i+2) || info.LogAppendTime != -1 {
			t.Fatalf("append %d: %+v", i, info)
		}
	}
	flush(t, l)
	check := func(l *Log) {
		t.Helper()
		if l.Start() != 0 || l.End() != 200 || l.FlushedEnd() != 200 || l.LatestEpoch() != 3 || l.TopicID() != testID || l.Segments() < 4 {
			t.Fatalf("start %d end %d flushed %d epoch %d id %s segments %d", l.Start(), l.End(), l.FlushedEnd(), l.LatestEpoch(), l.TopicID(), l.Segments())
		}
		for _, maxBytes := range []int{0, 100, 500, 1 << 20} {
			if got := len(readBatches(t, l, 0, maxBytes)); got != 100 {
				t.Fatalf("read %d batches with %d bytes at a time", got, maxBytes)
			}
		}
		for off := range int64(200) {
			if b := readBatches(t, l, off, 1)[0]; b.BaseOffset() > off || b.LastOffset() < off {
				t.Fatalf("offset %d: batch %d to %d", off, b.BaseOffset(), b.LastOffset())
			}
			if f, ok, err := l.OffsetForTimestamp(1000 + off); err != nil || !ok || f != (Timestamped{off, 1000 + off, 3}) {
				t.Fatalf("timestamp %d: %v %v %v", 1000+off, f, ok, err)
			}
		}
		if f, ok, err := l.MaxTimestamp(); err != nil || !ok || f != (Timestamped{199, 1199, 3}) {
			t.Fatalf("max timestamp: %v %v %v", f, ok, err)
		}
	}
	check(l)
	closeEngine(t, e)

	e = openEngine(t, fsys, inDir, func(o *Options) { o.Config = func(TopicPartition) Config { return cfg } })
	l = foundLog(t, e)
	if r := l.Recovered(); !r.Clean || r.Scanned != 0 || r.Cut != 0 {
		t.Fatalf("recovery after a clean stop: %+v", r)
	}
	check(l)
	appendOne(t, l, batchSpec{ts: 5000})
	if l.End() != 201 {
		t.Fatal(l.End())
	}
	closeEngine(t, e)
}
