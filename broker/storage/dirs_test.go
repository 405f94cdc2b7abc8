package storage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"moldau/internal/vfs"
)

// TestDirectories: locks, foreign and newer directories are refused, deleted logs are removed, logs spread over directories.
func TestDirectories(t *testing.T) {
	mem := vfs.NewMem()
	both := func(o *Options) { o.Dirs, o.ClusterID, o.NodeID = []string{"/logs", "/deep/er/more"}, "abc", 4 }
	e := openEngine(t, mem, both)
	if _, err := tryOpen(t, mem, both); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	count := map[string]int{}
	for p := range int32(10) {
		l, err := e.Create(TopicPartition{"a.b-c", p}, testID, smallConfig())
		if err != nil {
			t.Fatal(err)
		}
		count[l.Dir()]++
		flush(t, l)
		appendOne(t, l, batchSpec{ts: 1})
		flush(t, l)
	}
	if count["/logs"] != 5 || count["/deep/er/more"] != 5 {
		t.Error(count)
	}
	if _, err := e.Create(TopicPartition{"a.b-c", 3}, testID, smallConfig()); !errors.Is(err, ErrLogExists) {
		t.Error(err)
	}
	for _, bad := range []TopicPartition{{"", 0}, {"x/y", 0}, {"..", -1}, {strings.Repeat("x", 260), 0}} {
		if _, err := e.Create(bad, testID, smallConfig()); err == nil {
			t.Errorf("created %v", bad)
		}
	}
	closeEngine(t, e)
	e = openEngine(t, mem, both)
	if n := len(e.Logs()); n != 10 {
		t.Errorf("%d logs", n)
	}
	closeEngine(t, e)
	if _, err := e.Create(TopicPartition{"late", 0}, testID, smallConfig()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	for name, change := range map[string]func(*Options){
		"node":    func(o *Options) { o.NodeID = 5 },
		"cluster": func(o *Options) { o.ClusterID = "xyz" },
	} {
		if _, err := tryOpen(t, mem, both, change); !errors.Is(err, ErrForeignDir) || !strings.Contains(err.Error(), "/logs/meta.properties") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := vfs.WriteFileAtomic(mem, "/logs/"+formatFile, []byte("version=2\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := tryOpen(t, mem, both); !errors.Is(err, ErrNewerFormat) || !strings.Contains(err.Error(), "version 2") {
		t.Error(err)
	}
	if _, err := Open(context.Background(), Options{FS: mem}); err == nil {
		t.Error("opened no directory")
	}
}

// TestDeleteAndRecreate: the new log begins at 0 with nothing of the old one, also after a power cut, and the old files go in the end.
func TestDeleteAndRecreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		e := openEngine(t, mem)
		cfg := DefaultConfig()
		cfg.FileDeleteDelayMs = 60_000
		l := createLog(t, e, cfg)
		fill(t, l, 10)
		flush(t, l)
		l.SetHighWatermark(20)
		if err := l.SetStart(6); err != nil {
			t.Fatal(err)
		}
		pass(6 * time.Second) // checkpoints
		if err := e.Delete(l); err != nil {
			t.Fatal(err)
		}
		fresh, err := e.Create(testTP, TopicID{9}, cfg)
		if err != nil || fresh.Start() != 0 || fresh.End() != 0 || fresh.HighWatermarkCheckpoint() != 0 || fresh.LatestEpoch() != UndefinedEpoch {
			t.Fatal(fresh, err)
		}
		appendOne(t, fresh, batchSpec{ts: 1})
		flush(t, fresh)
		e2 := openEngine(t, mem.CrashClone(1))
		if l := foundLog(t, e2); l.TopicID() != (TopicID{9}) || l.Start() != 0 || l.End() != 1 || l.Err() != nil {
			t.Errorf("found %s, %d to %d, %v", l.TopicID(), l.Start(), l.End(), l.Err())
		}
		closeEngine(t, e2)
		if got := strings.Join(files(t, mem, "/logs"), " "); !strings.Contains(got, deleteSuffix) {
			t.Errorf("the old log is gone at once: %s", got)
		}
		pass(time.Minute)
		if got := strings.Join(files(t, mem, "/logs"), " "); strings.Contains(got, deleteSuffix) {
			t.Errorf("the old log is still there: %s", got)
		}
		closeEngine(t, e)
	})
}

// TestSetAside: the log leaves the engine, its files stay, and the partition can be made anew.
func TestSetAside(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	fill(t, l, 3)
	flush(t, l)
	dir, err := e.SetAside(l)
	if err != nil || !strings.HasSuffix(dir, straySuffix) {
		t.Fatal(dir, err)
	}
	if _, err := e.SetAside(l); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if l := createLog(t, e, smallConfig()); l.End() != 0 {
		t.Error(l.End())
	}
	closeEngine(t, e)
	e = openEngine(t, mem)
	if _, err := mem.Stat(dir); err != nil || len(e.Logs()) != 1 {
		t.Errorf("%d logs, %v", len(e.Logs()), err)
	}
	closeEngine(t, e)
}
