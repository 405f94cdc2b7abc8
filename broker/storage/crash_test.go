package storage

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

var (
	crashSeed   = flag.Uint64("crash.seed", 0, "run the crash test with this seed only")
	crashRounds = flag.Int("crash.rounds", 16, "workloads of the crash test")
)

// TestPowerCut runs random workloads and cuts the power at hundreds of points: after each cut the file system is what MemFS.CrashClone
// says, an engine is opened on it, and everything that had been reported as flushed must be there, byte for byte, with producer state
// and leader epochs that agree with it.
func TestPowerCut(t *testing.T) {
	points := 0
	for i := range uint64(*crashRounds) {
		seed := 1000 + i
		if *crashSeed != 0 {
			if i > 0 {
				break
			}
			seed = *crashSeed
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cuts := runCrashWorkload(t, seed)
			points += len(cuts)
			for n, c := range cuts {
				c.verify(t, seed, n)
				if t.Failed() {
					t.Fatalf("failed at power cut %d of seed %d: go test -run TestPowerCut -crash.seed %d", n, seed, seed)
				}
			}
		})
	}
	t.Logf("%d power cuts", points)
	if *crashSeed == 0 && *crashRounds >= 16 && points < 500 {
		t.Errorf("only %d power cuts", points)
	}
}

// crashLog is what the test knows of one incarnation of a partition.
type crashLog struct {
	log      *Log
	id       TopicID
	cfg      Config
	batches  []record.Batch // as appended, in order
	floorCap int64          // flushed ends above it count no more: a truncation is under way
	startMin int64          // SetStart has returned for it
	startMax int64          // and was asked for it, or retention may have gone so far
	next     map[int64]int32
	epoch    int32
}

// cut is one power cut: the file system, and what must be found there.
type cut struct {
	fs   *vfs.MemFS
	dice uint64
	want map[TopicPartition]crashWant
}

type crashWant struct {
	id       TopicID
	floor    int64
	batches  []record.Batch
	startMin int64
	startMax int64
}

// crashRun is one workload. mu guards what the hook reads, and is never held while the engine is called.
type crashRun struct {
	t      *testing.T
	mem    *vfs.MemFS
	engine *Engine
	dice   *rand.Rand

	mu      sync.Mutex
	cutDice *rand.Rand
	logs    map[TopicPartition]*crashLog
	cuts    []*cut
	off     bool
	serial  int
}

const cutsPerWorkload = 40

func runCrashWorkload(t *testing.T, seed uint64) []*cut {
	r := &crashRun{
		t: t, mem: vfs.NewMem(), dice: rand.New(rand.NewPCG(seed, 1)), cutDice: rand.New(rand.NewPCG(seed, 2)),
		logs: make(map[TopicPartition]*crashLog),
	}
	faulty := vfs.NewFaultyWith(r.mem, vfs.FaultyOptions{Seed: seed, Hook: r.hook})
	r.engine = openEngine(t, faulty, func(o *Options) {
		o.Durability = Durability(seed % 2)
		o.MaxOpenFiles = 1 // as few as it can do with
		if seed%3 == 0 {
			o.Dirs = []string{"/logs", "/more"}
		}
	})
	for range 150 {
		r.step()
	}
	r.mu.Lock()
	r.off = r.dice.IntN(2) == 0
	r.mu.Unlock()
	closeEngine(t, r.engine)
	return r.cuts
}

// hook is called before each change of the file system.
func (r *crashRun) hook(vfs.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off || len(r.cuts) >= cutsPerWorkload || r.cutDice.IntN(14) != 0 {
		return
	}
	want := make(map[TopicPartition]crashWant)
	for tp, c := range r.logs {
		want[tp] = crashWant{
			id: c.id, floor: min(c.log.FlushedEnd(), c.floorCap), batches: slices.Clone(c.batches), startMin: c.startMin, startMax: c.startMax,
		}
	}
	dice := r.cutDice.Uint64()
	r.cuts = append(r.cuts, &cut{fs: r.mem.CrashClone(dice), dice: dice, want: want})
}

func (r *crashRun) step() {
	tp := TopicPartition{"t", int32(r.dice.IntN(3))}
	r.mu.Lock()
	c := r.logs[tp]
	r.mu.Unlock()
	if c == nil {
		r.create(tp)
		return
	}
	switch n := r.dice.IntN(100); {
	case n < 12:
		r.endTxn(c)
	case n < 55:
		r.append(c)
	case n < 70:
		flush(r.t, c.log)
		c.log.SetHighWatermark(c.log.FlushedEnd())
	case n < 78:
		r.setStart(c)
	case n < 84:
		r.retain(c)
	case n < 92:
		if err := c.log.dir.keeper.checkpoint(true); err != nil {
			r.t.Fatal(err)
		}
	case n < 95:
		r.truncate(c)
	case n < 97:
		c.epoch++
		if err := c.log.AssignEpoch(c.epoch, c.log.End()); err != nil {
			r.t.Fatal(err)
		}
	default:
		r.delete(tp, c)
	}
}

func (r *crashRun) create(tp TopicPartition) {
	r.serial++
	cfg := DefaultConfig()
	cfg.SegmentBytes = int64(900 + r.dice.IntN(1500))
	cfg.IndexIntervalBytes = int64(r.dice.IntN(300))
	cfg.FileDeleteDelayMs = int64(r.dice.IntN(2))
	cfg.Preallocate = r.dice.IntN(4) == 0
	cfg.RetentionMs = 1000
	id := TopicID{byte(r.serial), byte(r.serial >> 8), 7}
	l, err := r.engine.Create(tp, id, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.logs[tp] = &crashLog{log: l, id: id, cfg: cfg, floorCap: 1 << 60, next: make(map[int64]int32)}
	r.mu.Unlock()
}

func (r *crashRun) append(c *crashLog) {
	spec := batchSpec{
		n: 1 + r.dice.IntN(3), ts: time.Now().UnixMilli() - int64(r.dice.IntN(3000)), value: string(bytes.Repeat([]byte{'a' + byte(r.dice.IntN(20))}, r.dice.IntN(200))),
		codec: []record.Codec{record.None, record.None, record.Snappy, record.Zstd}[r.dice.IntN(4)],
	}
	if pid := int64(r.dice.IntN(7)); pid > 0 {
		spec.pid, spec.seq, spec.txn = pid, c.next[pid], pid >= firstTxnPid
		c.next[pid] += int32(spec.n)
	}
	guard := NoGuard
	if spec.txn {
		guard, _ = c.log.BeginVerification(spec.pid, spec.epoch, spec.seq)
	}
	r.appendBatch(c, spec.build(r.t), func(b []byte) (AppendInfo, error) { return c.log.AppendVerified(b, c.epoch, guard) })
}

// firstTxnPid is the first of the producers that use transactions.
const firstTxnPid = 4

// endTxn writes a marker, mostly of a transaction that is open.
func (r *crashRun) endTxn(c *crashLog) {
	pid := firstTxnPid + int64(r.dice.IntN(3))
	marker := record.AppendEndMarker(nil, pid, 0, record.EndMarker{Commit: r.dice.IntN(2) == 0}, time.Now().UnixMilli())
	r.appendBatch(c, marker, func(b []byte) (AppendInfo, error) { return c.log.AppendMarker(b, c.epoch, 0) })
}

func (r *crashRun) appendBatch(c *crashLog, b []byte, add func([]byte) (AppendInfo, error)) {
	// The batch may be on disk before Append returns, so it must be known before.
	full := record.Batch(slices.Clone(b))
	full.SetBaseOffset(c.log.End())
	full.SetPartitionLeaderEpoch(c.epoch)
	r.mu.Lock()
	c.batches = append(c.batches, full)
	r.mu.Unlock()
	if info, err := add(b); err != nil || info.Duplicate {
		r.t.Fatal(info, err)
	}
	if !bytes.Equal(b, full) {
		r.t.Fatal("append made something else of the batch")
	}
}

func (r *crashRun) setStart(c *crashLog) {
	to := c.log.Start()
	if span := c.log.FlushedEnd() - to; span > 0 {
		to += r.dice.Int64N(span + 1)
	}
	r.mu.Lock()
	c.startMax = max(c.startMax, to)
	r.mu.Unlock()
	if err := c.log.SetStart(to); err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	c.startMin = max(c.startMin, to)
	r.mu.Unlock()
}

func (r *crashRun) retain(c *crashLog) {
	r.mu.Lock()
	c.startMax = max(c.startMax, c.log.HighWatermarkCheckpoint())
	r.mu.Unlock()
	if _, err := c.log.Retain(time.Now()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *crashRun) truncate(c *crashLog) {
	start, end := c.log.Start(), c.log.End()
	to := start
	if end > start {
		to += r.dice.Int64N(end - start + 2)
	}
	// A batch is removed as a whole, so the log ends at a batch's beginning.
	for _, b := range c.batches {
		if b.BaseOffset() < to && b.LastOffset() >= to {
			to = b.BaseOffset()
		}
	}
	if to < start {
		return
	}
	c.log.SetHighWatermark(min(c.log.HighWatermarkCheckpoint(), to))
	r.mu.Lock()
	c.floorCap = to
	r.mu.Unlock()
	if err := c.log.TruncateTo(to); err != nil {
		r.t.Fatal(err)
	}
	if to < end && c.log.End() != to {
		r.t.Fatalf("truncated to %d, ends at %d", to, c.log.End())
	}
	kept := slices.DeleteFunc(slices.Clone(c.batches), func(b record.Batch) bool { return b.BaseOffset() >= to })
	for pid := range c.next {
		c.next[pid] = 0
	}
	for _, b := range kept {
		if b.HasProducerID() && !b.IsControl() {
			c.next[b.ProducerID()] = record.IncrementSequence(b.LastSequence(), 1)
		}
	}
	// What was cut off may come back after a power cut, until other batches have its place; so the next ones get a new epoch.
	c.epoch++
	r.mu.Lock()
	c.batches, c.floorCap = kept, 1<<60
	r.mu.Unlock()
	if err := c.log.AssignEpoch(c.epoch, c.log.End()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *crashRun) delete(tp TopicPartition, c *crashLog) {
	r.mu.Lock()
	delete(r.logs, tp)
	r.mu.Unlock()
	if err := r.engine.Delete(c.log); err != nil {
		r.t.Fatal(err)
	}
}

// verify opens an engine on what the power cut left.
func (c *cut) verify(t *testing.T, seed uint64, n int) {
	t.Helper()
	dice := rand.New(rand.NewPCG(c.dice, 3))
	orig := c.fs.CrashClone(1)
	defer func() {
		if t.Failed() {
			t.Logf("cut %d found:", n)
			dumpFS(t, orig, "/")
		}
	}()
	if dice.IntN(3) == 0 { // the power fails again during recovery
		again := &cut{dice: c.dice + 1, want: c.want}
		at, calls := 1+dice.IntN(30), 0
		var mu sync.Mutex
		faulty := vfs.NewFaultyWith(c.fs, vfs.FaultyOptions{Hook: func(vfs.Call) {
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls == at {
				again.fs = c.fs.CrashClone(c.dice + 2)
			}
		}})
		e := openEngine(t, faulty, crashDirs(seed))
		abandon(e)
		if again.fs != nil {
			c = again
		} else {
			c.fs = c.fs.CrashClone(c.dice + 3)
		}
	}
	e := openEngine(t, c.fs, crashDirs(seed), func(o *Options) { o.Durability = Durability(dice.IntN(2)) })
	found := make(map[TopicPartition]crashWant)
	for tp, want := range c.want {
		l, ok := e.Log(tp)
		if !ok {
			if want.floor > 0 {
				t.Fatalf("cut %d: %s is gone, %d were flushed", n, tp, want.floor)
			}
			continue
		}
		got := want.check(t, l)
		if t.Failed() {
			t.Logf("cut %d: %s: start %d end %d, floor %d, start %d to %d, recovery %+v, err %v", n, tp, l.Start(), l.End(), want.floor, want.startMin, want.startMax,
				l.Recovered(), l.Err())
			return
		}
		if l.TopicID() == want.id {
			found[tp] = got
		}
	}
	// What the engine found and shows to readers is durable now.
	second := &cut{fs: c.fs.CrashClone(c.dice + 4), want: found}
	for tp, got := range found {
		l, _ := e.Log(tp)
		checkTransactions(t, l, got.batches, c.want[tp].batches)
		checkProducers(t, l, got.batches)
		if t.Failed() {
			for _, b := range got.batches {
				t.Logf("%s %d-%d epoch %d pid %d seq %d", tp, b.BaseOffset(), b.LastOffset(), b.PartitionLeaderEpoch(), b.ProducerID(), b.BaseSequence())
			}
			t.Logf("floor %d %+v %v", c.want[tp].floor, l.Recovered(), l.snapshots)
		}
	}
	if dice.IntN(2) == 0 {
		closeEngine(t, e)
	} else {
		abandon(e)
	}
	e = openEngine(t, second.fs, crashDirs(seed))
	for tp, want := range second.want {
		l, ok := e.Log(tp)
		if !ok {
			t.Fatalf("cut %d: %s is gone after the second power cut", n, tp)
		}
		got := want.check(t, l)
		checkTransactions(t, l, got.batches, want.batches)
	}
	closeEngine(t, e)
}

func crashDirs(seed uint64) func(*Options) {
	return func(o *Options) {
		if seed%3 == 0 {
			o.Dirs = []string{"/logs", "/more"}
		}
		o.RecoveryThreads = 1
		o.Config = func(TopicPartition) Config {
			cfg := DefaultConfig()
			cfg.IndexIntervalBytes = 100
			return cfg
		}
	}
}

// check compares a log with what it must hold, and returns what it holds.
func (w crashWant) check(t *testing.T, l *Log) crashWant {
	t.Helper()
	if l.TopicID() != w.id {
		if w.floor > 0 {
			t.Errorf("topic id %s, want %s", l.TopicID(), w.id)
		}
		return crashWant{}
	}
	if err := l.Err(); err != nil {
		t.Errorf("log is damaged: %v", err)
		return crashWant{}
	}
	if l.End() < w.floor || l.Start() < w.startMin || l.Start() > w.startMax || l.FlushedEnd() != l.End() {
		t.Errorf("start %d end %d flushed %d, want start %d to %d, end at least %d", l.Start(), l.End(), l.FlushedEnd(), w.startMin, w.startMax, w.floor)
		return crashWant{}
	}
	known := make(map[int64]record.Batch)
	for _, b := range w.batches {
		known[b.BaseOffset()] = b
	}
	got := readBatches(t, l, l.Start(), 1<<20)
	for _, b := range got {
		if have, ok := known[b.BaseOffset()]; b.BaseOffset() < w.floor && (!ok || !bytes.Equal(have, b)) {
			t.Errorf("batch at %d is not what was appended", b.BaseOffset())
		}
		if e := l.EpochAt(max(b.BaseOffset(), l.Start())); e != b.PartitionLeaderEpoch() {
			t.Errorf("epoch at %d is %d, the batch has %d", b.BaseOffset(), e, b.PartitionLeaderEpoch())
		}
		ts := b.MaxTimestamp()
		if f, ok, err := l.OffsetForTimestamp(ts); err != nil || !ok || f.Offset > b.LastOffset() {
			t.Errorf("timestamp %d of batch %d: %v %v %v", ts, b.BaseOffset(), f, ok, err)
			for _, s := range l.segments() {
				t.Logf("segment %d to %d, %d bytes, largest %v %v, suspect %v", s.base, s.next, s.size, s.largest, s.largestKnown, s.suspect.Load())
			}
		}
	}
	return crashWant{id: w.id, floor: l.End(), batches: got, startMin: l.Start(), startMax: l.Start()}
}

// checkProducers sends the last batches of every producer again: each must be known as a duplicate. What follows them is accepted,
// what leaves a gap isn't.
func checkProducers(t *testing.T, l *Log, batches []record.Batch) {
	t.Helper()
	last := make(map[int64][]record.Batch)
	for _, b := range batches {
		if b.HasProducerID() && !b.IsControl() {
			list := append(last[b.ProducerID()], b)
			last[b.ProducerID()] = list[max(0, len(list)-producerBatches):]
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(last)) {
		for _, b := range last[pid] {
			info, err := l.Append(slices.Clone(b), l.LatestEpoch(), OriginClient)
			if err != nil || !info.Duplicate || info.BaseOffset != b.BaseOffset() || info.LastOffset != b.LastOffset() {
				t.Errorf("producer %d, batch %d (sequence %d) sent again: %+v %v", pid, b.BaseOffset(), b.BaseSequence(), info, err)
			}
		}
		if pid >= firstTxnPid {
			continue // checkTransactions looks at these
		}
		newest := last[pid][len(last[pid])-1]
		next := record.IncrementSequence(newest.LastSequence(), 1)
		gap := batchSpec{pid: pid, seq: next + 7, ts: 1}
		if _, err := l.Append(gap.build(t), l.LatestEpoch(), OriginClient); !errors.Is(err, ErrOutOfOrderSequence) {
			t.Errorf("producer %d leaves a gap: %v", pid, err)
		}
		good := batchSpec{pid: pid, seq: next, ts: 1}
		if _, err := l.Append(good.build(t), l.LatestEpoch(), OriginClient); err != nil {
			t.Errorf("producer %d goes on: %v", pid, err)
		}
	}
	if err := l.Flush(context.Background()); err != nil {
		t.Error(err)
	}
}
