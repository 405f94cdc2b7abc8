//go:build system

package system

import (
	"context"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/check"
	"moldau/test/peers"
)

const (
	topic      = "kill9"
	partitions = 6
	producers  = 4
)

// TestKill9 kills the broker again and again under idempotent producers: what
// was acknowledged is there once, in order, at the offset that was promised.
// KILLS sets the number of cycles, SEED repeats the pauses between them.
func TestKill9(t *testing.T) {
	kills := int(number(t, "KILLS", 20))
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	p := newProcess(t, peers.BuildMoldau(t))
	p.start()
	createTopic(t, p.addr())

	w := startWriters(t, p.addr())
	var downs []time.Duration
	for range kills {
		time.Sleep(200*time.Millisecond + time.Duration(rng.Int64N(int64(800*time.Millisecond))))
		p.kill()
		downs = append(downs, p.start())
	}
	h := check.History{Writes: w.stop()}
	h.Passes = [][]check.Read{readAll(t, p.addr()), readAll(t, p.addr())}
	for _, v := range check.Check(h) {
		t.Error(v)
	}
	acked := 0
	for _, x := range h.Writes {
		if x.Acked {
			acked++
		}
	}
	if acked < 1000 {
		t.Errorf("only %d records were acknowledged: the test proved nothing", acked)
	}
	sort.Slice(downs, func(i, j int) bool { return downs[i] < downs[j] })
	t.Logf("%d kills, %d acknowledged, %d read, restart p50 %v, max %v", kills, acked, len(h.Passes[1]), downs[len(downs)/2], downs[len(downs)-1])
}

// number reads a positive number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n == 0 {
		t.Fatalf("%s=%q is no positive number", name, v)
	}
	return n
}

func createTopic(t *testing.T, addr string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), partitions, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

// writers are idempotent producers that write until stopped.
type writers struct {
	t       *testing.T
	client  *kgo.Client
	halt    atomic.Bool
	wg      sync.WaitGroup
	mu      sync.Mutex
	history []check.Write
}

func startWriters(t *testing.T, addr string) *writers {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(2*time.Millisecond), kgo.MaxBufferedRecords(20_000))
	if err != nil {
		t.Fatal(err)
	}
	w := &writers{t: t, client: cl}
	for producer := range producers {
		w.wg.Add(1)
		go w.write(producer)
	}
	return w
}

func (w *writers) write(producer int) {
	defer w.wg.Done()
	next := make([]int, partitions)
	for i := 0; !w.halt.Load(); i++ {
		partition := (producer + i) % partitions
		x := check.Write{Producer: producer, Partition: int32(partition), Sequence: next[partition]}
		next[partition]++
		w.client.Produce(context.Background(), &kgo.Record{Partition: x.Partition, Value: []byte(x.Value())}, func(r *kgo.Record, err error) {
			x.Acked, x.Offset = err == nil, r.Offset
			w.mu.Lock()
			w.history = append(w.history, x)
			w.mu.Unlock()
		})
		if i%50 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// stop ends the writers, waits until every record has its answer and returns
// the history.
func (w *writers) stop() []check.Write {
	w.t.Helper()
	w.halt.Store(true)
	w.wg.Wait()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.client.Flush(ctx); err != nil {
		w.t.Fatalf("after the last start writes did not finish: %v", err)
	}
	w.client.Close()
	return w.history
}

func readAll(t *testing.T, addr string) []check.Read {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	var left int64
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	var out []check.Read
	for int64(len(out)) < left {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("read %d of %d records: %v", len(out), left, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			out = append(out, check.Read{Partition: r.Partition, Offset: r.Offset, Value: string(r.Value)})
		})
	}
	return out
}
