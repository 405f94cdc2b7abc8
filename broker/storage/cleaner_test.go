package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// keyedBatch builds a batch of records with the given keys.
func keyedBatch(t testing.TB, ts int64, value string, keys ...string) []byte {
	t.Helper()
	b := record.NewBuilder(record.NewOptions(record.None))
	for _, k := range keys {
		b.Append(&record.Record{Timestamp: ts, Key: []byte(k), Value: []byte(value)})
	}
	batch, err := b.Build(nil, testCompress)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// appendKeyed appends a batch and makes it committed.
func appendKeyed(t testing.TB, l *Log, value string, keys ...string) {
	t.Helper()
	if _, err := l.Append(keyedBatch(t, 1, value, keys...), 0, OriginClient); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, l *Log) {
	t.Helper()
	flush(t, l)
	l.SetHighWatermark(l.End())
}

// TestCleanerRuns lets the cleaner's own goroutines work, on the operating system's files, while appends, reads, retention and the
// deletion of the log go on.
func TestCleanerRuns(t *testing.T) {
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio, cfg.Delete, cfg.RetentionMs, cfg.RetentionBytes = 0, true, -1, 100_000
	cleaner := DefaultCleanerConfig()
	cleaner.Threads, cleaner.Backoff = 2, time.Millisecond
	e, err := Open(context.Background(), Options{Dirs: []string{t.TempDir()}, Cleaner: cleaner, Durability: Relaxed, Logger: testLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	logs := make([]*Log, 3)
	for i := range logs {
		if logs[i], err = e.Create(TopicPartition{"t", int32(i)}, testID, cfg); err != nil { //nolint:gosec // small
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, l := range logs {
		wg.Go(func() { readForEver(ctx, t, l) })
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := l.Retain(time.Now()); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
				if _, _, err := l.OffsetForTimestamp(1); err != nil && !errors.Is(err, ErrClosed) && !isNotExist(err) {
					t.Error(err)
				}
			}
		})
	}
	keys := make([]string, 20)
	for i := range keys {
		keys[i] = fmt.Sprint("key", i)
	}
	for n := range 1500 {
		for i, l := range logs {
			if i == 2 && n >= 1000 {
				continue
			}
			appendKeyed(t, l, fmt.Sprint(n), keys[n%len(keys)], keys[(n*7)%len(keys)])
			if n%20 == 0 {
				commit(t, l)
			}
		}
		if n == 1000 {
			if err := e.Delete(logs[2]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, l := range logs[:2] {
		commit(t, l)
		for e.CleanerStats().Totals.Compactions == 0 || l.Size() > 40*cfg.SegmentBytes {
			<-time.After(time.Millisecond)
		}
		if l.Cleaned() == 0 {
			t.Errorf("log %d was never compacted", i)
		}
	}
	stop()
	wg.Wait()
	if s := e.CleanerStats(); s.Totals.RecordsKept >= s.Totals.RecordsRead || len(s.Last) == 0 {
		t.Errorf("statistics: %+v", s)
	}
	for dir, u := range e.CleanerStats().Uncleanable {
		if u.Partitions != 0 {
			t.Errorf("%s: %+v", dir, u)
		}
	}
	closeEngine(t, e)
}

// readForEver reads from the beginning again and again and checks that offsets rise and batches are whole.
func readForEver(ctx context.Context, t *testing.T, l *Log) {
	for ctx.Err() == nil {
		for from := l.Start(); from < l.End() && ctx.Err() == nil; {
			upTo := l.End()
			s, err := l.Read(from, upTo, 4096, true)
			if errors.Is(err, ErrClosed) {
				return
			}
			if errors.Is(err, ErrOffsetOutOfRange) {
				break // retention
			}
			if err != nil {
				t.Error(err)
				return
			}
			data, err := s.Bytes()
			next := s.Next()
			s.Release()
			if err == nil && len(data) == 0 && l.End() > upTo {
				break // meanwhile newer records have taken the place of all up to there
			}
			if err != nil || len(data) == 0 {
				t.Errorf("read at %d: %d bytes, %v", from, len(data), err)
				return
			}
			for len(data) > 0 {
				b, rest, err := record.Next(data)
				if err == nil {
					err = b.Verify()
				}
				if err != nil || b.LastOffset() < from {
					t.Errorf("read at %d: batch at %d, %v", from, b.LastOffset(), err)
					return
				}
				from, data = b.NextOffset(), rest
			}
			from = max(from, next)
		}
	}
}

// TestReadOfNothingLeft reads up to an offset below which compaction has left nothing, as a reader does that asked for the end before.
func TestReadOfNothingLeft(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio = 0
	l := createLog(t, e, cfg)
	for range 100 {
		appendKeyed(t, l, strings.Repeat("v", 30), "k")
	}
	commit(t, l)
	cleanAll(t, e, DefaultCleanerConfig())
	s, err := l.Read(0, 10, 4096, true)
	if err != nil || s.Len() != 0 {
		t.Errorf("up to 10 there are %d bytes, %v", s.Len(), err)
	}
	s.Release()
	if got := readBatches(t, l, 0, 4096); len(got) == 0 || got[len(got)-1].LastOffset() != l.End()-1 {
		t.Errorf("%d batches are left", len(got))
	}
	closeEngine(t, e)
}

// TestUncleanable has a log with a damaged batch beside a sound one. The damage is told of and stays as it is, and the other log is
// compacted.
func TestUncleanable(t *testing.T) {
	fsys := vfs.NewMem()
	e := openEngine(t, fsys, func(o *Options) { o.Logger = nil })
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio = 0
	bad, err := e.Create(TopicPartition{"bad", 0}, testID, cfg)
	if err != nil {
		t.Fatal(err)
	}
	good := createLog(t, e, cfg)
	for range 100 {
		for _, l := range []*Log{bad, good} {
			appendKeyed(t, l, strings.Repeat("v", 30), "k")
		}
	}
	commit(t, bad)
	commit(t, good)
	name := bad.segments()[1].log.path
	h, err := fsys.OpenFile(name, 2, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.WriteAt([]byte{0xff}, 80); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	errs := cleanAll(t, e, DefaultCleanerConfig())
	if len(errs) != 1 || !errors.Is(errs[0], ErrCorrupt) || !strings.Contains(errs[0].Error(), name) {
		t.Errorf("got %v", errs)
	}
	if u := e.CleanerStats().Uncleanable["/logs"]; u.Partitions != 1 || u.Bytes != bad.Size() {
		t.Errorf("uncleanable: %+v", u)
	}
	if after, err := vfs.ReadFile(fsys, name); err != nil || string(after) != string(before) {
		t.Errorf("the damaged segment was changed, %v", err)
	}
	if good.Cleaned() == 0 || bad.Cleaned() != 0 || bad.Err() != nil {
		t.Errorf("cleaned %d and %d, %v", good.Cleaned(), bad.Cleaned(), bad.Err())
	}
	noSwapsLeft(t, fsys, bad)
	if err := e.Delete(bad); err != nil {
		t.Fatal(err)
	}
	e.cleaner.forget()
	if u := e.CleanerStats().Uncleanable["/logs"]; u.Partitions != 0 {
		t.Errorf("a deleted log is still listed: %+v", u)
	}
	closeEngine(t, e)
}

// TestTooFewSlots gives the cleaner less memory than the keys of one batch need: that log cannot be compacted, and says why.
func TestTooFewSlots(t *testing.T) {
	e := openEngine(t, vfs.NewMem(), func(o *Options) { o.Logger = nil })
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio = 0
	l := createLog(t, e, cfg)
	keys := make([]string, 40)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	for range 20 {
		appendKeyed(t, l, "v", keys...)
	}
	commit(t, l)
	small := DefaultCleanerConfig()
	small.DedupeBufferBytes = 1
	if errs := cleanAll(t, e, small); len(errs) != 1 || !strings.Contains(errs[0].Error(), "log.cleaner.dedupe.buffer.size") {
		t.Errorf("got %v", errs)
	}
	closeEngine(t, e)
}

// TestRecreatedIsNotClean deletes a compacted log and makes it anew: nothing of the new one counts as compacted, not even after a restart.
func TestRecreatedIsNotClean(t *testing.T) {
	fsys := vfs.NewMem()
	e := openEngine(t, fsys)
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio = 0
	l := createLog(t, e, cfg)
	for range 100 {
		appendKeyed(t, l, "v", "k")
	}
	commit(t, l)
	cleanAll(t, e, DefaultCleanerConfig())
	cleaned := l.Cleaned()
	if cleaned == 0 {
		t.Fatal("not compacted")
	}
	closeEngine(t, e)
	e = openEngine(t, fsys)
	if got := foundLog(t, e).Cleaned(); got != cleaned {
		t.Errorf("after a restart the log is compacted up to %d, not %d", got, cleaned)
	}
	if err := e.Delete(foundLog(t, e)); err != nil {
		t.Fatal(err)
	}
	l = createLog(t, e, cfg)
	if l.Cleaned() != 0 {
		t.Errorf("the new log is compacted up to %d", l.Cleaned())
	}
	appendKeyed(t, l, "v", "k")
	commit(t, l)
	closeEngine(t, e)
	e = openEngine(t, fsys)
	if got := foundLog(t, e).Cleaned(); got != 0 {
		t.Errorf("after a restart the new log is compacted up to %d", got)
	}
	closeEngine(t, e)
}

// TestPolicyChange makes a compacted log a plain one. The gaps in its offsets are no damage, even when the checkpoint is lost and all of
// the log is looked at.
func TestPolicyChange(t *testing.T) {
	fsys := vfs.NewMem()
	e := openEngine(t, fsys)
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio = 0
	l := createLog(t, e, cfg)
	for i := range 200 {
		appendKeyed(t, l, fmt.Sprint(i), fmt.Sprint("k", i%7))
	}
	commit(t, l)
	cleanAll(t, e, DefaultCleanerConfig())
	end := l.End()
	closeEngine(t, e)
	if err := fsys.Remove("/logs/" + recoveryPointFile); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove("/logs/" + cleanShutdownFile); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, fsys, func(o *Options) { o.Config = func(TopicPartition) Config { return DefaultConfig() } })
	l = foundLog(t, e)
	if l.Err() != nil || l.End() != end || l.Recovered().Cut != 0 {
		t.Errorf("%v, ends at %d, not %d, cut %d", l.Err(), l.End(), end, l.Recovered().Cut)
	}
	indexesAgree(t, l)
	closeEngine(t, e)
}

// TestThrottle takes bytes at a rate.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th, began := newThrottle(1000), time.Now()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 10 {
					if err := th.take(context.Background(), 500); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		// 10,000 bytes, of which 300 pass at once.
		if took := time.Since(began); took < 9600*time.Millisecond || took > 9800*time.Millisecond {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := th.take(ctx, 1_000_000); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		for _, rate := range []float64{0, -1, DefaultCleanerConfig().IOBytesPerSecond} {
			if wait := newThrottle(rate).owe(1<<40, time.Now()); wait != 0 {
				t.Errorf("rate %v makes one wait %v", rate, wait)
			}
		}
	})
}

// TestSetCleaner changes the configuration while the engine runs, and after its end.
func TestSetCleaner(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	cfg := compactConfig(rand.New(rand.NewPCG(1, 1)))
	cfg.MinCleanableDirtyRatio = 0
	l := createLog(t, e, cfg)
	for range 100 {
		appendKeyed(t, l, "v", "k")
	}
	commit(t, l)
	slow := DefaultCleanerConfig()
	slow.IOBytesPerSecond, slow.Backoff = 1, time.Millisecond
	e.SetCleaner(slow)
	fast := DefaultCleanerConfig()
	fast.Backoff = time.Millisecond
	e.SetCleaner(fast) // ends what is slow
	for l.Cleaned() == 0 {
		<-time.After(time.Millisecond)
	}
	e.SetCleaner(CleanerConfig{})
	closeEngine(t, e)
	e.SetCleaner(fast) // starts nothing: goleak tells
}
