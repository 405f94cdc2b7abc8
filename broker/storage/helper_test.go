package storage

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	testTP       = TopicPartition{"t", 0}
	testID       = TopicID{1, 2, 3}
	testCompress = record.NewCompressor()
)

// batchSpec is a batch to build.
type batchSpec struct {
	n      int    // records; 1 if 0
	ts     int64  // timestamp of the first record; each next one is one later
	value  string // of every record; "v" if empty
	codec  record.Codec
	pid    int64 // 0: not idempotent
	epoch  int16
	seq    int32
	append int64 // LogAppendTime if positive
	txn    bool
}

func (b batchSpec) build(t testing.TB) []byte {
	t.Helper()
	o := record.NewOptions(b.codec)
	if b.pid != 0 {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence = b.pid, b.epoch, b.seq
		o.Transactional = b.txn
	}
	builder := record.NewBuilder(o)
	value := b.value
	if value == "" {
		value = "v"
	}
	for i := range max(b.n, 1) {
		builder.Append(&record.Record{Timestamp: b.ts + int64(i), Key: []byte("k"), Value: []byte(value)})
	}
	batch, err := builder.Build(nil, testCompress)
	if err != nil {
		t.Fatal(err)
	}
	if b.append > 0 {
		batch.SetMaxTimestampAppend(b.append)
	}
	return batch
}

// testLogger passes what the engine logs to the test.
func testLogger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(string(p))
	return len(p), nil
}

// openEngine opens an engine in the directory "/logs" of fsys.
func openEngine(t testing.TB, fsys vfs.FS, change ...func(*Options)) *Engine {
	t.Helper()
	e, err := tryOpen(t, fsys, change...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func tryOpen(t testing.TB, fsys vfs.FS, change ...func(*Options)) (*Engine, error) {
	t.Helper()
	o := Options{FS: fsys, Dirs: []string{"/logs"}, Logger: testLogger(t)}
	for _, c := range change {
		c(&o)
	}
	return Open(context.Background(), o)
}

func closeEngine(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// abandon ends an engine's goroutines as a crash would: nothing is written any more.
func abandon(e *Engine) {
	for _, d := range e.dirs {
		d.goOffline(fmt.Errorf("abandoned by the test"))
		d.stop()
	}
	e.dropAll()
	_ = e.unlock()
}

func createLog(t testing.TB, e *Engine, c Config) *Log {
	t.Helper()
	l, err := e.Create(testTP, testID, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// pass lets time pass inside a bubble of synctest, until everything that it sets off has come to rest.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// foundLog returns the log that the engine found at start.
func foundLog(t testing.TB, e *Engine) *Log {
	t.Helper()
	l, ok := e.Log(testTP)
	if !ok {
		t.Fatal("the log is gone")
	}
	return l
}

func appendOne(t testing.TB, l *Log, b batchSpec) AppendInfo {
	t.Helper()
	info, err := l.Append(b.build(t), 0, OriginClient)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func flush(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// readBatches reads everything from one offset to the end of the log, as a consumer would, and checks that it is whole.
func readBatches(t testing.TB, l *Log, from int64, maxBytes int) []record.Batch {
	t.Helper()
	var out []record.Batch
	for from < l.End() {
		s, err := l.Read(from, l.End(), maxBytes, true)
		if err != nil {
			t.Fatal(err)
		}
		data, err := s.Bytes()
		s.Release()
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			t.Fatalf("nothing at %d, the log ends at %d", from, l.End())
		}
		for len(data) > 0 {
			b, rest, err := record.Next(data)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Verify(); err != nil {
				t.Fatal(err)
			}
			if b.LastOffset() < from {
				t.Fatalf("batch %d to %d comes for %d", b.BaseOffset(), b.LastOffset(), from)
			}
			out, data, from = append(out, b), rest, b.NextOffset()
		}
	}
	return out
}
