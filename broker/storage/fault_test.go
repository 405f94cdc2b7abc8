package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// smallSegments makes logs roll and index often.
func smallSegments(o *Options) {
	o.Config = func(TopicPartition) Config { return smallConfig() }
}

func smallConfig() Config {
	cfg := DefaultConfig()
	cfg.SegmentBytes, cfg.IndexIntervalBytes, cfg.FileDeleteDelayMs = 1500, 100, 0
	return cfg
}

// fill appends n batches of two records, of a producer, with rising timestamps.
func fill(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		appendOne(t, l, batchSpec{n: 2, ts: int64(1000 + 2*i), pid: 9, seq: int32(2 * i), value: "value"})
	}
}

// watched records what a log's watcher is told.
type watched struct {
	flushed atomic.Int64
	failed  chan error
}

func watch(l *Log) *watched {
	w := &watched{failed: make(chan error, 10)}
	l.Watch(w)
	return w
}

func (w *watched) Flushed(end int64) { w.flushed.Store(end) }
func (w *watched) Failed(err error)  { w.failed <- err }

// TestNoSpace fills the disk: appends fail and leave nothing behind, reads go on, and writing resumes when there is room.
func TestNoSpace(t *testing.T) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	e := openEngine(t, faulty)
	l := createLog(t, e, smallConfig())
	fill(t, l, 5)
	flush(t, l)
	for room := int64(0); room < 400; room += 7 {
		faulty.LimitSpace(room)
		for {
			end := l.End()
			_, err := l.Append(batchSpec{ts: 5000, value: "another value"}.build(t), 0, OriginClient)
			if err == nil {
				continue
			}
			if !errors.Is(err, ErrNoSpace) || l.End() != end || l.Err() != nil {
				t.Fatalf("append without space: %v, end %d, was %d", err, l.End(), end)
			}
			break
		}
		readBatches(t, l, 0, 1<<20)
		faulty.LimitSpace(-1)
		appendOne(t, l, batchSpec{ts: 6000})
		readBatches(t, l, 0, 100)
	}
	flush(t, l)
	want, clone := l.End(), mem.CrashClone(1)
	closeEngine(t, e)
	for _, fsys := range []vfs.FS{mem, clone} {
		e := openEngine(t, fsys, smallSegments)
		if l := foundLog(t, e); l.End() != want || l.Recovered().Cut != 0 || l.Err() != nil {
			t.Errorf("ends at %d, want %d: %+v %v", l.End(), want, l.Recovered(), l.Err())
		} else {
			readBatches(t, l, 0, 1<<20)
		}
		closeEngine(t, e)
	}
}

// TestNoSpaceForCheckpoints: a full disk keeps the old checkpoints and takes nothing offline.
func TestNoSpaceForCheckpoints(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	e := openEngine(t, faulty)
	l := createLog(t, e, smallConfig())
	fill(t, l, 3)
	flush(t, l)
	remove := faulty.Inject(vfs.Rule{Path: "*checkpoint.tmp", Err: syscall.ENOSPC})
	if err := l.SetStart(2); !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	remove()
	if err := l.SetStart(3); err != nil || l.Err() != nil {
		t.Fatal(err, l.Err())
	}
	closeEngine(t, e)
}

// TestFsyncError: after a failed fsync the directory is offline for good. It is not tried again, waiters are told, the next start
// finds what had been flushed.
func TestFsyncError(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpSync, vfs.OpSyncFS, vfs.OpSyncDir} {
		for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
			t.Run(fmt.Sprint(op, cause), func(t *testing.T) { fsyncError(t, op, cause) })
		}
	}
}

func fsyncError(t *testing.T, op vfs.Op, cause error) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	e := openEngine(t, faulty, func(o *Options) { o.Dirs = []string{"/logs", "/spare"} })
	l := createLog(t, e, DefaultConfig())
	w := watch(l)
	fill(t, l, 3)
	flush(t, l)
	if op == vfs.OpSyncFS {
		faulty.Inject(vfs.Rule{Ops: []vfs.Op{op}, Path: "/logs", Err: cause, Times: 1})
	}
	faulty.Inject(vfs.Rule{Ops: []vfs.Op{op}, Path: "t-0", Err: cause, Times: 1})
	faulty.Inject(vfs.Rule{Ops: []vfs.Op{op}, Path: "*.log", Err: cause, Times: 1})
	if op == vfs.OpSync {
		appendOne(t, l, batchSpec{ts: 1})
	} else { // many files at once, and a new name
		if op == vfs.OpSyncFS {
			l.dir.flusher.cost = syncCost{perFile: time.Hour, perFS: 1}
		}
		l.SetConfig(Config{SegmentBytes: 150, SegmentIndexBytes: 1 << 20, SegmentMs: 1 << 40})
		for range 20 {
			_, _ = l.Append(batchSpec{ts: 1}.build(t), 0, OriginClient) // some may come after the failure
		}
	}
	if op == vfs.OpSyncDir {
		if err := l.TruncateTo(7); err == nil {
			t.Fatal("truncated")
		}
	}
	if err := <-w.failed; !errors.Is(err, ErrStorage) || !errors.Is(err, cause) {
		t.Fatal(err)
	}
	if err := l.Flush(context.Background()); !errors.Is(err, ErrStorage) && l.FlushedEnd() < l.End() {
		t.Errorf("flush: %v", err)
	}
	if _, err := l.Append(batchSpec{ts: 1}.build(t), 0, OriginClient); !errors.Is(err, ErrStorage) {
		t.Errorf("append: %v", err)
	}
	if _, err := l.Read(0, 1, 100, true); !errors.Is(err, ErrStorage) {
		t.Errorf("read: %v", err)
	}
	late := watch(l)
	if err := <-late.failed; !errors.Is(err, ErrStorage) {
		t.Errorf("late watcher: %v", err)
	}
	if dirs := e.Dirs(); dirs[0].Err == nil || dirs[1].Err != nil || e.Stats().OfflineDirs != 1 {
		t.Errorf("directories: %+v", dirs)
	}
	other, err := e.Create(TopicPartition{"other", 0}, testID, DefaultConfig())
	if err != nil || other.Dir() != "/spare" {
		t.Errorf("a new log goes to %v, %v", other, err)
	}
	if err := e.Close(context.Background()); !errors.Is(err, ErrStorage) {
		t.Errorf("close: %v", err)
	}
	if _, err := mem.Stat("/logs/" + cleanShutdownFile); err == nil {
		t.Error("the directory was marked as clean")
	}
	e = openEngine(t, mem.CrashClone(3), func(o *Options) { o.Dirs = []string{"/logs", "/spare"} })
	if l := foundLog(t, e); l.End() < 6 || l.Err() != nil {
		t.Errorf("found end %d, %v", l.End(), l.Err())
	}
	closeEngine(t, e)
}

// TestReadError: a bad sector is one partition's misfortune.
func TestReadError(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	e := openEngine(t, faulty)
	l := createLog(t, e, smallConfig())
	fill(t, l, 40)
	flush(t, l)
	remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpRead}, Path: "*.log", Err: syscall.EIO})
	if _, err := l.Read(5, l.End(), 300, true); !errors.Is(err, ErrStorage) {
		t.Errorf("read: %v", err)
	}
	if _, _, err := l.OffsetForTimestamp(1020); !errors.Is(err, ErrStorage) {
		t.Errorf("search: %v", err)
	}
	remove()
	readBatches(t, l, 0, 1<<20)
	appendOne(t, l, batchSpec{ts: 1})
	closeEngine(t, e)
}

// TestReadErrorAtStart: a log that can't be read keeps the others from nothing.
func TestReadErrorAtStart(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	other, err := e.Create(TopicPartition{"other", 1}, testID, smallConfig())
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, 5)
	fill(t, other, 5)
	flush(t, l)
	flush(t, other)
	abandon(e)
	faulty := vfs.NewFaulty(mem)
	faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpRead}, Path: "/logs/t-0/*.log", Err: syscall.EIO})
	e = openEngine(t, faulty)
	if l := foundLog(t, e); !errors.Is(l.Err(), ErrStorage) {
		t.Errorf("the log's error is %v", l.Err())
	}
	l, _ = e.Log(TopicPartition{"other", 1})
	if l.Err() != nil || l.End() != 10 {
		t.Errorf("the other log: end %d, %v", l.End(), l.Err())
	}
	appendOne(t, l, batchSpec{ts: 1})
	closeEngine(t, e)
	e = openEngine(t, mem)
	if l := foundLog(t, e); l.Err() != nil || l.End() != 10 {
		t.Errorf("once it can be read: end %d, %v", l.End(), l.Err())
	}
	closeEngine(t, e)
}

// damageSet is a log directory with several segments, closed or abandoned, to damage files of.
func damageSet(t *testing.T, clean bool) *vfs.MemFS {
	t.Helper()
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	fill(t, l, 50)
	if err := l.AssignEpoch(4, l.End()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := l.Append(batchSpec{n: 2, ts: 2000, pid: 9, seq: int32(100 + 2*i), value: "value"}.build(t), 4, OriginClient); err != nil {
			t.Fatal(err)
		}
	}
	l.SetHighWatermark(l.End())
	flush(t, l)
	if err := l.dir.keeper.checkpoint(true); err != nil {
		t.Fatal(err)
	}
	if clean {
		closeEngine(t, e)
	} else {
		abandon(e)
	}
	return mem
}

// files lists all files below dir.
func files(t *testing.T, fsys vfs.FS, dir string) []string {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			out = append(out, files(t, fsys, name)...)
		} else {
			out = append(out, name)
		}
	}
	return out
}

func flip(t *testing.T, fsys vfs.FS, name string, bit int64) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], bit/8); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << (bit % 8)
	if _, err := f.WriteAt(b[:], bit/8); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFlippedBits flips single bits in every file, and removes every file. Records never change and are never lost without a word: a
// reader gets them all, or an error, and what was cut is in a .cut file. Everything but segments is repaired.
func TestFlippedBits(t *testing.T) {
	for _, clean := range []bool{true, false} {
		set := damageSet(t, clean)
		for _, name := range files(t, set, "/logs") {
			data, err := vfs.ReadFile(set, name)
			if err != nil {
				t.Fatal(err)
			}
			size := int64(len(data))
			step := max(size*8/23, 1)
			for bit := int64(0); bit < size*8; bit += step {
				t.Run(fmt.Sprintf("clean=%v%s:%d", clean, name, bit), func(t *testing.T) {
					fsys := set.CrashClone(0)
					flip(t, fsys, name, bit)
					checkDamaged(t, fsys, name)
				})
			}
			t.Run(fmt.Sprintf("clean=%v%s:removed", clean, name), func(t *testing.T) {
				fsys := set.CrashClone(0)
				if err := fsys.Remove(name); err != nil {
					t.Fatal(err)
				}
				checkDamaged(t, fsys, name)
			})
		}
	}
}

// checkDamaged opens a directory in which one file was damaged.
func checkDamaged(t *testing.T, fsys *vfs.MemFS, name string) {
	e, err := tryOpen(t, fsys, smallSegments)
	if err != nil {
		base := filepath.Base(name)
		if base != formatFile && base != metaFile {
			t.Fatal(err)
		}
		return // refused, with a reason
	}
	defer closeEngine(t, e)
	l := foundLog(t, e)
	isLog := strings.HasSuffix(name, logSuffix)
	if strings.HasSuffix(name, recoveryPointFile) && errors.Is(l.Err(), ErrReadOnly) && l.End() == 106 {
		return // a recovery point beyond the end looks like a loss: loud, and nothing changes
	}
	if l.Err() != nil && !isLog {
		t.Fatalf("the log's error is %v", l.Err())
	}
	if isLog {
		checkDamagedLog(t, fsys, l)
		return
	}
	if l.End() != 106 {
		t.Fatalf("the log ends at %d: %+v", l.End(), l.Recovered())
	}
	if got := len(readBatches(t, l, 0, 300)); got != 53 {
		t.Fatalf("read %d batches", got)
	}
	for _, off := range []int64{0, 17, 50, 99} {
		if f, ok, err := l.OffsetForTimestamp(1000 + off); err != nil || !ok || f.Offset != off {
			t.Errorf("timestamp %d: %v %v %v", 1000+off, f, ok, err)
		}
	}
	if f, ok, err := l.MaxTimestamp(); err != nil || !ok || f.Offset != 105 && f.Offset != 101 && f.Offset != 103 {
		t.Errorf("max timestamp: %v %v %v", f, ok, err)
	}
	if epoch, end := l.EndOffsetForEpoch(0); epoch != 0 || end != 100 {
		t.Errorf("epoch 0 ends at %d %d", epoch, end)
	}
	info, err := l.Append(batchSpec{n: 2, ts: 2000, pid: 9, seq: 102, value: "value"}.build(t), 4, OriginClient)
	if err != nil || !info.Duplicate || info.BaseOffset != 102 {
		t.Errorf("duplicate: %+v %v", info, err)
	}
	if strings.HasSuffix(name, partitionMetadataFile) && l.TopicID() != testID {
		if l.TopicID() == (TopicID{}) {
			if err := l.AdoptTopicID(testID); err != nil || l.TopicID() != testID {
				t.Error(err)
			}
		}
	} else if l.TopicID() != testID {
		t.Errorf("topic id %s", l.TopicID())
	}
}

// checkDamagedLog: what is read is what was written, up to where an error or the end stops it; and the log ends early only if it is
// read-only.
func checkDamagedLog(t *testing.T, fsys *vfs.MemFS, l *Log) {
	if l.End() != 106 && !errors.Is(l.Err(), ErrReadOnly) {
		t.Fatalf("the log ends at %d, %v", l.End(), l.Err())
	}
	for from := l.Start(); from < l.End(); {
		s, err := l.Read(from, l.End(), 1<<20, true)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrStorage) {
				t.Fatal(err)
			}
			return
		}
		data, err := s.Bytes()
		s.Release()
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if len(data) == 0 {
			return
		}
		for len(data) > 0 {
			b, rest, err := record.Next(data)
			if err != nil || b.Verify() != nil {
				return // the consumer's checksum finds it
			}
			if b.BaseOffset() > from {
				return // so does the consumer's view of a gap
			}
			data, from = rest, b.NextOffset()
		}
	}
}
