//go:build system

package system

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"moldau/test/peers"
)

const (
	manyTopic  = "many"
	manyGroups = 10_000
	manyTxns   = 1000
	// The aims on a quiet host are far below these, which hold beside other work: see docs/proofs.md.
	manyReady = 2 * time.Second
	manyRead  = 10 * time.Second
)

// byName keeps to requests that name topics, where later ones have ids.
var byName = kgo.MaxVersions(kversion.V3_0_0())

// relaxed does not flush each of many small writes, and leaves more to recover than the default.
var relaxed = []string{"--set", "durability=relaxed"}

// TestRestartWithManyGroups kills the broker when it has 10,000 groups and 1,000 open transactions. It is ready soon after its
// start, says of each group and transaction that it is being loaded until it knows it, never that there is none, and knows it soon.
func TestRestartWithManyGroups(t *testing.T) {
	p := newProcess(t, peers.BuildMoldau(t))
	p.start(relaxed...)
	cl := copyClient(t, kgo.SeedBrokers(p.addr()), byName)
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, nil, manyTopic); err != nil {
		t.Fatal(err)
	}
	inParallel(t, manyGroups, func(ctx context.Context, i int) error { return commitOne(ctx, cl, i) })
	inParallel(t, manyTxns, func(ctx context.Context, i int) error { return openOne(ctx, cl, i) })
	p.kill()
	began := time.Now()
	ready := p.start(relaxed...)

	b := raw(t, p.addr())
	loading := 0
	for i := range manyGroups {
		loading += await(t, i, b.hasOffset)
		if i < manyTxns {
			loading += await(t, i, b.isOpen)
		}
	}
	read := time.Since(began)
	t.Logf("ready in %v, all of %d groups and %d transactions answered in %v; %d answers were that it is being loaded",
		ready, manyGroups, manyTxns, read, loading)
	if ready > manyReady || read > manyRead {
		t.Errorf("ready in %v, everything answered in %v", ready, read)
	}
}

// inParallel does n things, 64 at a time.
func inParallel(t *testing.T, n int, f func(ctx context.Context, i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(t.Context(), i); err != nil {
					t.Errorf("number %d: %v", i, err)
					return
				}
			}
		})
	}
	if wg.Wait(); t.Failed() {
		t.FailNow()
	}
}

// await asks for number i until it is loaded, and returns how often it was not.
func await(t *testing.T, i int, ask func(context.Context, int) error) (loading int) {
	t.Helper()
	for {
		switch err := ask(t.Context(), i); {
		case err == nil:
			return loading
		case !errors.Is(err, kerr.CoordinatorLoadInProgress):
			t.Fatalf("number %d after the restart: %v", i, err)
		}
		loading++
	}
}

func commitOne(ctx context.Context, cl *kgo.Client, i int) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = manyName(i), -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = manyTopic
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset = int64(i)
	topic.Partitions = append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

func openOne(ctx context.Context, cl *kgo.Client, i int) error {
	begin := kmsg.NewPtrInitProducerIDRequest()
	begin.TransactionalID, begin.TransactionTimeoutMillis = kmsg.StringPtr(manyName(i)), 600_000
	producer, err := begin.RequestWith(ctx, cl)
	if err = errors.Join(err, errorOf(producer)); err != nil {
		return err
	}
	add := kmsg.NewPtrAddPartitionsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch = manyName(i), producer.ProducerID, producer.ProducerEpoch
	topic := kmsg.NewAddPartitionsToTxnRequestTopic()
	topic.Topic, topic.Partitions = manyTopic, []int32{0}
	add.Topics = append(add.Topics, topic)
	added, err := add.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(added.Topics[0].Partitions[0].ErrorCode)
}

func errorOf(r *kmsg.InitProducerIDResponse) error {
	if r == nil {
		return nil
	}
	return kerr.ErrorForCode(r.ErrorCode)
}

func manyName(i int) string { return fmt.Sprint("many-", i) }

// rawBroker asks one broker without the retries of a client, which would hide what is answered.
type rawBroker struct{ *kgo.Broker }

func raw(t *testing.T, addr string) rawBroker {
	t.Helper()
	cl := copyClient(t, kgo.SeedBrokers(addr), byName)
	t.Cleanup(cl.Close)
	return rawBroker{cl.SeedBrokers()[0]}
}

func (b rawBroker) isOpen(ctx context.Context, i int) error {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{manyName(i)}
	resp, err := b.Request(ctx, req)
	if err != nil {
		return err
	}
	state := resp.(*kmsg.DescribeTransactionsResponse).TransactionStates[0]
	if err := kerr.ErrorForCode(state.ErrorCode); err != nil {
		return err
	}
	if state.State != "Ongoing" {
		return fmt.Errorf("its state is %s", state.State)
	}
	return nil
}

func (b rawBroker) hasOffset(ctx context.Context, i int) error {
	req := kmsg.NewPtrOffsetFetchRequest()
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = manyName(i)
	topic := kmsg.NewOffsetFetchRequestGroupTopic()
	topic.Topic, topic.Partitions = manyTopic, []int32{0}
	group.Topics = append(group.Topics, topic)
	req.Groups = append(req.Groups, group)
	resp, err := b.Request(ctx, req)
	if err != nil {
		return err
	}
	got := resp.(*kmsg.OffsetFetchResponse).Groups[0]
	if err := kerr.ErrorForCode(got.ErrorCode); err != nil {
		return err
	}
	if at := got.Topics[0].Partitions[0].Offset; at != int64(i) {
		return fmt.Errorf("its offset is %d", at)
	}
	return nil
}
