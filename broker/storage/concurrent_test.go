package storage

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// TestConcurrentUse lets appenders, readers, searches, retention, flushes and checkpoints loose on the same few logs, with very few
// descriptors. Readers must see whole batches in order and nothing above what was flushed.
func TestConcurrentUse(t *testing.T) {
	e := openEngine(t, vfs.OS, func(o *Options) { o.Dirs = []string{t.TempDir(), t.TempDir()}; o.MaxOpenFiles = 1 })
	e.env.files.budget = 4
	cfg := DefaultConfig()
	cfg.SegmentBytes, cfg.IndexIntervalBytes, cfg.RetentionBytes, cfg.FileDeleteDelayMs = 16<<10, 300, 64<<10, 1
	var logs []*Log
	for p := range int32(6) {
		l, err := e.Create(TopicPartition{"t", p}, testID, cfg)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	var writers, others sync.WaitGroup
	var done atomic.Bool
	for _, l := range logs {
		for range 2 {
			writers.Go(func() {
				for i := range 300 {
					if _, err := l.Append(batchSpec{n: 3, ts: int64(i), value: "some value"}.build(t), 1, OriginClient); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		others.Go(func() {
			for !done.Load() {
				l.SetHighWatermark(l.FlushedEnd())
				if _, err := l.Retain(time.Now()); err != nil {
					t.Error(err)
				}
				if _, _, err := l.OffsetForTimestamp(150); err != nil {
					t.Error(err)
				}
				if err := l.Flush(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		others.Go(func() {
			dice := rand.New(rand.NewPCG(1, uint64(l.tp.Partition)))
			from := int64(0)
			for !done.Load() {
				from = readSome(t, l, from, dice)
			}
		})
	}
	writers.Wait()
	done.Store(true)
	others.Wait()
	for _, l := range logs {
		if l.End() != 1800 {
			t.Errorf("%s ends at %d", l.tp, l.End())
		}
		flush(t, l)
	}
	closeEngine(t, e)
	if n := e.Stats().OpenFiles; n != 0 {
		t.Errorf("%d files are still open", n)
	}
}

// readSome reads once, checks what it gets, and returns where to go on.
func readSome(t *testing.T, l *Log, from int64, dice *rand.Rand) int64 {
	upTo := l.FlushedEnd()
	s, err := l.Read(from, upTo, dice.IntN(4000), true)
	if errors.Is(err, ErrOffsetOutOfRange) {
		return l.Start()
	}
	if err != nil {
		t.Error(err)
		return from
	}
	defer s.Release()
	data, err := s.Bytes()
	if err != nil {
		t.Error(err)
		return from
	}
	if len(data) == 0 && from < upTo {
		t.Errorf("nothing at %d below %d", from, upTo)
	}
	for first := true; len(data) > 0; first = false {
		b, rest, err := record.Next(data)
		if err == nil {
			err = b.Verify()
		}
		if err != nil || b.LastOffset() >= upTo || !first && b.BaseOffset() != from || first && (b.BaseOffset() > from || b.LastOffset() < from) {
			t.Errorf("at %d below %d: %v", from, upTo, err)
			return from
		}
		data, from = rest, b.NextOffset()
	}
	if dice.IntN(10) == 0 {
		return l.Start() + dice.Int64N(max(upTo-l.Start(), 1))
	}
	return from
}
