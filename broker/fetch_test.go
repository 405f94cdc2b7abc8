package broker

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"moldau/broker/controller"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/internal/vfs"
)

// A fetch in the middle of a batch gets the whole batch: clients skip what they have.
func TestFetchInTheMiddleOfABatch(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a", "b", "c"))
	n.mustProduce(topic, 0, plain(t, "d"))
	op := n.Fetch(testCaller, fetchRequest(want(topic, 0, 1)))
	defer op.Release()
	p := &op.Partitions()[0]
	equal(t, "records", values(t, p), []string{"0=a", "1=b", "2=c", "3=d"})
	if p.HighWatermark != 4 || p.LastStableOffset != 4 || p.LogStartOffset != 0 || p.Leader != noLeader || p.Diverging.Epoch != -1 || p.PreferredReadReplica != -1 {
		t.Fatalf("answer %+v", p)
	}
}

// KIP-74: the first batch found is returned whole whatever the limits; later ones only as far as they fit.
func TestFetchLimits(t *testing.T) {
	n := startNode(t, relaxed)
	big := n.topic("big", 2)
	empty := n.topic("empty", 1)
	for partition := range int32(2) {
		for range 3 {
			n.mustProduce(big, partition, plain(t, strings.Repeat("x", 1000)))
		}
	}
	size := len(plain(t, strings.Repeat("x", 1000)))
	lengths := func(change func(*FetchRequest)) []int {
		req := fetchRequest(want(empty, 0, 0), want(big, 0, 0), want(big, 1, 0))
		change(req)
		op := n.Fetch(testCaller, req)
		defer op.Release()
		var out []int
		sum := 0
		for i := range op.Partitions() {
			must(t, op.Partitions()[i].Err)
			out = append(out, op.Partitions()[i].Records.Len()/size)
			sum += op.Partitions()[i].Records.Len()
		}
		if op.Bytes() != sum {
			t.Fatalf("Bytes is %d, the sum %d", op.Bytes(), sum)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		change func(*FetchRequest)
		want   []int
	}{
		{"all fits", func(*FetchRequest) {}, []int{0, 3, 3}},
		{"one byte in all", func(r *FetchRequest) { r.MaxBytes = 1 }, []int{0, 1, 0}},
		{"no bytes at all", func(r *FetchRequest) { r.MaxBytes = 0 }, []int{0, 1, 0}},
		{"the other partition first", func(r *FetchRequest) {
			r.MaxBytes = 1
			r.Partitions[1], r.Partitions[2] = r.Partitions[2], r.Partitions[1]
		}, []int{0, 1, 0}},
		{"one byte a partition", func(r *FetchRequest) { r.Partitions[1].MaxBytes, r.Partitions[2].MaxBytes = 1, 1 }, []int{0, 1, 0}},
		{"two and a half batches a partition", func(r *FetchRequest) {
			r.Partitions[1].MaxBytes, r.Partitions[2].MaxBytes = size*5/2, size*5/2
		}, []int{0, 2, 2}},
		{"four batches in all", func(r *FetchRequest) { r.MaxBytes = 4 * size }, []int{0, 3, 1}},
	} {
		t.Run(c.name, func(t *testing.T) { equal(t, "batches", lengths(c.change), c.want) })
	}
	n.Node.cfg.FetchMaxBytes = size
	equal(t, "batches under fetch.max.bytes", lengths(func(*FetchRequest) {}), []int{0, 1, 0})
}

func TestFetchErrors(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a", "b"))
	image, _ := n.Image().Topic("events")
	epoch := image.Partitions[0].LeaderEpoch
	with := func(change func(*FetchPartition)) FetchPartition {
		p := want(topic, 0, 0)
		change(&p)
		return p
	}
	for _, c := range []struct {
		name string
		part FetchPartition
		want error
		hint LeaderHint
	}{
		{"beyond the end", want(topic, 0, 3), ErrOffsetOutOfRange, noLeader},
		{"below the start", want(topic, 0, -1), ErrOffsetOutOfRange, noLeader},
		{"unknown partition", want(topic, 1, 0), ErrUnknownTopicOrPartition, noLeader},
		{"unknown topic", want(TopicRef{Name: "nowhere"}, 0, 0), ErrUnknownTopicOrPartition, noLeader},
		{"unknown id", want(TopicRef{ID: [16]byte{9}}, 0, 0), ErrUnknownTopicID, noLeader},
		{"newer epoch", with(func(p *FetchPartition) { p.CurrentLeaderEpoch = epoch + 1 }), ErrUnknownLeaderEpoch, noLeader},
		{"at the end", want(topic, 0, 2), nil, noLeader},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := fetchRequest(c.part, want(topic, 0, 0))
			req.MaxWait, req.MinBytes = time.Hour, 1<<20
			op := n.Fetch(testCaller, req)
			defer op.Release()
			if op.Done() != (c.want != nil) {
				t.Fatalf("done: %v", op.Done())
			}
			p := op.Partitions()[0]
			if !errors.Is(p.Err, c.want) || p.Leader != c.hint || c.want != nil && (p.HighWatermark != -1 || p.LogStartOffset != -1) {
				t.Fatalf("got %+v, want %v", p, c.want)
			}
			equal(t, "the other partition", values(t, &op.Partitions()[1]), []string{"0=a", "1=b"})
		})
	}
	req := fetchRequest(want(topic, 0, 0))
	req.ReplicaID = 5
	op := n.Fetch(testCaller, req)
	defer op.Release()
	if p := op.Partitions()[0]; !errors.Is(p.Err, ErrNotLeader) || p.Records.Len() != 0 || p.Leader != (LeaderHint{ID: 1, Epoch: epoch}) {
		t.Fatalf("a replica that is none: %+v", p)
	}
}

func TestFetchNothing(t *testing.T) {
	n := startNode(t, relaxed)
	req := fetchRequest()
	req.MaxWait = time.Hour
	op := n.Fetch(testCaller, req)
	defer op.Release()
	if !op.Done() || len(op.Partitions()) != 0 {
		t.Fatal("a fetch of nothing waits")
	}
}

// waitFor runs a fetch in a goroutine of its own and returns a channel with how long it waited.
func waitFor(ctx context.Context, op *FetchOp) <-chan time.Duration {
	took := make(chan time.Duration, 1)
	began := time.Now()
	go func() {
		op.Wait(ctx)
		took <- time.Since(began)
	}()
	return took
}

func TestFetchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, relaxed)
		a, b := n.topic("a", 1), n.topic("b", 1)
		size := len(plain(t, "x"))
		req := fetchRequest(want(a, 0, 0), want(b, 0, 0))
		req.MaxWait, req.MinBytes = time.Minute, 2*size

		op := n.Fetch(testCaller, req)
		took := waitFor(t.Context(), op)
		time.Sleep(10 * time.Second) //nolint:forbidigo // fake time of synctest
		n.mustProduce(b, 0, plain(t, "1"))
		synctest.Wait()
		if len(took) > 0 {
			t.Fatal("woke with fewer than MinBytes")
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // fake time of synctest
		n.mustProduce(a, 0, plain(t, "2"))
		if got := <-took; got != 20*time.Second {
			t.Fatalf("waited %v", got)
		}
		equal(t, "a", values(t, &op.Partitions()[0]), []string{"0=2"})
		equal(t, "b", values(t, &op.Partitions()[1]), []string{"0=1"})
		op.Release()

		req = fetchRequest(want(a, 0, 1), want(b, 0, 0))
		req.MaxWait, req.MinBytes = time.Minute, 2*size
		op = n.Fetch(testCaller, req)
		if got := <-waitFor(t.Context(), op); got != time.Minute {
			t.Fatalf("waited %v for nothing", got)
		}
		equal(t, "what was there before the wait", values(t, &op.Partitions()[1]), []string{"0=1"})
		op.Release()

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		op = n.Fetch(testCaller, req)
		if got := <-waitFor(ctx, op); got != 5*time.Second {
			t.Fatalf("waited %v after its caller had gone", got)
		}
		cancel()
		op.Release()
	})
}

func TestDeletionWakesAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, relaxed)
		topic := n.topic("events", 1)
		req := fetchRequest(want(topic, 0, 0))
		req.MaxWait = time.Hour
		op := n.Fetch(testCaller, req)
		took := waitFor(t.Context(), op)
		synctest.Wait()
		n.drop("events")
		if got := <-took; got > time.Second {
			t.Fatalf("waited %v", got)
		}
		if err := op.Partitions()[0].Err; !errors.Is(err, ErrUnknownTopicOrPartition) {
			t.Fatalf("error %v", err)
		}
		op.Release()
	})
}

func TestReleaseMakesRoomForTheNext(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a"))
	for range 3 {
		op := n.Fetch(testCaller, fetchRequest(want(topic, 0, 0), want(TopicRef{Name: "nowhere"}, 0, 0)))
		equal(t, "records", values(t, &op.Partitions()[0]), []string{"0=a"})
		if !errors.Is(op.Partitions()[1].Err, ErrUnknownTopicOrPartition) {
			t.Fatalf("error %v", op.Partitions()[1].Err)
		}
		op.Release()
	}
}

func BenchmarkFetchAtTheEnd(b *testing.B) {
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Durability = b.TempDir(), Relaxed
	n, err := Start(b.Context(), cfg, Deps{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = n.Close(context.Background()) }()
	if _, err := n.controller.CreateTopic(b.Context(), specOf("events", 1, nil)); err != nil {
		b.Fatal(err)
	}
	builder := record.NewBuilder(record.NewOptions(record.None))
	builder.Append(&record.Record{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 1000)})
	batch, err := builder.Build(nil, testCompressor)
	if err != nil {
		b.Fatal(err)
	}
	if p := n.Produce(testCaller, TopicRef{Name: "events"}, 0, batch, 1); p.Err != nil {
		b.Fatal(p.Err)
	}
	req := fetchRequest(want(TopicRef{Name: "events"}, 0, 0))
	b.ReportAllocs()
	for b.Loop() {
		op := n.Fetch(testCaller, req)
		if op.Bytes() != len(batch) {
			b.Fatal(op.Partitions()[0].Err)
		}
		op.Release()
	}
}

// A disk that fails, or holds what was never written, is told to the reader as such: an answer that clients take for
// "try again at once, silently" would hide it.
func TestFetchFromABadDisk(t *testing.T) {
	mem := vfs.NewMem()
	fs := vfs.NewFaulty(mem)
	n := startNode(t, func(_ *Config, d *Deps) { d.FS = fs })
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a"))
	n.mustProduce(topic, 0, plain(t, "b"))
	failed := func() error {
		part := want(topic, 0, 0)
		part.MaxBytes = 100 // fewer than there are, so that the borders of batches have to be read
		op := n.Fetch(testCaller, fetchRequest(part))
		defer op.Release()
		return op.Partitions()[0].Err
	}
	remove := fs.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpRead}, Path: "*.log", Err: syscall.EIO})
	if err := failed(); !errors.Is(err, ErrStorage) {
		t.Fatalf("a read error: %v", err)
	}
	remove()
	must(t, failed())
	f, err := mem.OpenFile("/node/log/events-0/00000000000000000000.log", os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte{0xff, 0xff, 0xff, 0xff}, 8) // the length of the first batch
	must(t, err)
	must(t, f.Close())
	if err := failed(); !errors.Is(err, ErrStorage) {
		t.Fatalf("damage: %v", err)
	}
}

// A client whose log went another way than ours is told where, and gets nothing to read.
func TestFetchDivergesAfterANewEpoch(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	image, _ := n.Image().Topic("events")
	old := image.Partitions[0].LeaderEpoch
	n.mustProduce(topic, 0, plain(t, "a", "b"))
	must(t, n.controller.BumpLeaderEpochs(t.Context(), []controller.TopicPartition{{Topic: "events"}}))
	n.mustProduce(topic, 0, plain(t, "c"))
	part := want(topic, 0, 3)
	part.LastFetchedEpoch = old
	req := fetchRequest(part)
	req.MaxWait = time.Hour
	op := n.Fetch(testCaller, req)
	if got := op.Partitions()[0]; !op.Done() || got.Err != nil || got.Diverging != (EpochEnd{old, 2}) || got.Records.Len() != 0 || got.HighWatermark != 3 {
		t.Fatalf("got %+v", got)
	}
	op.Release()
	part = want(topic, 0, 0)
	part.CurrentLeaderEpoch = old
	op = n.Fetch(testCaller, fetchRequest(part))
	if got := op.Partitions()[0]; !errors.Is(got.Err, ErrFencedLeaderEpoch) || got.Leader != (LeaderHint{ID: 1, Epoch: old + 1}) {
		t.Fatalf("got %+v", got)
	}
	op.Release()
}

// Debugging tools and plain consumers differ in ListOffsets only: a Fetch of either ends at the high watermark.
func TestHorizons(t *testing.T) {
	for _, c := range []struct {
		replica   int32
		isolation int8
		want      partition.Horizon
	}{
		{-1, ReadUncommitted, partition.ToHighWatermark},
		{-2, ReadUncommitted, partition.ToHighWatermark},
		{-1, ReadCommitted, partition.ToLastStable},
		{3, ReadCommitted, partition.ToLogEnd},
	} {
		if got := fetchHorizon(c.replica, c.isolation); got != c.want {
			t.Errorf("replica %d, isolation %d: %v", c.replica, c.isolation, got)
		}
	}
}
