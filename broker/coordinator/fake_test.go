package coordinator

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"moldau/broker/record"
)

// fakeLog is a partition in memory whose commits, failures and losses a test decides.
type fakeLog struct {
	mu        sync.Mutex
	t         *testing.T
	bytes     []record.Batch
	end       int64
	committed int64
	manual    bool // appends are committed by commit only
	epoch     int32
	failNext  error // of the next append
	readError error
	readGate  chan struct{} // reads wait for it; nil does not
	lost      bool
	changed   chan struct{}
	appends   int
}

func newFakeLog(t *testing.T) *fakeLog { return &fakeLog{t: t, changed: make(chan struct{})} }

func (l *fakeLog) Bounds() (int64, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 0, l.end
}

func (l *fakeLog) Read(dst []byte, offset int64) ([]byte, error) {
	l.mu.Lock()
	gate := l.readGate
	l.mu.Unlock()
	if gate != nil {
		<-gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readError != nil {
		return dst, l.readError
	}
	for _, b := range l.bytes {
		if b.LastOffset() >= offset {
			return append(dst, b...), nil // one batch at a time
		}
	}
	return dst, nil
}

func (l *fakeLog) Append(b []byte, epoch int32) (Commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appends++
	if err := l.failNext; err != nil {
		l.failNext = nil
		return nil, err
	}
	if l.lost || epoch < l.epoch {
		return nil, fmt.Errorf("append: %w", ErrNotCoordinator)
	}
	for rest := append([]byte(nil), b...); len(rest) > 0; {
		batch, next, err := record.Next(rest)
		if err != nil {
			l.t.Error(err)
			return nil, err
		}
		if batch.CRC() != batch.ComputeCRC() {
			l.t.Error("a batch with a wrong checksum")
		}
		batch.SetBaseOffset(l.end)
		l.end = batch.NextOffset()
		l.bytes = append(l.bytes, batch)
		rest = next
	}
	if !l.manual {
		l.moveTo(l.end)
	}
	return fakeCommit{l, l.end}, nil
}

func (l *fakeLog) moveTo(end int64) {
	l.committed = max(l.committed, end)
	close(l.changed)
	l.changed = make(chan struct{})
}

// commit lets everything appended be committed.
func (l *fakeLog) commit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moveTo(l.end)
}

// lose ends the leadership.
func (l *fakeLog) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
	l.moveTo(0)
}

func (l *fakeLog) CommitOf(end int64) Commit { return fakeCommit{l, end} }

func (l *fakeLog) BatchBytesMax() int { return 1000 }

func (l *fakeLog) batches() []record.Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]record.Batch(nil), l.bytes...)
}

type fakeCommit struct {
	l   *fakeLog
	end int64
}

func (c fakeCommit) Poll() (bool, error, <-chan struct{}) { //nolint:revive // as Commit
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	switch {
	case c.l.committed >= c.end:
		return true, nil, nil
	case c.l.lost:
		return true, ErrNotCoordinator, nil
	}
	return false, nil, c.l.changed
}

// notes is a shard that keeps values by key. "boom" panics.
type notes struct {
	values   map[string]string
	pending  map[int64]map[string]string
	deadline time.Time
	started  int
	stopped  error
	expired  int
	waiting  []*Reply[string]
	onStart  func(error) // what Start has called once everything is committed
}

func (n *notes) Replay(r Record) {
	key := string(r.Key)
	switch {
	case key == "boom":
		panic("a record that cannot be replayed")
	case r.Producer != NoProducer:
		if n.pending[r.Producer.ID] == nil {
			n.pending[r.Producer.ID] = map[string]string{}
		}
		n.pending[r.Producer.ID][key] = string(r.Value)
	case r.Value == nil:
		delete(n.values, key)
	default:
		n.values[key] = string(r.Value)
	}
}

func (n *notes) ReplayMarker(m Marker) {
	if m.Commit {
		for k, v := range n.pending[m.ID] {
			n.values[k] = v
		}
	}
	delete(n.pending, m.ID)
}

func (n *notes) Start(t *Turn) {
	n.started++
	if n.onStart != nil {
		t.After(n.onStart)
	}
}

func (n *notes) NextDeadline() time.Time { return n.deadline }

func (n *notes) Expire(t *Turn) {
	n.expired++
	n.deadline = time.Time{}
	t.Append([]byte("expired"), []byte("yes"))
}

func (n *notes) Stop(err error) {
	n.stopped = err
	for _, w := range n.waiting {
		w.Fail(err)
	}
}

// fixture is a runtime of notes.
type fixture struct {
	*Runtime[*notes]
	t       *testing.T
	onStart func(error) // of all shards made from now on
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t}
	f.Runtime = New(Options[*notes]{
		Kind: "notes",
		NewShard: func(int32) *notes {
			return &notes{values: map[string]string{}, pending: map[int64]map[string]string{}, onStart: f.onStart}
		},
		CommitTimeout: 5 * time.Second, LoadParallel: 2, LoadRetry: time.Second,
		Decompressor: record.NewDecompressor(record.Limits{}), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	return f
}

// put writes a value; the reply comes when it is committed.
func (f *fixture) put(partition int32, key, value string) *Reply[string] {
	return Ask(f.Runtime, partition, func(t *Turn, _ *notes, reply *Reply[string]) {
		t.Append([]byte(key), []byte(value))
		reply.Send(t, "done")
	})
}

// get reads a value.
func (f *fixture) get(partition int32, key string) *Reply[string] {
	return Ask(f.Runtime, partition, func(t *Turn, n *notes, reply *Reply[string]) { reply.Send(t, n.values[key]) })
}

// want expects a settled reply.
func want(t *testing.T, r *Reply[string], value string, err error) {
	t.Helper()
	if !r.Settled() {
		t.Fatalf("no answer, want %q, %v", value, err)
	}
	if v, e := r.Result(); v != value || !errors.Is(e, err) {
		t.Fatalf("answer %q, %v; want %q, %v", v, e, value, err)
	}
}

// waits expects a reply that is not settled.
func waits(t *testing.T, r *Reply[string]) {
	t.Helper()
	if r.Settled() {
		v, err := r.Result()
		t.Fatalf("answered too early: %q, %v", v, err)
	}
}

// pass lets fake time pass.
func pass(d time.Duration) { <-time.After(d) }
