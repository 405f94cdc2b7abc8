package storage

import (
	"testing"
	"testing/synctest"
	"time"

	"moldau/internal/vfs"
)

// TestFlushTimes: strict flushes at once; relaxed by flush.ms, by flush.messages, or after some seconds. The recovery point follows on
// disk within a second.
func TestFlushTimes(t *testing.T) {
	for _, c := range []struct {
		name       string
		durability Durability
		ms, count  int64
		appends    int
		within     time.Duration
		notBefore  time.Duration
	}{
		{"strict", Strict, 1 << 60, 1 << 60, 1, 0, 0},
		{"relaxed", Relaxed, 1 << 60, 1 << 60, 1, relaxedFlushEvery, relaxedFlushEvery - time.Second},
		{"flush.ms", Relaxed, 300, 1 << 60, 1, 300 * time.Millisecond, 290 * time.Millisecond},
		{"flush.messages", Relaxed, 1 << 60, 4, 4, 0, 0},
		{"not enough messages", Relaxed, 1 << 60, 4, 3, relaxedFlushEvery, relaxedFlushEvery - time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem := vfs.NewMem()
				e := openEngine(t, mem, func(o *Options) { o.Durability = c.durability })
				cfg := DefaultConfig()
				cfg.FlushMs, cfg.FlushMessages = c.ms, c.count
				l := createLog(t, e, cfg)
				pass(relaxedFlushEvery + time.Second) // what makes the log itself durable
				w := watch(l)
				for range c.appends {
					appendOne(t, l, batchSpec{ts: 1})
				}
				end := int64(c.appends)
				synctest.Wait()
				if c.notBefore > 0 {
					pass(c.notBefore)
					if w.flushed.Load() != 0 || l.FlushedEnd() != 0 {
						t.Errorf("flushed to %d too early", l.FlushedEnd())
					}
				}
				pass(c.within - c.notBefore)
				if w.flushed.Load() != end || l.FlushedEnd() != end || l.RecoveryPoint() != end {
					t.Errorf("flushed to %d, told %d", l.FlushedEnd(), w.flushed.Load())
				}
				pass(strictCheckpointEvery)
				points, err := readOffsets(mem, "/logs/"+recoveryPointFile)
				if err != nil || points[testTP] != end {
					t.Errorf("recovery point on disk: %v %v", points, err)
				}
				l.SetHighWatermark(end)
				pass(highWatermarkCheckpoint + time.Second)
				hws, err := readOffsets(mem, "/logs/"+highWatermarkFile)
				if err != nil || hws[testTP] != end {
					t.Errorf("high watermark on disk: %v %v", hws, err)
				}
				closeEngine(t, e)
			})
		})
	}
}

// countedVolumes counts the volumes that are opened, and those that are open.
type countedVolumes struct {
	vfs.FS
	opened, open int
}

// OpenVolume implements vfs.FS.
func (c *countedVolumes) OpenVolume(name string) (vfs.Volume, error) {
	v, err := c.FS.OpenVolume(name)
	if err == nil {
		c.opened++
		c.open++
	}
	return &countedVolume{v, c}, err
}

type countedVolume struct {
	vfs.Volume
	c *countedVolumes
}

// Close implements vfs.Volume.
func (v *countedVolume) Close() error {
	v.c.open--
	return v.Volume.Close()
}

// TestOneVolume: a directory keeps the volume that it opened before its first write. One that was opened for each flush would not be told
// of writes that had failed in the background when another directory of the same file system was told first.
func TestOneVolume(t *testing.T) {
	fsys := &countedVolumes{FS: vfs.NewMem()}
	e := openEngine(t, fsys, func(o *Options) { o.Dirs = []string{"/one", "/two"} })
	var logs []*Log
	for p := range 20 {
		l, err := e.Create(TopicPartition{"t", int32(p)}, testID, DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	for range 5 {
		for _, l := range logs {
			appendOne(t, l, batchSpec{ts: 1})
		}
		for _, l := range logs {
			flush(t, l)
		}
	}
	if fsys.opened != 2 || fsys.open != 2 {
		t.Errorf("two directories opened %d volumes and keep %d", fsys.opened, fsys.open)
	}
	closeEngine(t, e)
	if fsys.open != 0 {
		t.Errorf("%d volumes are open after the engine was closed", fsys.open)
	}
}
