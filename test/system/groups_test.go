//go:build system

package system

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/test/check"
	"moldau/test/peers"
)

const (
	groupTopic      = "grouped"
	groupID         = "readers"
	groupPartitions = 6
	groupSeconds    = 10
	groupSlots      = 4 // members at a time
)

// TestGroups has members of a group come, leave, go silent and come back with the same instance id, while the broker is killed. Eager
// and cooperative.
func TestGroups(t *testing.T) {
	bin := peers.BuildMoldau(t)
	t.Run("eager", func(t *testing.T) { runGroup(t, bin, kgo.RangeBalancer()) })
	t.Run("cooperative", func(t *testing.T) { runGroup(t, bin, kgo.CooperativeStickyBalancer()) })
}

func runGroup(t *testing.T, bin string, balancer kgo.GroupBalancer) {
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 6))
	p := newProcess(t, bin)
	p.start()
	cl := copyClient(t, kgo.SeedBrokers(p.addr()), kgo.DefaultProduceTopic(groupTopic))
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), groupPartitions, 1, nil, groupTopic); err != nil {
		t.Fatal(err)
	}
	w := &groupWorkload{t: t, addr: p.addr(), balancer: balancer, marks: map[string][]check.Watermark{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range groupSlots {
		r := rand.New(rand.NewPCG(seed, uint64(200+i)))
		wg.Go(func() { w.slot(ctx, r, i) })
	}
	kills, written := 0, 0
	for end := time.Now().Add(groupSeconds * time.Second); time.Now().Before(end); written++ {
		cl.Produce(t.Context(), kgo.StringRecord(strconv.Itoa(written)), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		if time.Sleep(time.Millisecond); rng.IntN(2000) == 0 {
			p.kill()
			p.start()
			kills++
		}
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.settled.Store(true)
	w.awaitCommitted(int64(written))
	cancel()
	wg.Wait()
	w.judge(written, kills)
}

// groupWorkload notes what the members of a group do.
type groupWorkload struct {
	t        *testing.T
	addr     string
	balancer kgo.GroupBalancer
	settled  atomic.Bool // members stay, and commit what they got
	members  atomic.Int32

	mu     sync.Mutex
	events []check.GroupEvent
	marks  map[string][]check.Watermark
}

func (w *groupWorkload) note(events ...check.GroupEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, events...)
}

// slot runs one member after the other until ctx ends. Every third one has an instance id, which it does not sign off.
func (w *groupWorkload) slot(ctx context.Context, rng *rand.Rand, slot int) {
	for ctx.Err() == nil {
		n := w.members.Add(1)
		var opts []kgo.Opt
		if n%3 == 0 {
			opts = append(opts, kgo.InstanceID(fmt.Sprintf("slot-%d", slot)))
		}
		life, cancel := ctx, context.CancelFunc(func() {})
		if !w.settled.Load() {
			life, cancel = context.WithTimeout(ctx, time.Duration(500+rng.IntN(4000))*time.Millisecond)
		}
		w.member(life, ctx, rng, fmt.Sprintf("member-%d", n), opts...)
		cancel()
	}
}

// member is in the group until its life ends; after the end of the changes it stays until ctx ends.
func (w *groupWorkload) member(life, ctx context.Context, rng *rand.Rand, name string, opts ...kgo.Opt) {
	assigned := func(_ context.Context, cl *kgo.Client, got map[string][]int32) {
		_, generation := cl.GroupMetadata()
		for _, p := range got[groupTopic] {
			w.note(check.GroupEvent{Kind: check.Assigned, Member: name, Generation: generation, Partition: p})
		}
	}
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(w.addr), kgo.ConsumerGroup(groupID), kgo.ConsumeTopics(groupTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(w.balancer), kgo.BlockRebalanceOnPoll(), kgo.DisableAutoCommit(), kgo.OnPartitionsAssigned(assigned),
		kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(200 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer cl.CloseAllowingRebalance()
	for ctx.Err() == nil && (life.Err() == nil || w.settled.Load()) {
		poll, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		fetches := cl.PollRecords(poll, 100)
		cancel()
		w.deliver(cl, name, fetches)
		if w.settled.Load() || rng.IntN(3) > 0 {
			w.commit(ctx, cl, name)
		}
		cl.AllowRebalance()
	}
}

func (w *groupWorkload) deliver(cl *kgo.Client, name string, fetches kgo.Fetches) {
	_, generation := cl.GroupMetadata()
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Err != nil || len(p.Records) == 0 {
			return
		}
		for _, r := range p.Records {
			w.note(check.GroupEvent{Kind: check.Delivered, Member: name, Generation: generation, Partition: r.Partition, Offset: r.Offset})
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.marks[name] = append(w.marks[name], check.Watermark{
			Partition: p.Partition, Epoch: p.Records[0].LeaderEpoch, High: p.HighWatermark, Stable: p.LastStableOffset,
		})
	})
}

func (w *groupWorkload) commit(ctx context.Context, cl *kgo.Client, name string) {
	offsets := cl.UncommittedOffsets()
	if len(offsets) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cl.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if err != nil {
			return // whether it counts is not known
		}
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				if p.ErrorCode == 0 {
					at := offsets[groupTopic][p.Partition].Offset
					w.note(check.GroupEvent{Kind: check.CommittedOffset, Member: name, Generation: req.Generation, Partition: p.Partition, Offset: at})
				}
			}
		}
	})
}

// awaitCommitted waits until the group has committed so many records: nobody may be stuck.
func (w *groupWorkload) awaitCommitted(records int64) {
	w.t.Helper()
	began := time.Now()
	for sum := int64(0); sum != records; time.Sleep(50 * time.Millisecond) {
		if sum = committedOf(w.t, w.addr, groupID, groupTopic); time.Since(began) > time.Minute {
			w.t.Fatalf("a minute after the last change %d of %d records are committed", sum, records)
		}
	}
	w.t.Logf("everything was committed %v after the last change", time.Since(began))
}

func (w *groupWorkload) judge(written, kills int) {
	w.t.Helper()
	cl := copyClient(w.t, kgo.SeedBrokers(w.addr))
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(w.t.Context(), groupTopic)
	if err != nil {
		w.t.Fatal(err)
	}
	h := check.GroupHistory{Events: w.events, Ends: map[int32]int64{}}
	ends.Each(func(o kadm.ListedOffset) { h.Ends[o.Partition] = o.Offset })
	for _, v := range check.CheckGroup(h) {
		w.t.Error(v)
	}
	for name, marks := range w.marks {
		for _, v := range check.WatermarkFell(marks) {
			w.t.Errorf("%s: %v", name, v)
		}
	}
	count := map[check.GroupEventKind]int{}
	for _, e := range w.events {
		count[e.Kind]++
	}
	w.t.Logf("%d records, %d kills of the broker, %d members, %d assignments, %d deliveries, %d commits",
		written, kills, w.members.Load(), count[check.Assigned], count[check.Delivered], count[check.CommittedOffset])
	if written < 1000 || w.members.Load() < 10 || count[check.CommittedOffset] < 50 {
		w.t.Error("too little happened: the test proved nothing")
	}
}
