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

// groupSettings let members be missed soon. Those of the consumer protocol do not choose that themselves.
var groupSettings = []string{
	"--set", "group.min.session.timeout.ms=1000",
	"--set", "group.consumer.min.heartbeat.interval.ms=200", "--set", "group.consumer.heartbeat.interval.ms=200",
	"--set", "group.consumer.min.session.timeout.ms=1000", "--set", "group.consumer.session.timeout.ms=2000",
}

// TestGroups has members of a group come, leave, go silent and come back with the same instance id, while the broker is killed:
// under the classic protocol, eager and cooperative, and under the consumer protocol.
func TestGroups(t *testing.T) {
	bin := peers.BuildMoldau(t)
	t.Run("eager", func(t *testing.T) { runGroup(t, bin, kgo.RangeBalancer()) })
	t.Run("cooperative", func(t *testing.T) { runGroup(t, bin, kgo.CooperativeStickyBalancer()) })
	t.Run("consumer", func(t *testing.T) { runGroup(t, bin, nil) })
}

// runGroup runs the workload with the assignor of the members, or with the broker's own where there is none.
func runGroup(t *testing.T, bin string, balancer kgo.GroupBalancer) {
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 6))
	p := newProcess(t, bin)
	p.start(groupSettings...)
	cl := copyClient(t, kgo.SeedBrokers(p.addr()), kgo.DefaultProduceTopic(groupTopic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), groupPartitions, 1, nil, groupTopic); err != nil {
		t.Fatal(err)
	}
	w := &groupWorkload{t: t, addr: p.addr(), balancer: balancer, marks: map[string][]check.Watermark{}, instances: map[string]string{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range groupSlots {
		r := rand.New(rand.NewPCG(seed, uint64(200+i)))
		wg.Go(func() { w.slot(ctx, r, i) })
	}
	kills, written := 0, 0
	next := time.Now().Add(time.Second)
	for began := time.Now(); time.Since(began) < groupSeconds*time.Second || !w.enough() && time.Since(began) < time.Minute; written++ {
		cl.Produce(t.Context(), kgo.StringRecord(strconv.Itoa(written)), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Millisecond)
		if now := time.Now(); now.After(next) {
			p.kill()
			p.start(groupSettings...)
			kills++
			next = now.Add(time.Duration(1000+rng.IntN(2000)) * time.Millisecond)
		}
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.settle()
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

	mu        sync.Mutex
	events    []check.GroupEvent
	instances map[string]string
	marks     map[string][]check.Watermark
	early     int // events before the changes ended
}

// enough tells whether so much has happened that the test proves something: a slow machine takes its time for it.
func (w *groupWorkload) enough() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := kinds(w.events)
	return w.members.Load() >= 10 && seen[check.Assigned] >= 10 && seen[check.Delivered] >= 100 && seen[check.CommittedOffset] >= 20
}

// settle ends the changes.
func (w *groupWorkload) settle() {
	w.mu.Lock()
	w.early = len(w.events)
	w.mu.Unlock()
	w.settled.Store(true)
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
		name := fmt.Sprintf("member-%d", n)
		var opts []kgo.Opt
		if n%3 == 0 {
			instance := fmt.Sprintf("slot-%d", slot)
			opts = append(opts, kgo.InstanceID(instance))
			w.mu.Lock()
			w.instances[name] = instance
			w.mu.Unlock()
		}
		life, cancel := ctx, context.CancelFunc(func() {})
		if !w.settled.Load() {
			life, cancel = context.WithTimeout(ctx, time.Duration(500+rng.IntN(4000))*time.Millisecond)
		}
		w.member(life, ctx, rng, name, opts...)
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
	if opts = append(opts, kgo.ServerSideBalancer()); w.balancer != nil {
		opts[len(opts)-1] = kgo.Balancers(w.balancer)
	}
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(w.addr), kgo.ConsumerGroup(groupID), kgo.ConsumeTopics(groupTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.BlockRebalanceOnPoll(), kgo.DisableAutoCommit(), kgo.OnPartitionsAssigned(assigned),
		kgo.SessionTimeout(2 * time.Second), kgo.HeartbeatInterval(200 * time.Millisecond),
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
	h := check.GroupHistory{Events: w.events, Instances: w.instances, Ends: map[int32]int64{}}
	ends.Each(func(o kadm.ListedOffset) { h.Ends[o.Partition] = o.Offset })
	for _, v := range check.CheckGroup(h) {
		w.t.Error(v)
	}
	for name, marks := range w.marks {
		for _, v := range check.WatermarkFell(marks) {
			w.t.Errorf("%s: %v", name, v)
		}
	}
	all, early := kinds(w.events), kinds(w.events[:w.early])
	again := all[check.Delivered] - written
	w.t.Logf("%d records, %d kills of the broker, %d members, %d assignments, %d deliveries, %d of them again, %d commits; %d, %d and %d before the changes ended",
		written, kills, w.members.Load(), all[check.Assigned], all[check.Delivered], again, all[check.CommittedOffset],
		early[check.Assigned], early[check.Delivered], early[check.CommittedOffset])
	if kills < 2 || written < 1000 || w.members.Load() < 10 || early[check.Assigned] < 10 || early[check.Delivered] < 100 || early[check.CommittedOffset] < 20 {
		w.t.Error("too little happened: the test proved nothing")
	}
}

func kinds(events []check.GroupEvent) map[check.GroupEventKind]int {
	count := map[check.GroupEventKind]int{}
	for _, e := range events {
		count[e.Kind]++
	}
	return count
}
