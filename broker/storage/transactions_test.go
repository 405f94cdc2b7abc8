package storage

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// outcome is what became of the data of a transaction.
type outcome int8

const (
	undecided outcome = iota
	committed
	aborted
)

// outcomes says of every transactional data batch, by base offset, what became of it: the naive way, from all batches of the log.
func outcomes(batches []record.Batch) map[int64]outcome {
	out, open := map[int64]outcome{}, map[int64][]int64{}
	for _, b := range batches {
		pid := b.ProducerID()
		switch {
		case !b.IsTransactional():
		case !b.IsControl():
			out[b.BaseOffset()] = undecided
			open[pid] = append(open[pid], b.BaseOffset())
		default:
			m, _ := b.EndMarker()
			for _, base := range open[pid] {
				if out[base] = aborted; m.Commit {
					out[base] = committed
				}
			}
			delete(open, pid)
		}
	}
	return out
}

// checkTransactions reads a log as a client that wants committed records only, from several offsets and in small pieces, and compares
// what it gets with what all batches say. have is what can be read, known is what was appended, as far as it is known.
func checkTransactions(t *testing.T, l *Log, have, known []record.Batch) {
	t.Helper()
	var all []record.Batch
	for _, b := range known {
		if len(have) > 0 && b.NextOffset() <= have[0].BaseOffset() {
			all = append(all, b)
		}
	}
	want := outcomes(append(all, have...))
	stable := l.End()
	for _, b := range have {
		if o, ok := want[b.BaseOffset()]; ok && o == undecided {
			stable = max(b.BaseOffset(), l.Start())
			break
		}
	}
	got := max(l.Start(), min(l.End(), l.FirstOpen()))
	if got > stable || got < stable && got != l.Start() { // at the start, the open one may have lost all its batches
		t.Errorf("stable up to %d, want %d", got, stable)
	}
	for i := 0; i < len(have); i += 1 + len(have)/5 {
		from := max(have[i].BaseOffset(), l.Start())
		for offset, read := range readCommitted(t, l, from, got) {
			if o, ok := want[offset]; ok && read != (o == committed) {
				t.Errorf("from %d: batch at %d is read %v, but its outcome is %d", from, offset, read, o)
			}
		}
	}
}

// readCommitted reads as clients do: it says of every data batch, by base offset, whether the client shows it.
func readCommitted(t *testing.T, l *Log, from, to int64) map[int64]bool {
	t.Helper()
	out := map[int64]bool{}
	for from < to {
		s, err := l.Read(from, to, 400, true)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.Aborted(from, s.Next())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(list, func(a, b AbortedTxn) int { return int(a.FirstOffset - b.FirstOffset) }) {
			t.Errorf("aborted transactions are out of order: %v", list)
		}
		data, err := s.Bytes()
		s.Release()
		if err != nil || len(data) == 0 {
			t.Fatalf("%d bytes at %d of %d: %v", len(data), from, to, err)
		}
		from = showCommitted(t, data, list, out)
	}
	return out
}

// showCommitted notes what a client shows of one answer, and returns where it goes on.
func showCommitted(t *testing.T, data []byte, list []AbortedTxn, out map[int64]bool) (next int64) {
	t.Helper()
	passed := map[int64]bool{}
	for len(data) > 0 {
		b, rest, err := record.Next(data)
		if err != nil {
			t.Fatal(err)
		}
		for len(list) > 0 && list[0].FirstOffset <= b.LastOffset() {
			passed[list[0].ProducerID] = true
			list = list[1:]
		}
		switch {
		case b.IsControl():
			if m, ok := b.EndMarker(); ok && !m.Commit {
				delete(passed, b.ProducerID())
			}
		default:
			out[b.BaseOffset()] = !b.IsTransactional() || !passed[b.ProducerID()]
		}
		data, next = rest, b.NextOffset()
	}
	return next
}

// txnLog is a log whose producers write transactions.
type txnLog struct {
	*Log
	t    *testing.T
	next map[int64]int32
}

func newTxnLog(t *testing.T, e *Engine, c Config) *txnLog {
	return &txnLog{createLog(t, e, c), t, map[int64]int32{}}
}

// data appends one record of a producer's transaction.
func (l *txnLog) data(pid int64, epoch int16) AppendInfo {
	l.t.Helper()
	guard, _ := l.BeginVerification(pid, epoch, l.next[pid])
	info, err := l.AppendVerified(batchSpec{pid: pid, epoch: epoch, seq: l.next[pid], txn: true, ts: 1}.build(l.t), 0, guard)
	if err != nil {
		l.t.Fatal(err)
	}
	l.next[pid]++
	return info
}

// mark appends a marker.
func (l *txnLog) mark(pid int64, epoch int16, commit bool, version int16) error {
	_, err := l.AppendMarker(record.AppendEndMarker(nil, pid, epoch, record.EndMarker{Commit: commit, CoordinatorEpoch: 1}, 1), 0, version)
	return err
}

func (l *txnLog) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func TestFirstUnstable(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	defer closeEngine(t, e)
	l := newTxnLog(t, e, DefaultConfig())
	expect := func(hw, want int64) {
		t.Helper()
		if got := l.FirstUnstable(hw); got != want {
			t.Errorf("with high watermark %d the first unstable offset is %d, want %d", hw, got, want)
		}
	}
	expect(0, math.MaxInt64)
	l.data(7, 0) // 0
	l.data(8, 0) // 1
	l.data(7, 0) // 2
	expect(3, 0)
	l.must(l.mark(7, 0, true, 0)) // 3
	expect(3, 0)                  // its marker isn't committed
	expect(4, 1)
	l.must(l.mark(8, 0, false, 0)) // 4
	expect(4, 1)
	expect(5, math.MaxInt64)
	l.must(l.mark(8, 0, false, 0)) // nothing is open
	expect(5, math.MaxInt64)
}

func TestAborted(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	defer closeEngine(t, e)
	cfg := DefaultConfig()
	cfg.SegmentBytes = 400 // a few batches each
	l := newTxnLog(t, e, cfg)
	first := l.data(1, 0).BaseOffset
	for range 5 {
		l.data(2, 0)
		l.must(l.mark(2, 0, false, 0))
		l.data(3, 0)
		l.must(l.mark(3, 0, true, 0))
	}
	l.must(l.mark(1, 0, false, 0))
	if n := l.Segments(); n < 4 {
		t.Fatalf("%d segments", n)
	}
	list, err := l.Aborted(0, l.End())
	if err != nil || len(list) != 6 || list[0] != (AbortedTxn{1, first, l.End() - 1}) {
		t.Errorf("aborted %v, %v", list, err)
	}
	// A reader of one batch hears of what reaches into it, even from the last segment.
	if list, err = l.Aborted(3, 4); err != nil || len(list) != 1 || list[0].ProducerID != 1 {
		t.Errorf("aborted at 3: %v, %v", list, err)
	}
	checkTransactions(t, l.Log, readBatches(t, l.Log, 0, 1<<20), nil)
	if err := l.SetStart(3); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Aborted(2, 9); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Errorf("below the start: %v", err)
	}
}

// TestTransactionIndexIsKafkas writes down the bytes of an entry.
func TestTransactionIndexIsKafkas(t *testing.T) {
	b := encodeAborted(abortedEntry{AbortedTxn{ProducerID: 1, FirstOffset: 2, LastOffset: 3}, 4})
	want := "0000" + "0000000000000001" + "0000000000000002" + "0000000000000003" + "0000000000000004"
	if got := fmt.Sprintf("%x", b); got != want {
		t.Errorf("entry %s, want %s", got, want)
	}
	if _, ok := decodeAborted(append([]byte{0, 1}, b[2:]...)); ok {
		t.Error("another version is accepted")
	}
}

// TestVerification plays what KIP-890 guards against: confirmations that come too late, or not at all.
func TestVerification(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	defer closeEngine(t, e)
	l := newTxnLog(t, e, DefaultConfig())
	batch := func(epoch int16, seq int32) []byte {
		return batchSpec{pid: 7, epoch: epoch, seq: seq, txn: true}.build(t)
	}
	refused := func(want error, b []byte, guard Guard) {
		t.Helper()
		if _, err := l.AppendVerified(b, 0, guard); !errors.Is(err, want) {
			t.Errorf("appended with guard %d: %v, want %v", guard, err, want)
		}
	}
	refused(ErrInvalidTxnState, batch(0, 0), NoGuard)
	first, needed := l.BeginVerification(7, 0, 0)
	if !needed {
		t.Error("the first batch needs no confirmation")
	}
	refused(ErrInvalidTxnState, batch(0, 0), first+1)
	// A marker of the transaction comes before the confirmed batch does: the confirmation is not good any more.
	l.must(l.mark(7, 0, false, 0))
	refused(ErrInvalidTxnState, batch(0, 0), first)
	second, _ := l.BeginVerification(7, 0, 0)
	// What comes after the first sequence number cannot come first.
	third, _ := l.BeginVerification(7, 0, 1)
	// The marker of version 2 has the epoch of the next transaction, and leaves its attempts alone.
	if other, _ := l.BeginVerification(8, 1, 0); l.mark(8, 1, true, 2) != nil {
		t.Error("no marker")
	} else if _, err := l.AppendVerified(batchSpec{pid: 8, epoch: 1, txn: true}.build(t), 0, other); err != nil {
		t.Error(err)
	}
	if second != third {
		t.Error("two batches of one transaction have different guards")
	}
	refused(ErrOutOfOrderSequence, batch(0, 1), third)
	if _, err := l.AppendVerified(batch(0, 0), 0, second); err != nil {
		t.Error(err)
	}
	// The transaction is open: no more confirmations, and nothing outside of it.
	if _, needed := l.BeginVerification(7, 0, 1); needed {
		t.Error("the open transaction needs a confirmation")
	}
	refused(nil, batch(0, 1), NoGuard)
	if _, err := l.Append(batchSpec{pid: 7, seq: 2}.build(t), 0, OriginClient); !errors.Is(err, ErrInvalidTxnState) {
		t.Errorf("a batch outside of the open transaction: %v", err)
	}
	// A duplicate is answered, whatever its transaction came to.
	l.must(l.mark(7, 0, true, 0))
	if info, err := l.Append(batch(0, 1), 0, OriginClient); err != nil || !info.Duplicate {
		t.Errorf("a batch sent again: %+v %v", info, err)
	}
	l.ExpireProducers(time.Now().Add(48*time.Hour), 24*time.Hour)
	if len(l.verifications) != 0 {
		t.Error("attempts are never forgotten")
	}
}

func TestMarkers(t *testing.T) {
	e := openEngine(t, vfs.NewMem())
	defer closeEngine(t, e)
	l := newTxnLog(t, e, DefaultConfig())
	l.data(7, 3)
	if err := l.mark(7, 2, true, 0); !errors.Is(err, ErrInvalidProducerEpoch) {
		t.Errorf("a marker of an older epoch: %v", err)
	}
	// In version 2 each transaction has its epoch, and the marker the next one.
	if err := l.mark(7, 3, true, 2); !errors.Is(err, ErrInvalidProducerEpoch) {
		t.Errorf("a late marker of the transaction before: %v", err)
	}
	l.must(l.mark(7, 4, true, 2))
	l.must(l.mark(7, 4, true, 2)) // once more, nothing is open
	if info, err := l.Append(batchSpec{pid: 7, epoch: 3, seq: 1, txn: true}.build(t), 0, OriginClient); !errors.Is(err, ErrInvalidTxnState) {
		t.Errorf("a record of the transaction before: %+v %v", info, err)
	}
	if _, err := l.AppendMarker(record.AppendEndMarker(nil, 7, 5, record.EndMarker{CoordinatorEpoch: 0}, 1), 0, 2); !errors.Is(err, ErrCoordinatorFenced) {
		t.Errorf("a marker of an older coordinator: %v", err)
	}
	l.next[7] = 0
	l.data(7, 4)
	for _, p := range l.Producers() {
		if p.CoordinatorEpoch != 1 || p.CurrentTxnFirstOffset != 3 || p.ProducerEpoch != 4 {
			t.Errorf("producer %+v", p)
		}
	}
	// A producer with an open transaction is not forgotten.
	if n := l.ExpireProducers(time.Now().Add(48*time.Hour), 24*time.Hour); n != 0 || len(l.Producers()) != 1 {
		t.Errorf("%d producers are forgotten", n)
	}
	l.must(l.mark(7, 5, false, 2))
	if n := l.ExpireProducers(time.Now().Add(48*time.Hour), 24*time.Hour); n != 1 {
		t.Errorf("%d producers are forgotten", n)
	}
}

// TestManyOpenTransactions fills the table of producers with open transactions, which must not go.
func TestManyOpenTransactions(t *testing.T) {
	e := openEngine(t, vfs.NewMem(), func(o *Options) { o.MaxProducersPerLog = 5 })
	defer closeEngine(t, e)
	l := newTxnLog(t, e, DefaultConfig())
	for pid := range int64(8) {
		l.data(pid+1, 0)
	}
	if n := len(l.Producers()); n != 8 {
		t.Errorf("%d producers are left", n)
	}
	for pid := range int64(8) {
		l.must(l.mark(pid+1, 0, false, 0))
	}
	appendOne(t, l.Log, batchSpec{pid: 100})
	if n := len(l.Producers()); n != 5 {
		t.Errorf("%d producers are left", n)
	}
	checkTransactions(t, l.Log, readBatches(t, l.Log, 0, 1<<20), nil)
}

// TestAppendsOfSeveralTransactions is what a coordinator does: batches and markers of several producers in one append.
func TestAppendsOfSeveralTransactions(t *testing.T) {
	for _, follower := range []bool{false, true} {
		e := openEngine(t, vfs.NewMem())
		l := newTxnLog(t, e, DefaultConfig())
		l.data(1, 0)
		var b []byte
		marker := func(pid int64, commit bool) {
			b = append(b, record.AppendEndMarker(nil, pid, 0, record.EndMarker{Commit: commit}, 1)...)
		}
		data := func(pid int64) { b = append(b, batchSpec{pid: pid, txn: true}.build(t)...) }
		data(2)
		data(3)
		marker(2, false)
		marker(1, false)
		data(4)
		marker(3, true)
		data(2)
		marker(2, false)
		offset := l.End()
		for rest := b; len(rest) > 0; offset++ {
			batch, tail, err := record.Next(rest)
			if err != nil {
				t.Fatal(err)
			}
			batch.SetBaseOffset(offset) // what a leader has done, and does otherwise
			batch.SetPartitionLeaderEpoch(0)
			rest = tail
		}
		var err error
		if follower {
			err = l.AppendFollower(b)
		} else {
			_, err = l.Append(b, 0, OriginCoordinator)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := l.FirstOpen(); got != 5 {
			t.Errorf("the first open transaction begins at %d, want 5", got)
		}
		list, err := l.Aborted(0, l.End())
		if err != nil || len(list) != 3 || list[0].ProducerID != 1 || list[1].FirstOffset != 1 || list[2].FirstOffset != 7 {
			t.Errorf("aborted %v, %v", list, err)
		}
		checkTransactions(t, l.Log, readBatches(t, l.Log, 0, 1<<20), nil)
		closeEngine(t, e)
	}
}

// TestTransactionIndexRepair damages the index of aborted transactions, and takes it away from a log that another program wrote.
func TestTransactionIndexRepair(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	cfg := DefaultConfig()
	cfg.SegmentBytes = 1200
	l := newTxnLog(t, e, cfg)
	for i := range int64(30) {
		l.data(1+i%3, 0)
		if i%3 == 2 {
			l.must(l.mark(1, 0, i%2 == 0, 0))
			l.must(l.mark(2, 0, i%2 == 1, 0))
			l.must(l.mark(3, 0, false, 0))
		}
	}
	want, err := l.Aborted(0, l.End())
	if err != nil || len(want) < 12 {
		t.Fatal(want, err)
	}
	closeEngine(t, e)
	var index string
	for _, s := range l.segments() {
		if s.aborted.has() && index == "" {
			index = s.aborted.file.path
		}
	}
	f, err := mem.OpenFile(index, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff}, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, mem)
	defer closeEngine(t, e)
	again := foundLog(t, e)
	got, err := again.Aborted(0, again.End())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("after the damage: %v, %v\nwant %v", got, err, want)
	}
	checkTransactions(t, again, readBatches(t, again, 0, 1<<20), nil)
}

// TestPowerCutWhileTruncating cuts the power at every step of a truncation. If the log comes back as it was, so must the index of what
// was aborted in it.
func TestPowerCutWhileTruncating(t *testing.T) {
	mem := vfs.NewMem()
	var (
		mu      sync.Mutex // the flusher's goroutine comes to the hook as well
		cutting bool
		clones  []*vfs.MemFS
	)
	faulty := vfs.NewFaultyWith(mem, vfs.FaultyOptions{Hook: func(vfs.Call) {
		mu.Lock()
		defer mu.Unlock()
		for dice := uint64(0); cutting && dice < 40; dice++ {
			clones = append(clones, mem.CrashClone(dice))
		}
	}})
	e := openEngine(t, faulty)
	cfg := DefaultConfig()
	cfg.SegmentBytes = 700
	l := newTxnLog(t, e, cfg)
	for range 12 {
		l.data(1, 0)
		l.must(l.mark(1, 0, false, 0))
		l.data(2, 0)
		l.must(l.mark(2, 0, true, 0))
		flush(t, l.Log) // segments begin with a snapshot
	}
	flush(t, l.Log)
	all := readBatches(t, l.Log, 0, 1<<20)
	cut := func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		cutting = on
	}
	cut(true)
	l.must(l.TruncateTo(3))
	cut(false)
	abandon(e)
	if len(clones) < 200 {
		t.Fatalf("only %d power cuts", len(clones))
	}
	for n, fsys := range clones {
		e := openEngine(t, fsys)
		again := foundLog(t, e)
		checkTransactions(t, again, readBatches(t, again, 0, 1<<20), all)
		closeEngine(t, e)
		if t.Failed() {
			t.Fatalf("power cut %d of %d", n, len(clones))
		}
	}
}

// TestAbortOnFullDisk lets the marker of an aborted transaction fail: nothing may be left of it.
func TestAbortOnFullDisk(t *testing.T) {
	for _, suffix := range []string{logSuffix, txnSuffix} {
		faulty := vfs.NewFaulty(vfs.NewMem())
		e := openEngine(t, faulty)
		l := newTxnLog(t, e, DefaultConfig())
		l.data(1, 0)
		l.data(2, 0)
		l.must(l.mark(2, 0, false, 0)) // the index exists
		remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpWrite}, Path: "*" + suffix, Err: syscall.ENOSPC})
		if err := l.mark(1, 0, false, 0); !errors.Is(err, ErrNoSpace) {
			t.Errorf("%s: %v", suffix, err)
		}
		remove()
		if list, err := l.Aborted(0, l.End()); err != nil || len(list) != 1 {
			t.Errorf("%s: aborted %v, %v", suffix, list, err)
		}
		l.must(l.mark(1, 0, true, 0))
		flush(t, l.Log)
		if list, err := l.Aborted(0, l.End()); err != nil || len(list) != 1 {
			t.Errorf("%s: aborted %v, %v", suffix, list, err)
		}
		checkTransactions(t, l.Log, readBatches(t, l.Log, 0, 1<<20), nil)
		closeEngine(t, e)
	}
}
