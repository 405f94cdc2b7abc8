//go:build system

package system

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/check"
	"moldau/test/peers"
)

const (
	compactedTopic = "compacted"
	compactedKeys  = 200
)

// TestCompacted writes values and tombstones to few keys of a log that is compacted all the time, while the broker is killed: also
// between the steps in which new segments take the place of old ones. The last value of each key stays, and what was deleted stays
// away. KILLS and SEED are as in TestKill9.
func TestCompacted(t *testing.T) {
	kills := int(number(t, "KILLS", 20))
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 4))
	p := newProcess(t, peers.BuildMoldau(t))
	always := []string{"--set", "log.cleaner.backoff.ms=1"}
	p.start(always...)
	createCompacted(t, p.addr())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writes []check.KeyWrite
	var wg sync.WaitGroup
	wg.Go(func() { writes = writeKeys(ctx, t, p.addr(), rand.New(rand.NewPCG(seed, 5))) })
	for range kills {
		time.Sleep(time.Duration(200+rng.IntN(600)) * time.Millisecond)
		p.kill()
		p.start(always...)
	}
	cancel()
	wg.Wait()
	h := check.CompactedHistory{Writes: writes, Reads: readKeys(t, p.addr())}
	for _, v := range check.CheckCompacted(h) {
		t.Error(v)
	}
	acked := 0
	for _, w := range writes {
		if w.Acked {
			acked++
		}
	}
	t.Logf("%d kills, %d acknowledged, %d left", kills, acked, len(h.Reads))
	if acked < 1000 || len(h.Reads) > acked*3/4 {
		t.Errorf("of %d records %d are left: the test proved nothing", acked, len(h.Reads))
	}
}

func createCompacted(t *testing.T, addr string) {
	t.Helper()
	cl := copyClient(t, kgo.SeedBrokers(addr))
	defer cl.Close()
	config := map[string]*string{}
	for k, v := range map[string]string{
		"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.0001", "delete.retention.ms": "0",
	} {
		config[k] = &v
	}
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, config, compactedTopic); err != nil {
		t.Fatal(err)
	}
}

// writeKeys writes until ctx ends and returns what it wrote, each record with its answer.
func writeKeys(ctx context.Context, t *testing.T, addr string, rng *rand.Rand) []check.KeyWrite {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(compactedTopic), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer cl.Close()
	padding := strings.Repeat("x", 8<<10)
	var writes []*check.KeyWrite
	for i := 0; ctx.Err() == nil; i++ {
		w := &check.KeyWrite{Key: fmt.Sprint("key", rng.IntN(compactedKeys))}
		r := &kgo.Record{Key: []byte(w.Key)}
		if rng.IntN(4) > 0 {
			w.Value = fmt.Sprint(i)
			r.Value = []byte(w.Value + padding)
		}
		writes = append(writes, w)
		cl.Produce(context.Background(), r, func(r *kgo.Record, err error) { // one after the other, by the client
			w.Acked, w.Offset = err == nil, r.Offset
		})
		if i%20 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	flush, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := cl.Flush(flush); err != nil {
		t.Errorf("after the last start writes did not finish: %v", err)
	}
	out := make([]check.KeyWrite, len(writes))
	for i, w := range writes {
		out[i] = *w
	}
	return out
}

// readKeys reads the topic up to a record that it writes itself, as the last ones may be compacted away.
func readKeys(t *testing.T, addr string) []check.KeyRead {
	t.Helper()
	cl := copyClient(t, kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(compactedTopic), kgo.ConsumeTopics(compactedTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer cl.Close()
	end, err := cl.ProduceSync(t.Context(), kgo.KeySliceRecord([]byte("end"), []byte("end"))).First()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out []check.KeyRead
	for {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			if r.Offset >= end.Offset {
				return out
			}
			out = append(out, check.KeyRead{Key: string(r.Key), Value: strings.TrimRight(string(r.Value), "x"), Offset: r.Offset})
		}
	}
}
