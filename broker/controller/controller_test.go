package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moldau/broker/metadata"
	"moldau/broker/metadata/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a store with a loader and a controller, and broker 1 registered.
type cluster struct {
	*Controller
	t      *testing.T
	store  *embedded.Store
	loader *metadata.Loader
	epoch  int64
}

func newCluster(t *testing.T, limits Limits) *cluster {
	t.Helper()
	store, err := embedded.Open(t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, store, store, limits)
	session, err := store.OpenSession(t.Context(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	c.epoch, err = c.Register(t.Context(), session, Registration{ID: 1, Endpoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: "h", Port: 9092, SecurityProtocol: "PLAINTEXT"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// startCluster starts a loader and a controller whose transactions go to store.
func startCluster(t *testing.T, engine *embedded.Store, store metadata.Store, limits Limits) *cluster {
	t.Helper()
	loader := metadata.NewLoader(engine, nilLogger)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- loader.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("loader: %v", err)
		}
		if err := engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &cluster{Controller: New(Options{Store: store, Loader: loader, Limits: limits}), t: t, store: engine, loader: loader}
}

func (c *cluster) ctx() context.Context { return c.t.Context() }

func topicSpec(name string, partitions int32) TopicSpec {
	return TopicSpec{Name: name, Partitions: partitions, ReplicationFactor: -1}
}

// create creates a topic that must be shown when the call returns.
func (c *cluster) create(name string, partitions int32) TopicResult {
	c.t.Helper()
	result, err := c.CreateTopic(c.ctx(), topicSpec(name, partitions))
	if err != nil {
		c.t.Fatalf("create %s: %v", name, err)
	}
	topic, ok := c.loader.Image().Topic(name)
	if !ok || topic.ID != result.ID || int32(len(topic.Partitions)) != result.Partitions {
		c.t.Fatalf("create %s: the image shows %+v, the result is %+v", name, topic, result)
	}
	return result
}

func TestRegister(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	b, ok := c.loader.Image().Broker(1)
	if !ok || b.Fenced || b.Epoch != c.epoch || b.Endpoints[0].Port != 9092 {
		t.Fatalf("registered broker is %+v, epoch %d", b, c.epoch)
	}
	second, err := c.store.OpenSession(t.Context(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Register(t.Context(), second, Registration{ID: 1}); !errors.Is(err, ErrDuplicateBroker) {
		t.Fatalf("second broker 1: %v, want ErrDuplicateBroker", err)
	}
	if err := c.SetBrokerStatus(t.Context(), 1, c.epoch, metadata.BrokerDraining); err != nil {
		t.Fatal(err)
	}
	if b, _ := c.loader.Image().Broker(1); !b.Draining {
		t.Fatalf("draining broker is %+v", b)
	}
	if err := c.SetBrokerStatus(t.Context(), 1, c.epoch-1, metadata.BrokerActive); !errors.Is(err, ErrUnknownBroker) {
		t.Fatalf("status of an old epoch: %v, want ErrUnknownBroker", err)
	}
	kv, _, err := c.store.Get(t.Context(), metadata.BrokerKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.store.ExpireSession(t.Context(), kv.Session); err != nil {
		t.Fatal(err)
	}
	epoch, err := c.Register(t.Context(), second, Registration{ID: 1})
	if err != nil || epoch <= c.epoch {
		t.Fatalf("registered anew with epoch %d after %d: %v", epoch, c.epoch, err)
	}
}

// TestManyCreatorsOfOneTopic: of many that create the same name, or one that collides with it, one wins.
func TestManyCreatorsOfOneTopic(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	// A second controller on the same store, as another node would have: only the store decides between them.
	other := New(Options{Store: c.store, Loader: c.loader, Limits: DefaultLimits()})
	for round := range 5 {
		names := []string{fmt.Sprintf("round.%d", round), fmt.Sprintf("round_%d", round)}
		var won, lost atomic.Int32
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				creator := c.Controller
				if i%3 == 0 {
					creator = other
				}
				_, err := creator.CreateTopic(c.ctx(), topicSpec(names[i%2], int32(100+10*i))) // one or several transactions
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ErrTopicExists), errors.Is(err, ErrInvalidTopic):
					lost.Add(1)
				default:
					t.Errorf("create: %v", err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 || lost.Load() != 23 {
			t.Fatalf("round %d: %d won, %d lost", round, won.Load(), lost.Load())
		}
	}
	for u := range c.loader.Image().Unfinished() {
		t.Errorf("left half done: %+v", u)
	}
	if n := c.loader.Image().TopicCount(); n != 5 {
		t.Fatalf("%d topics, want 5", n)
	}
}

// TestTopicLife walks one topic through everything, several times, with other writers beside it.
func TestTopicLife(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	var group sync.WaitGroup
	for w := range 3 {
		group.Go(func() {
			name := fmt.Sprintf("life-%d", w)
			lastEpoch := int32(-1)
			var lastID metadata.TopicID
			for range 4 {
				lastID, lastEpoch = c.oneLife(name, lastID, lastEpoch)
			}
		})
	}
	group.Wait()
	kvs, _, err := c.store.List(t.Context(), "part/")
	if err != nil || len(kvs) != 0 {
		t.Fatalf("%d partition records are left: %v", len(kvs), err)
	}
}

func (c *cluster) oneLife(name string, lastID metadata.TopicID, lastEpoch int32) (metadata.TopicID, int32) {
	check := func(err error) {
		if err != nil {
			c.t.Errorf("%s: %v", name, err)
		}
	}
	result, err := c.CreateTopic(c.ctx(), topicSpec(name, 2))
	check(err)
	img := c.loader.Image()
	p, ok := img.Partition(name, 1)
	if !ok || result.ID == lastID || p.LeaderEpoch <= lastEpoch {
		c.t.Errorf("%s: recreated with id %s after %s, partition %+v after epoch %d", name, result.ID, lastID, p, lastEpoch)
		return result.ID, lastEpoch
	}
	check(c.CreatePartitions(c.ctx(), PartitionsSpec{Topic: name, Count: 300}))
	check(c.AlterConfig(c.ctx(), ConfigSpec{
		Resource: metadata.Resource{Type: metadata.TopicResource, Name: name},
		Edit:     func(o map[string]string) (map[string]string, error) { o["a"] = "1"; return o, nil },
	}))
	check(c.BumpLeaderEpochs(c.ctx(), []TopicPartition{{name, 0}, {name, 299}, {"none", 1}}))
	img = c.loader.Image()
	topic, ok := img.Topic(name)
	if !ok || len(topic.Partitions) != 300 || topic.Config["a"] != "1" || topic.Partitions[299].LeaderEpoch == topic.Partitions[298].LeaderEpoch {
		c.t.Errorf("%s: the image shows %+v", name, topic)
		return result.ID, lastEpoch
	}
	epoch := topic.Partitions[299].LeaderEpoch
	deleted, err := c.DeleteTopic(c.ctx(), TopicRef{ID: result.ID})
	check(err)
	if deleted == nil || deleted.Name != name {
		c.t.Errorf("%s: deleted %+v", name, deleted)
	}
	if _, ok := c.loader.Image().Topic(name); ok {
		c.t.Errorf("%s is still there", name)
	}
	return result.ID, epoch
}

// TestManyPartitions creates and deletes 10,000 partitions. The bounds are far above what it takes (about 0.1 s each).
func TestManyPartitions(t *testing.T) {
	limits := DefaultLimits()
	limits.PartitionsPerRequestMax = 10_000
	c := newCluster(t, limits)
	timed := func(what string, run func()) {
		start := time.Now()
		run()
		took := time.Since(start)
		t.Logf("%s: %s", what, took)
		if took > 30*time.Second {
			t.Errorf("%s took %s", what, took)
		}
	}
	timed("one topic of 10,000 partitions", func() { c.create("wide", 10_000) })
	timed("the same with 10,000 more topics' partitions", func() {
		specs := make([]TopicSpec, 5000)
		for i := range specs {
			specs[i] = topicSpec(fmt.Sprintf("narrow-%d", i), 2)
		}
		for _, outcome := range c.CreateTopics(c.ctx(), specs) {
			if outcome.Err != nil {
				t.Fatal(outcome.Err)
			}
		}
	})
	if n := c.loader.Image().PartitionCount(); n != 20_000 {
		t.Fatalf("%d partitions, want 20,000", n)
	}
	if _, err := c.CreateTopic(c.ctx(), topicSpec("over", 1)); !errors.Is(err, ErrPolicyViolation) {
		t.Fatalf("partition 20,001: %v, want ErrPolicyViolation", err)
	}
	timed("one change among 20,000 partitions", func() {
		if err := c.BumpLeaderEpochs(c.ctx(), []TopicPartition{{"wide", 5000}}); err != nil {
			t.Fatal(err)
		}
	})
	timed("loading 20,000 partitions", func() {
		kvs, rev, err := c.store.List(c.ctx(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := metadata.BuildImage(rev, kvs); err != nil {
			t.Fatal(err)
		}
	})
	timed("deleting 10,000 partitions", func() {
		if _, err := c.DeleteTopic(c.ctx(), TopicRef{Name: "wide"}); err != nil {
			t.Fatal(err)
		}
	})
	if n := c.loader.Image().ReplicaCount(1); n != 10_000 {
		t.Fatalf("%d replicas are left, want 10,000", n)
	}
}

// TestLimitHoldsAgainstCrowd lets many create topics at once: the replica limit must hold exactly.
func TestLimitHoldsAgainstCrowd(t *testing.T) {
	limits := DefaultLimits()
	limits.ReplicasPerBrokerMax = 50
	c := newCluster(t, limits)
	var group sync.WaitGroup
	var refused atomic.Int32
	for i := range 30 {
		group.Go(func() {
			outcomes := c.CreateTopics(c.ctx(), []TopicSpec{topicSpec(fmt.Sprintf("a%d", i), 2), topicSpec(fmt.Sprintf("b%d", i), 2)})
			for _, o := range outcomes {
				if errors.Is(o.Err, ErrPolicyViolation) {
					refused.Add(1)
				} else if o.Err != nil {
					t.Error(o.Err)
				}
			}
		})
	}
	group.Wait()
	if n := c.loader.Image().ReplicaCount(1); n != 50 || refused.Load() != 60-25 {
		t.Fatalf("%d replicas with a limit of 50, %d refused", n, refused.Load())
	}
}

func TestChecksChangeNothing(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	c.create("a", 1)
	rev := c.loader.Image().Rev()
	outcomes := c.CheckTopics([]TopicSpec{topicSpec("b", 3), topicSpec("a", 1), topicSpec("c", 1999)})
	for i, want := range []error{ErrPolicyViolation, ErrPolicyViolation, ErrPolicyViolation} {
		if !errors.Is(outcomes[i].Err, want) {
			t.Errorf("topic %d of too large a request: %v, want %v", i, outcomes[i].Err, want)
		}
	}
	outcomes = c.CheckTopics([]TopicSpec{topicSpec("b", 3), topicSpec("a", 1)})
	if outcomes[0].Err != nil || outcomes[0].Result.Partitions != 3 || !errors.Is(outcomes[1].Err, ErrTopicExists) {
		t.Errorf("checked topics: %+v", outcomes)
	}
	if err := c.CheckPartitions(PartitionsSpec{Topic: "a", Count: 2}); err != nil {
		t.Errorf("checked growth: %v", err)
	}
	if err := c.CheckPartitions(PartitionsSpec{Topic: "a", Count: 1}); !errors.Is(err, ErrInvalidPartitions) {
		t.Errorf("checked no growth: %v", err)
	}
	if _, now, err := c.store.List(t.Context(), "none/"); now != rev || err != nil {
		t.Errorf("checks moved the store from revision %d to %d: %v", rev, now, err)
	}
}

// TestConfigRace lets many add a key each to one configuration: none may be lost.
func TestConfigRace(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	c.create("a", 1)
	resources := []metadata.Resource{{Type: metadata.TopicResource, Name: "a"}, {Type: metadata.GroupResource, Name: "g"}}
	var group sync.WaitGroup
	for i := range 20 {
		for _, r := range resources {
			group.Go(func() {
				err := c.AlterConfig(c.ctx(), ConfigSpec{Resource: r, Edit: func(o map[string]string) (map[string]string, error) {
					o[fmt.Sprint(i)] = "x"
					return o, nil
				}})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	for _, r := range resources {
		if n := len(c.loader.Image().Config(r.Type, r.Name)); n != 20 {
			t.Errorf("%v has %d of 20 keys", r, n)
		}
	}
	refusal := errors.New("not this value")
	err := c.AlterConfig(c.ctx(), ConfigSpec{Resource: resources[0], Edit: func(map[string]string) (map[string]string, error) { return nil, refusal }})
	if !errors.Is(err, refusal) {
		t.Errorf("refused edit: %v", err)
	}
}

func TestProducerIDBlocks(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	var mu sync.Mutex
	seen := map[int64]bool{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 10 {
				b, err := c.NextProducerIDBlock(c.ctx())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[b.First] || b.First%1000 != 0 || b.Len != 1000 || b.First >= 80_000 {
					t.Errorf("block %+v", b)
				}
				seen[b.First] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(seen) != 80 {
		t.Errorf("%d blocks, want 80", len(seen))
	}
	for _, value := range []string{`{"v":1,"next":9223372036854775000}`, `{"v":1,"next":-1}`, `{`} {
		if _, _, err := NextProducerIDBlock(metadata.KV{Key: "pid/next", Value: []byte(value), ModRev: 1}); err == nil {
			t.Errorf("a block after %s", value)
		}
	}
}

func TestElectionsAndReassignments(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	c.create("a", 2)
	errs := c.ElectLeaders(c.ctx(), PreferredElection, []TopicPartition{{"a", 0}, {"a", 5}, {"none", 0}})
	for i, want := range []error{ErrElectionNotNeeded, ErrUnknownTopicOrPartition, ErrUnknownTopicOrPartition} {
		if !errors.Is(errs[i], want) {
			t.Errorf("election %d: %v, want %v", i, errs[i], want)
		}
	}
	errs = c.Reassign(c.ctx(), []Reassignment{
		{TopicPartition: TopicPartition{"a", 0}, Replicas: []int32{1}},
		{TopicPartition: TopicPartition{"a", 1}},
		{TopicPartition: TopicPartition{"a", 1}, Replicas: []int32{2}},
	})
	for i, want := range []error{nil, ErrNoReassignmentInProgress, ErrInvalidReplicaAssignment} {
		if !errors.Is(errs[i], want) {
			t.Errorf("reassignment %d: %v, want %v", i, errs[i], want)
		}
	}
}

// cutStore fails after a number of transactions, as a process that dies there.
type cutStore struct {
	metadata.Store
	left atomic.Int32
}

var errCut = errors.New("power cut")

func (s *cutStore) Txn(ctx context.Context, txn metadata.Txn) (metadata.TxnResult, error) {
	if s.left.Add(-1) < 0 {
		return metadata.TxnResult{}, errCut
	}
	return s.Store.Txn(ctx, txn)
}

// TestSweepAfterEveryCut cuts creation, growth and deletion of a large topic after each of their transactions. Readers
// must see the topic whole or not at all, and Sweep must leave nothing behind.
func TestSweepAfterEveryCut(t *testing.T) {
	limits := DefaultLimits()
	limits.PartitionsPerRequestMax = 5000
	engine, err := embedded.Open(t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cut := &cutStore{Store: engine}
	cut.left.Store(1 << 30)
	c := startCluster(t, engine, cut, limits)
	session, err := engine.OpenSession(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Register(t.Context(), session, Registration{ID: 1}); err != nil {
		t.Fatal(err)
	}
	c.loader.Subscribe(func(_, next *metadata.Image, _ metadata.Delta) {
		if topic, ok := next.Topic("a"); ok && len(topic.Partitions) != 2300 && len(topic.Partitions) != 2500 {
			t.Errorf("topic shown with %d partitions", len(topic.Partitions))
		}
	})
	steps := map[string]func() error{
		"create": func() error { _, err := c.CreateTopic(c.ctx(), topicSpec("a", 2300)); return err },
		"grow":   func() error { return c.CreatePartitions(c.ctx(), PartitionsSpec{Topic: "a", Count: 2500}) },
		"delete": func() error { _, err := c.DeleteTopic(c.ctx(), TopicRef{Name: "a"}); return err },
	}
	for _, name := range []string{"create", "grow", "delete"} {
		for after := int32(0); ; after++ {
			cut.left.Store(after)
			err := steps[name]()
			cut.left.Store(1 << 30)
			if err != nil && !errors.Is(err, errCut) && !errors.Is(err, ErrUnknownTopicOrPartition) {
				t.Fatalf("%s cut after %d: %v", name, after, err)
			}
			if err := c.Sweep(c.ctx()); err != nil {
				t.Fatalf("%s cut after %d: sweep: %v", name, after, err)
			}
			c.checkNothingLeft(name, after)
			if err == nil || name == "delete" && errors.Is(err, ErrUnknownTopicOrPartition) {
				break
			}
		}
	}
}

// checkNothingLeft compares the records in the store with what the image shows.
func (c *cluster) checkNothingLeft(step string, after int32) {
	c.t.Helper()
	img := c.loader.Image()
	for u := range img.Unfinished() {
		c.t.Errorf("%s cut after %d: left %+v", step, after, u)
	}
	for prefix, want := range map[string]int{"part/": img.PartitionCount(), "topic/": img.TopicCount(), "topics/": img.TopicCount()} {
		kvs, _, err := c.store.List(c.ctx(), prefix)
		if err != nil || len(kvs) != want {
			c.t.Errorf("%s cut after %d: %d keys %s, want %d: %v", step, after, len(kvs), prefix, want, err)
		}
	}
}

// TestCanceledCreation: a caller that gives up in the middle of a large creation leaves nothing behind.
func TestCanceledCreation(t *testing.T) {
	c := newCluster(t, DefaultLimits())
	ctx, cancel := context.WithCancel(t.Context())
	stop := &cancelStore{Store: c.store, cancel: cancel}
	stop.left.Store(3)
	creator := New(Options{Store: stop, Loader: c.loader, Limits: DefaultLimits()})
	if _, err := creator.CreateTopic(ctx, topicSpec("a", 1500)); !errors.Is(err, context.Canceled) {
		t.Fatalf("canceled creation: %v", err)
	}
	c.checkNothingLeft("create", 3)
	if _, ok := c.loader.Image().Topic("a"); ok {
		t.Error("topic of a canceled creation is shown")
	}
	c.create("a", 1)
}

// cancelStore cancels a context before one of its transactions.
type cancelStore struct {
	metadata.Store
	left   atomic.Int32
	cancel context.CancelFunc
}

func (s *cancelStore) Txn(ctx context.Context, txn metadata.Txn) (metadata.TxnResult, error) {
	if s.left.Add(-1) == 0 {
		s.cancel()
	}
	return s.Store.Txn(ctx, txn)
}
