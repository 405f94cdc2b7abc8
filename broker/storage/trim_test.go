package storage

import (
	"errors"
	"testing"
	"time"

	"moldau/internal/vfs"
)

// TestDeleteRecords: the start moves, survives a power cut, and takes segments along.
func TestDeleteRecords(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	cfg := smallConfig()
	cfg.RetentionMs = -1
	l := createLog(t, e, cfg)
	fill(t, l, 60)
	flush(t, l)
	l.SetHighWatermark(l.End())
	segments := l.Segments()
	if err := l.SetStart(61); err != nil {
		t.Fatal(err)
	}
	if err := l.SetStart(10); err != nil || l.Start() != 61 {
		t.Fatalf("start %d: %v", l.Start(), err)
	}
	for _, off := range []int64{-1, l.End() + 1} {
		if err := l.SetStart(off); !errors.Is(err, ErrOffsetOutOfRange) {
			t.Errorf("start at %d: %v", off, err)
		}
	}
	if _, err := l.Read(60, l.End(), 100, true); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
	if b := readBatches(t, l, 61, 100)[0]; b.BaseOffset() != 60 {
		t.Errorf("the batch at 61 begins at %d", b.BaseOffset())
	}
	if f, ok, err := l.OffsetForTimestamp(0); err != nil || !ok || f.Offset != 61 {
		t.Errorf("first record: %v %v %v", f, ok, err)
	}
	n, err := l.Retain(time.Now())
	if err != nil || n == 0 || l.Segments() != segments-n || l.Start() != 61 {
		t.Fatalf("%d segments went, %d remain, start %d: %v", n, l.Segments(), l.Start(), err)
	}
	clone := mem.CrashClone(5)
	closeEngine(t, e)
	for _, fsys := range []vfs.FS{mem, clone} {
		e := openEngine(t, fsys, smallSegments)
		l := foundLog(t, e)
		if l.Start() != 61 || l.End() != 120 || l.Err() != nil {
			t.Errorf("start %d end %d %v", l.Start(), l.End(), l.Err())
		}
		closeEngine(t, e)
	}
}

// TestRetention: by time and by size, never above the high watermark, everything if everything is due.
func TestRetention(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	e := openEngine(t, vfs.NewMem(), func(o *Options) { o.Now = func() time.Time { return now } })
	defer closeEngine(t, e)
	cfg := smallConfig()
	cfg.RetentionMs = 500
	l := createLog(t, e, cfg)
	for i := range 60 {
		appendOne(t, l, batchSpec{n: 2, ts: now.UnixMilli() + int64(10*i)})
	}
	flush(t, l)
	later := now.Add(800 * time.Millisecond)
	if n, err := l.Retain(later); n != 0 || err != nil {
		t.Fatalf("%d segments went without a high watermark: %v", n, err)
	}
	l.SetHighWatermark(l.End())
	if n, err := l.Retain(later); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	if first, _, err := l.OffsetForTimestamp(0); err != nil || first.Offset != l.Start() {
		t.Errorf("first %v, start %d, %v", first, l.Start(), err)
	}
	if _, ok, err := l.OffsetForTimestamp(now.UnixMilli() + 300); err != nil || !ok || l.Start() > 62 {
		t.Errorf("a record that is not due went: start %d, %v", l.Start(), err)
	}
	cfg.RetentionMs, cfg.RetentionBytes = -1, 2000
	l.SetConfig(cfg)
	if _, err := l.Retain(later); err != nil || l.Size() < 2000 || l.Size() > 2000+1500 {
		t.Errorf("%d bytes remain: %v", l.Size(), err)
	}
	cfg.Delete = false
	cfg.RetentionMs, cfg.RetentionBytes = 0, 0
	l.SetConfig(cfg)
	if n, err := l.Retain(later); n != 0 || err != nil {
		t.Errorf("%d segments went without the policy: %v", n, err)
	}
	cfg.Delete = true
	l.SetConfig(cfg)
	if _, err := l.Retain(later); err != nil || l.Start() != 120 || l.Size() != 0 || l.Segments() != 1 {
		t.Errorf("start %d, %d bytes in %d segments: %v", l.Start(), l.Size(), l.Segments(), err)
	}
	if info := appendOne(t, l, batchSpec{}); info.BaseOffset != 120 || info.LogStartOffset != 120 {
		t.Errorf("%+v", info)
	}
}

// TestTruncateTo: batches go whole, indexes, producers and epochs follow, and appending goes on.
func TestTruncateTo(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	fill(t, l, 60)
	if err := l.AssignEpoch(3, 120); err != nil {
		t.Fatal(err)
	}
	if err := l.TruncateTo(500); err != nil || l.End() != 120 || l.LatestEpoch() != 0 {
		t.Errorf("an epoch without records stays: end %d, epoch %d, %v", l.End(), l.LatestEpoch(), err)
	}
	flush(t, l)
	if err := l.TruncateTo(61); err != nil || l.End() != 60 || l.FlushedEnd() != 60 {
		t.Fatalf("end %d, flushed %d, %v", l.End(), l.FlushedEnd(), err)
	}
	if p := l.Producers(); len(p) != 1 || p[0].LastSequence != 59 {
		t.Errorf("%+v", p)
	}
	if f, ok, err := l.MaxTimestamp(); err != nil || !ok || f.Offset != 59 {
		t.Error(f, ok, err)
	}
	for i := 30; i < 45; i++ {
		if _, err := l.Append(batchSpec{n: 2, ts: int64(9000 + 2*i), pid: 9, seq: int32(2 * i)}.build(t), 7, OriginClient); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, l)
	if got := len(readBatches(t, l, 0, 200)); got != 45 {
		t.Errorf("%d batches", got)
	}
	if epoch, end := l.EndOffsetForEpoch(0); epoch != 0 || end != 60 {
		t.Error(epoch, end)
	}
	if err := l.SetStart(20); err != nil {
		t.Fatal(err)
	}
	if err := l.TruncateTo(19); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
	clone := mem.CrashClone(7)
	abandon(e)
	e = openEngine(t, clone, smallSegments)
	if l := foundLog(t, e); l.End() != 90 || l.Err() != nil || len(readBatches(t, l, 20, 1000)) != 35 {
		t.Errorf("end %d, %v", l.End(), l.Err())
	}
	closeEngine(t, e)
}
