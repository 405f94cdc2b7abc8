package storage

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"moldau/internal/vfs"
)

// noSpaces counts what Metrics is told of full disks.
type noSpaces struct {
	noMetrics
	n atomic.Int64
}

func (m *noSpaces) NoSpace(string) { m.n.Add(1) }

// TestRoomForDeletions: appends leave the space that deletions need. While they do, what is deleted is removed at once, and then
// appends go on.
func TestRoomForDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const floor = 1 << 20
		mem, told := vfs.NewMem(), &noSpaces{}
		faulty := vfs.NewFaulty(mem)
		cfg := DefaultConfig() // deleted files stay for a minute
		e := openEngine(t, faulty, func(o *Options) { o.MinFreeBytes, o.Metrics = floor, told })
		l := createLog(t, e, cfg)
		other, err := e.Create(TopicPartition{"other", 0}, testID, cfg)
		if err != nil {
			t.Fatal(err)
		}
		gone, err := e.Create(TopicPartition{"gone", 0}, testID, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Delete(gone); err != nil { // it waits for its minute when the disk becomes full
			t.Fatal(err)
		}
		appendOne(t, other, batchSpec{ts: 1})
		faulty.LimitSpace(2 * floor)
		pass(strictCheckpointEvery) // until the file system is asked again
		var refused error
		for refused == nil {
			_, refused = l.Append(batchSpec{ts: 1, value: strings.Repeat("v", 1000)}.build(t), 0, OriginClient)
		}
		u, err := faulty.Usage("/logs")
		if !errors.Is(refused, ErrNoSpace) || err != nil || u.Usable < floor || u.Usable > floor+2000 {
			t.Fatalf("refused with %v and %d bytes left: %v", err, u.Usable, refused)
		}
		if told.n.Load() != 1 {
			t.Errorf("told %d times", told.n.Load())
		}
		readBatches(t, l, 0, 1<<20)
		if err := e.Delete(other); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		entries, err := mem.ReadDir("/logs")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.IsDir() && entry.Name() != "t-0" {
				t.Errorf("with the disk full, %s is still there", entry.Name())
			}
		}
		faulty.LimitSpace(3 * floor)
		appendOne(t, l, batchSpec{ts: 2})
		pass(strictCheckpointEvery)
		if d := l.dir.deleteDelay(cfg); d != time.Minute {
			t.Errorf("with space again, deleted files stay for %v", d)
		}
		faulty.LimitSpace(-1)
		closeEngine(t, e)
	})
}
