package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// modelRecord is a record that was appended.
type modelRecord struct {
	offset    int64
	key       string
	value     []byte // nil: a tombstone
	timestamp int64
	producer  int64
	txn       int // number of its transaction, 0 for none
}

// modelLog knows everything that was appended to a log, and what compaction must leave of it.
type modelLog struct {
	records []modelRecord
	plain   bool     // no transactions
	txns    []string // by number: open, committed, aborted
	covered map[int64]int64
	epochs  map[int64]int16
	next    map[int64]int32 // next sequence number by producer
	open    map[int64]int   // number of the open transaction by producer
}

func newModelLog() *modelLog {
	return &modelLog{
		txns: []string{"committed"}, covered: make(map[int64]int64), epochs: make(map[int64]int16), next: make(map[int64]int32), open: make(map[int64]int),
	}
}

// clone copies the model as it is.
func (m *modelLog) clone() *modelLog {
	c := newModelLog()
	c.records, c.txns = slices.Clone(m.records), slices.Clone(m.txns)
	for k, v := range m.covered {
		c.covered[k] = v
	}
	for k, v := range m.next {
		c.next[k] = v
	}
	for k, v := range m.open {
		c.open[k] = v
	}
	return c
}

// truncate forgets what lies at an offset or behind.
func (m *modelLog) truncate(end int64) {
	m.records = slices.DeleteFunc(m.records, func(r modelRecord) bool { return r.offset >= end })
}

const modelRetentionMs = 1000

var modelUnpack = record.NewDecompressor(record.Limits{})

// modelAppend appends a random batch to the log and the model.
func modelAppend(t *testing.T, l *Log, m *modelLog, dice *rand.Rand, nowMs int64) {
	t.Helper()
	codecs := []record.Codec{record.None, record.None, record.LZ4, record.Zstd, record.Gzip, record.Snappy}
	o := record.NewOptions(codecs[dice.IntN(len(codecs))])
	pid, txn := int64(dice.IntN(7)), 0
	if m.plain {
		pid %= 4
	}
	n := 1 + dice.IntN(4)
	if pid > 0 {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence = pid, 0, m.next[pid]
	}
	if pid > 3 { // these write transactions only
		o.Transactional = true
		if m.open[pid] == 0 {
			m.txns = append(m.txns, "open")
			m.open[pid] = len(m.txns) - 1
		}
		txn = m.open[pid]
	}
	b := record.NewBuilder(o)
	base := l.End()
	for i := range n {
		r := modelRecord{
			offset: base + int64(i), key: fmt.Sprintf("k%d", dice.IntN(30)), timestamp: nowMs - int64(dice.IntN(50)), producer: pid, txn: txn,
			value: bytes.Repeat([]byte{byte('a' + dice.IntN(26))}, dice.IntN(60)),
		}
		if dice.IntN(5) == 0 {
			r.value = nil
		} else if r.value == nil {
			r.value = []byte{}
		}
		m.records = append(m.records, r)
		b.Append(&record.Record{Timestamp: r.timestamp, Key: []byte(r.key), Value: r.value, Headers: []record.Header{{Key: []byte("o"), Value: fmt.Append(nil, r.offset)}}})
	}
	batch, err := b.Build(nil, testCompress)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(batch, 0, OriginCoordinator); err != nil {
		t.Fatal(err)
	}
	m.next[pid] = record.IncrementSequence(m.next[pid], int32(n)) //nolint:gosec // small
}

// modelEnd ends a producer's transaction.
func modelEnd(t *testing.T, l *Log, m *modelLog, pid int64, commit bool, nowMs int64) {
	t.Helper()
	txn := m.open[pid]
	if txn == 0 {
		return
	}
	m.txns[txn] = map[bool]string{true: "committed", false: "aborted"}[commit]
	delete(m.open, pid)
	b := record.AppendEndMarker(nil, pid, 0, record.EndMarker{Commit: commit}, nowMs)
	if _, err := l.AppendMarker(b, 0, 1); err != nil {
		t.Fatal(err)
	}
}

// verify reads the whole log and compares it with the model.
func (m *modelLog) verify(t *testing.T, l *Log, nowMs int64) {
	t.Helper()
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	cleaned, start := l.Cleaned(), l.Start()
	byOffset := make(map[int64]modelRecord, len(m.records))
	lastOf := make(map[string]modelRecord)
	for _, r := range m.records {
		byOffset[r.offset] = r
		if m.txns[r.txn] == "committed" {
			lastOf[r.key] = r
		}
	}
	present := make(map[int64]bool)
	seen := make(map[string]int64) // below what is clean
	for _, b := range readBatches(t, l, start, 1<<20) {
		if b.IsControl() {
			continue
		}
		aborted := m.isAborted(t, l, b)
		for _, r := range recordsOf(t, b) {
			want, ok := byOffset[r.Offset]
			if !ok || want.key != string(r.Key) || !bytes.Equal(want.value, r.Value) || (want.value == nil) != (r.Value == nil) ||
				want.timestamp != r.Timestamp || want.producer != max(b.ProducerID(), 0) || string(r.Headers[0].Value) != fmt.Sprint(r.Offset) {
				t.Fatalf("record at %d is %q=%q@%d, was appended as %+v", r.Offset, r.Key, r.Value, r.Timestamp, want)
			}
			if state := m.txns[want.txn]; aborted != (state == "aborted") && state != "open" {
				t.Fatalf("record at %d of a transaction that was %s, the index says aborted=%v", r.Offset, state, aborted)
			}
			present[r.Offset] = true
			if r.Offset < cleaned && aborted {
				t.Fatalf("aborted record at %d is still there, the log is clean up to %d", r.Offset, cleaned)
			}
			if before, ok := seen[want.key]; ok && r.Offset < cleaned {
				t.Fatalf("key %s is at %d and at %d, the log is clean up to %d", want.key, before, r.Offset, cleaned)
			}
			if r.Offset < cleaned {
				seen[want.key] = r.Offset
			}
		}
	}
	for _, r := range m.records {
		if r.offset < start || m.txns[r.txn] == "aborted" || present[r.offset] {
			continue
		}
		last := lastOf[r.key]
		due, cleanedOnce := m.covered[r.offset]
		switch {
		case m.txns[r.txn] == "open":
			t.Fatalf("record at %d of an open transaction is gone", r.offset)
		case last.offset == r.offset && r.value != nil:
			t.Fatalf("the last record of key %s at %d is gone", r.key, r.offset)
		case last.offset == r.offset && (!cleanedOnce || nowMs < due):
			t.Fatalf("the tombstone of key %s at %d is gone at %d, it was to stay until %d", r.key, r.offset, nowMs, due)
		case last.offset != r.offset && r.offset >= cleaned && cleaned > 0 && !cleanedOnce:
			t.Fatalf("record at %d is gone, the log was compacted up to %d only", r.offset, cleaned)
		}
	}
}

// cover notes when the tombstones that were compacted for the first time may go.
func (m *modelLog) cover(l *Log, nowMs int64) {
	for _, r := range m.records {
		if _, ok := m.covered[r.offset]; !ok && r.offset < l.Cleaned() {
			m.covered[r.offset] = nowMs + modelRetentionMs
		}
	}
}

// isAborted tells what a reader of committed transactions makes of a batch: as a consumer does, by the list that comes with a fetch.
func (m *modelLog) isAborted(t *testing.T, l *Log, b record.Batch) bool {
	t.Helper()
	if !b.IsTransactional() {
		return false
	}
	list, err := l.Aborted(max(b.BaseOffset(), l.Start()), b.NextOffset())
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list, func(a AbortedTxn) bool {
		return a.ProducerID == b.ProducerID() && a.FirstOffset <= b.BaseOffset() && b.LastOffset() <= a.LastOffset
	})
}

func recordsOf(t *testing.T, b record.Batch) (out []record.Record) {
	t.Helper()
	r := b.Records(modelUnpack)
	defer r.Close()
	for r.Next() {
		rec := *r.Record()
		rec.Key, rec.Value = slices.Clone(rec.Key), slices.Clone(rec.Value)
		rec.Headers = []record.Header{{Value: slices.Clone(rec.Headers[0].Value)}}
		if r.Record().Value != nil && rec.Value == nil {
			rec.Value = []byte{}
		}
		out = append(out, rec)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// cleanAll compacts what is due, as a worker of the cleaner does.
func cleanAll(t testing.TB, e *Engine, cfg CleanerConfig) (errs []error) {
	t.Helper()
	w := newCleanerWorker(e.cleaner, 0, cfg, newThrottle(0))
	for w.cleanNext(context.Background()) {
	}
	e.cleaner.mu.Lock()
	defer e.cleaner.mu.Unlock()
	for l, err := range e.cleaner.unclean {
		errs = append(errs, fmt.Errorf("%s: %w", l.tp, err))
	}
	return errs
}

// compactConfig is a topic's configuration with small segments.
func compactConfig(dice *rand.Rand) Config {
	cfg := DefaultConfig()
	cfg.Compact, cfg.Delete = true, false
	cfg.SegmentBytes = int64(700 + dice.IntN(1500))
	cfg.IndexIntervalBytes = int64(dice.IntN(200))
	cfg.DeleteRetentionMs = modelRetentionMs
	cfg.MinCleanableDirtyRatio = float64(dice.IntN(3)) / 10
	cfg.FileDeleteDelayMs = int64(dice.IntN(2))
	return cfg
}

// clock is the time of a test.
type clock struct{ ms int64 }

func (c *clock) now() time.Time { return time.UnixMilli(c.ms) }

// TestCompactionKeepsItsPromises appends, deletes, commits, aborts, compacts, truncates and restarts at random, and compares the log with
// the model after each step that could lose something.
func TestCompactionKeepsItsPromises(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 42))
			at := &clock{ms: 1_000_000}
			fsys := vfs.NewMem()
			open := func() *Engine {
				return openEngine(t, fsys, func(o *Options) {
					o.Now = at.now
					o.Durability = Durability(seed % 2)
					o.Config = func(TopicPartition) Config { return compactConfig(rand.New(rand.NewPCG(seed, 7))) }
				})
			}
			cfg := DefaultCleanerConfig()
			cfg.DedupeBufferBytes = slotBytes * (16 + int64(dice.IntN(60))) // several passes
			e := open()
			l, m := createLog(t, e, compactConfig(rand.New(rand.NewPCG(seed, 7)))), newModelLog()
			m.plain = seed%3 == 0 // then it is truncated too
			truncated := 0
			for range 400 {
				at.ms += int64(dice.IntN(40))
				switch n := dice.IntN(100); {
				case n < 62:
					modelAppend(t, l, m, dice, at.ms)
				case n < 78:
					modelEnd(t, l, m, int64(4+dice.IntN(3)), dice.IntN(2) == 0, at.ms)
				case n < 94:
					flush(t, l)
					l.SetHighWatermark(l.End())
					if errs := cleanAll(t, e, cfg); errs != nil {
						t.Fatal(errs)
					}
					m.cover(l, at.ms)
					m.verify(t, l, at.ms)
				case n < 96:
					l.ExpireProducers(at.now(), 0)
				case n < 98 && m.plain && l.End() > l.HighWatermarkCheckpoint():
					to := l.HighWatermarkCheckpoint() + dice.Int64N(l.End()-l.HighWatermarkCheckpoint())
					truncated++
					if err := l.TruncateTo(to); err != nil {
						t.Fatal(err)
					}
					m.truncate(l.End())
					m.resume(l)
				default:
					closeEngine(t, e)
					e = open()
					l = foundLog(t, e)
					m.verify(t, l, at.ms)
				}
			}
			m.verify(t, l, at.ms)
			if l.Cleaned() == 0 {
				t.Error("nothing was ever compacted")
			}
			if m.plain && truncated == 0 {
				t.Error("never truncated")
			}
			closeEngine(t, e)
		})
	}
}

const slotBytes = 24

// resume takes the producers' sequence numbers from the log.
func (m *modelLog) resume(l *Log) {
	clear(m.next)
	for _, p := range l.Producers() {
		m.next[p.ProducerID] = record.IncrementSequence(max(p.LastSequence, -1), 1)
		if p.LastSequence < 0 {
			m.next[p.ProducerID] = 0
		}
	}
}

// TestCompactionSurvivesPowerCuts cuts the power at every change of the file system that a compaction makes, and finds everything there
// that must be, after recovery, after another compaction, and after another restart.
func TestCompactionSurvivesPowerCuts(t *testing.T) {
	rounds, cuts := uint64(8), 0
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { cuts += cutCompactions(t, seed) })
	}
	t.Logf("%d power cuts", cuts)
	if cuts < 40*int(rounds) { //nolint:gosec // small
		t.Errorf("only %d power cuts", cuts)
	}
}

type compactionCut struct {
	fs    *vfs.MemFS
	op    string
	model *modelLog
	nowMs int64
}

func cutCompactions(t *testing.T, seed uint64) int {
	dice, work := rand.New(rand.NewPCG(seed, 99)), rand.New(rand.NewPCG(seed, 98))
	at := &clock{ms: 1_000_000}
	mem := vfs.NewMem()
	var cuts []compactionCut
	var m *modelLog
	var mu sync.Mutex
	armed := false // under mu, so that nothing is cut once a compaction is over
	arm := func(yes bool) {
		mu.Lock()
		defer mu.Unlock()
		armed = yes
	}
	faulty := vfs.NewFaultyWith(mem, vfs.FaultyOptions{Seed: seed, Hook: func(c vfs.Call) {
		mu.Lock()
		defer mu.Unlock()
		if armed && dice.IntN(6) == 0 {
			for range 1 + dice.IntN(2) {
				cuts = append(cuts, compactionCut{mem.CrashClone(dice.Uint64()), fmt.Sprint(c.Op, " ", c.Name), m.clone(), at.ms})
			}
		}
	}})
	topic := compactConfig(work)
	options := func(o *Options) {
		o.Now = at.now
		o.Config = func(TopicPartition) Config { return topic }
	}
	e := openEngine(t, faulty, options)
	l := createLog(t, e, topic)
	m = newModelLog()
	cfg := DefaultCleanerConfig()
	cfg.DedupeBufferBytes = slotBytes * 64
	for range 3 {
		for range 60 {
			at.ms += int64(work.IntN(20))
			if work.IntN(4) == 0 {
				modelEnd(t, l, m, int64(4+work.IntN(3)), work.IntN(2) == 0, at.ms)
			} else {
				modelAppend(t, l, m, work, at.ms)
			}
		}
		flush(t, l)
		l.SetHighWatermark(l.End())
		if err := l.dir.keeper.checkpoint(true); err != nil {
			t.Fatal(err)
		}
		quiet(l)
		arm(true)
		errs := cleanAll(t, e, cfg)
		arm(false)
		if errs != nil {
			t.Fatal(errs)
		}
		m.cover(l, at.ms)
		m.verify(t, l, at.ms)
	}
	closeEngine(t, e)
	for i, c := range cuts {
		untouched := c.fs.CrashClone(1)
		verifyCut(t, c, topic, cfg)
		if t.Failed() {
			dumpFS(t, untouched, "/logs")
		}
		if t.Failed() {
			t.Fatalf("failed at power cut %d of seed %d, before %s", i, seed, c.op)
		}
	}
	return len(cuts)
}

// quiet waits until the log has nothing left to flush, so that what follows is the compaction alone.
func quiet(l *Log) {
	for {
		l.mu.Lock()
		busy := len(l.dirty) > 0 || l.queued || l.dirDirty
		l.mu.Unlock()
		if !busy {
			return
		}
		_ = l.Flush(context.Background())
		<-time.After(time.Millisecond)
	}
}

func verifyCut(t *testing.T, c compactionCut, topic Config, cfg CleanerConfig) {
	t.Helper()
	at := &clock{ms: c.nowMs}
	options := func(o *Options) {
		o.Now = at.now
		o.Config = func(TopicPartition) Config { return topic }
	}
	for range 2 {
		e := openEngine(t, c.fs, options)
		l := foundLog(t, e)
		if cut := l.Recovered().Cut; cut != 0 || len(l.Recovered().Moved) > 0 {
			t.Errorf("recovery cut %d bytes, moved %v", cut, l.Recovered().Moved)
		}
		noSwapsLeft(t, c.fs, l)
		indexesAgree(t, l)
		if end := c.model.records[len(c.model.records)-1].offset + 1; l.End() < end {
			t.Errorf("the log ends at %d, not at %d", l.End(), end)
		}
		// The tombstones that the interrupted compaction met may have got their time already, before the checkpoint says so.
		for _, r := range c.model.records {
			if _, ok := c.model.covered[r.offset]; !ok {
				c.model.covered[r.offset] = c.nowMs + modelRetentionMs
			}
		}
		c.model.verify(t, l, at.ms)
		at.ms += 10
		l.SetHighWatermark(l.End())
		if errs := cleanAll(t, e, cfg); errs != nil {
			t.Error(errs)
		}
		c.model.verify(t, l, at.ms)
		closeEngine(t, e)
	}
}

// noSwapsLeft looks for files that a compaction left half done.
func noSwapsLeft(t *testing.T, fsys vfs.FS, l *Log) {
	t.Helper()
	names, err := swapNames(fsys, l.path)
	if err != nil || len(names) > 0 {
		t.Errorf("left over: %v, %v", names, err)
	}
}

// indexesAgree checks that segments follow each other without a gap and that every index entry names a batch.
func indexesAgree(t *testing.T, l *Log) {
	t.Helper()
	segs := l.segments()
	for i, s := range segs {
		h, err := l.env.files.pin(&s.log, 0)
		if err != nil {
			t.Fatal(err)
		}
		positions, end := make(map[int64]int64), s.base
		w := walk(h, s.name, 0, s.size)
		for {
			ok, err := w.next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			positions[w.pos], end = w.hdr.LastOffset(), w.hdr.NextOffset()
		}
		w.done()
		l.env.files.unpin(&s.log)
		if i+1 < len(segs) && segs[i+1].base != end {
			t.Errorf("%s ends at %d, the next one begins at %d", s.name, end, segs[i+1].base)
		}
		if s.suspect.Load() {
			continue
		}
		_, err = s.index.leading(func(entry []byte) bool {
			p := s.index.decode(entry)
			if positions[p.pos] != p.offset {
				t.Errorf("%s: the index says offset %d at %d, there is %d", s.name, p.offset, p.pos, positions[p.pos])
			}
			return true
		})
		if err != nil && !isNotExist(err) {
			t.Error(err)
		}
	}
}

// TestCompactionMeetsFaults fails each operation of a compaction in turn. A full disk is waited for; whatever happens, nothing is lost.
func TestCompactionMeetsFaults(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
		for skip := uint64(0); skip < 60; skip += 1 + skip/8 {
			t.Run(fmt.Sprintf("%v/%d", fault, skip), func(t *testing.T) { failCompaction(t, fault, skip) })
		}
	}
}

func failCompaction(t *testing.T, fault error, skip uint64) {
	dice := rand.New(rand.NewPCG(skip, 3))
	at := &clock{ms: 1_000_000}
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	topic := compactConfig(dice)
	options := func(o *Options) {
		o.Now = at.now
		o.Config = func(TopicPartition) Config { return topic }
		o.Logger = nil
	}
	e := openEngine(t, faulty, options)
	l, m := createLog(t, e, topic), newModelLog()
	for range 80 {
		modelAppend(t, l, m, dice, at.ms)
	}
	for pid := range int64(3) {
		modelEnd(t, l, m, 4+pid, pid == 0, at.ms)
	}
	flush(t, l)
	l.SetHighWatermark(l.End())
	quiet(l)
	remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpCreate, vfs.OpWrite, vfs.OpTruncate, vfs.OpSync, vfs.OpSyncDir, vfs.OpRename}, Skip: skip, Times: 1, Err: fault})
	errs := cleanAll(t, e, DefaultCleanerConfig())
	remove()
	if l.Err() == nil {
		m.verify(t, l, at.ms)
		if errs = append(errs, cleanAll(t, e, DefaultCleanerConfig())...); len(errs) > 0 {
			t.Errorf("the log works and is given up: %v", errs)
		}
		m.cover(l, at.ms)
		m.verify(t, l, at.ms)
		if l.Cleaned() == 0 {
			t.Error("never compacted")
		}
		closeEngine(t, e)
	} else {
		if !errors.Is(l.Err(), ErrStorage) {
			t.Error(l.Err())
		}
		abandon(e)
	}
	e = openEngine(t, mem, options)
	l = foundLog(t, e)
	m.cover(l, at.ms)
	for _, r := range m.records { // it may have met them all
		m.covered[r.offset] = at.ms + modelRetentionMs
	}
	m.verify(t, l, at.ms)
	noSwapsLeft(t, mem, l)
	closeEngine(t, e)
}
