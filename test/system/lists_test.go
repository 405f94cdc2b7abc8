//go:build system

package system

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	listTopic      = "lists"
	listPartitions = 4
	listWriters    = 4
	listSeconds    = 10
)

// TestLists appends to the lists of four partitions in transactions, of which a fifth are aborted, and reads them, while the broker
// is killed and producers of the same transactional id fence each other.
func TestLists(t *testing.T) {
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	p := newProcess(t, peers.BuildMoldau(t))
	p.start()
	cl := copyClient(t, kgo.SeedBrokers(p.addr()))
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), listPartitions, 1, nil, listTopic); err != nil {
		t.Fatal(err)
	}
	w := &listWorkload{addr: p.addr()}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for i := range listWriters {
		r := rand.New(rand.NewPCG(seed, uint64(100+i)))
		wg.Go(func() { w.write(ctx, r, fmt.Sprintf("lists-%d", i)) })
	}
	kills := 0
	for end := time.Now().Add(listSeconds * time.Second); time.Now().Before(end); kills++ {
		time.Sleep(time.Duration(500+rng.IntN(1000)) * time.Millisecond)
		p.kill()
		p.start()
	}
	w.zombies(t)
	cancel()
	wg.Wait()
	drain, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	awaitNothingOpen(drain, t, kadm.NewClient(cl), listTopic)
	final, err := readLists(t.Context(), p.addr())
	if err != nil {
		t.Fatal(err)
	}
	h := check.TxnHistory{Txns: w.txns, Final: final}
	for _, v := range check.CheckTxns(h) {
		t.Error(v)
	}
	count := map[check.Outcome]int{}
	fenced, reads := 0, 0
	for _, x := range h.Txns {
		count[x.Outcome]++
		if x.Fenced {
			fenced++
		}
		reads += len(x.Reads)
	}
	t.Logf("%d kills, %d transactions committed, %d aborted, %d of unknown end, %d of fenced producers, %d lists read",
		kills, count[check.Committed], count[check.Aborted], count[check.Unknown], fenced, reads)
	if count[check.Committed] < 20 || count[check.Aborted] < 3 || fenced < 3 || reads < 10 {
		t.Error("too little happened: the test proved nothing")
	}
}

// listWorkload notes what its writers do.
type listWorkload struct {
	addr    string
	element atomic.Int64
	clock   atomic.Int64
	mu      sync.Mutex
	txns    []check.Txn
}

// note adds a transaction to the history.
func (w *listWorkload) note(x check.Txn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.ID = len(w.txns) + 1
	w.txns = append(w.txns, x)
}

// write runs transactions until ctx ends. A client that fails is replaced, as its owner's process would be.
func (w *listWorkload) write(ctx context.Context, rng *rand.Rand, id string) {
	for ctx.Err() == nil {
		cl, err := listClient(w.addr, id)
		for err == nil && ctx.Err() == nil {
			err = w.transact(ctx, rng, cl)
		}
		if cl != nil {
			cl.Close()
		}
	}
}

func listClient(addr, id string) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(addr), kgo.TransactionalID(id), kgo.TransactionTimeout(5*time.Second),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
}

// transact appends to some partitions in one transaction and, one time in four, reads the lists before.
func (w *listWorkload) transact(ctx context.Context, rng *rand.Rand, cl *kgo.Client) error {
	var x check.Txn
	if rng.IntN(4) == 0 {
		x.Reads, _ = readLists(ctx, w.addr) // nothing while the broker is away: reading is no part of the transaction
	}
	x.Begin = w.clock.Add(1)
	if err := cl.BeginTransaction(); err != nil {
		return err
	}
	failed := w.append(ctx, cl, &x, rng.Perm(listPartitions)[:1+rng.IntN(listPartitions)])
	abort := failed != nil || rng.IntN(5) == 0
	err := cl.EndTransaction(ctx, kgo.TransactionEndTry(!abort))
	switch {
	case abort: // nobody asked for a commit
		x.Outcome = check.Aborted
	case err == nil:
		x.Outcome, x.End = check.Committed, w.clock.Add(1)
	}
	w.note(x)
	return errors.Join(failed, err)
}

// append appends one or two elements to each of the partitions.
func (w *listWorkload) append(ctx context.Context, cl *kgo.Client, x *check.Txn, partitions []int) error {
	var records []*kgo.Record
	for _, p := range append(partitions, partitions[0]) {
		e := int(w.element.Add(1))
		x.Appends = append(x.Appends, check.Item{Partition: int32(p), Element: e})
		records = append(records, &kgo.Record{Topic: listTopic, Partition: int32(p), Value: []byte(strconv.Itoa(e))})
	}
	return cl.ProduceSync(ctx, records...).FirstErr()
}

// zombies has producers go on after another one of their transactional id has begun: with the commit, and with appends.
func (w *listWorkload) zombies(t *testing.T) {
	t.Helper()
	for i := range 4 {
		id := fmt.Sprintf("zombie-%d", i)
		old, err := listClient(w.addr, id)
		if err != nil {
			t.Fatal(err)
		}
		x := check.Txn{Fenced: true, Begin: w.clock.Add(1)}
		if err := errors.Join(old.BeginTransaction(), w.append(t.Context(), old, &x, []int{0, 1})); err != nil {
			t.Fatal(err)
		}
		young, err := listClient(w.addr, id)
		if err != nil {
			t.Fatal(err)
		}
		next := check.Txn{Outcome: check.Committed, Begin: w.clock.Add(1)}
		if err := errors.Join(young.BeginTransaction(), w.append(t.Context(), young, &next, []int{1, 2}), young.EndTransaction(t.Context(), kgo.TryCommit)); err != nil {
			t.Fatalf("the producer that took over: %v", err)
		}
		next.End = w.clock.Add(1)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var late error
		if i%2 == 0 {
			late = w.append(ctx, old, &x, []int{2, 3})
		}
		if late == nil && old.EndTransaction(ctx, kgo.TryCommit) == nil {
			x.Outcome = check.Committed
		}
		cancel()
		w.note(x)
		w.note(next)
		old.Close()
		young.Close()
	}
}

// readLists reads what is committed in all partitions, up to where it was stable when it began.
func readLists(ctx context.Context, addr string) (map[int32][]int, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumeTopics(listTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ends, err := kadm.NewClient(cl).ListCommittedOffsets(ctx, listTopic)
	if err = errors.Join(err, ends.Error()); err != nil {
		return nil, err
	}
	out, left := map[int32][]int{}, map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		for _, r := range fetches.Records() {
			end, ok := left[r.Partition]
			if !ok || r.Offset >= end {
				delete(left, r.Partition)
				continue
			}
			if r.Offset == end-1 {
				delete(left, r.Partition)
			}
			if r.Attrs.IsControl() {
				continue
			}
			e, err := strconv.Atoi(string(r.Value))
			if err != nil {
				return nil, err
			}
			out[r.Partition] = append(out[r.Partition], e)
		}
	}
	return out, nil
}
