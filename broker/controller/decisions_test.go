package controller

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"moldau/broker/metadata"
)

var nilLogger = slog.New(slog.DiscardHandler)

func TestTopicNames(t *testing.T) {
	long := strings.Repeat("a", TopicNameMax)
	for _, name := range []string{"a", "A.b_c-9", "...", "-", "_", long, "__consumer_offsets"} {
		if err := ValidateTopicName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", long + "a", "a b", "a/b", "ä", "a\x00", "a\n", strings.Repeat("x", 1<<20)} {
		err := ValidateTopicName(name)
		if !errors.Is(err, ErrInvalidTopic) {
			t.Errorf("%.20q: %v, want ErrInvalidTopic", name, err)
		} else if len(err.Error()) > 700 {
			t.Errorf("%.20q: message of %d bytes", name, len(err.Error()))
		}
	}
}

// TestPlacementSpreads checks, for many clusters, what placement promises: no broker twice, as many racks as possible,
// leaders and replicas spread evenly where racks are of equal size.
func TestPlacementSpreads(t *testing.T) {
	for racks := 1; racks <= 4; racks++ {
		for each := 1; each <= 4; each++ {
			var brokers []*metadata.Broker
			for i := range racks * each {
				brokers = append(brokers, &metadata.Broker{ID: int32(i), Rack: fmt.Sprint(i % racks)})
			}
			for factor := 1; factor <= len(brokers); factor++ {
				for seed := range uint64(3) {
					checkSpread(t, brokers, racks, factor, seed)
				}
			}
		}
	}
}

func checkSpread(t *testing.T, brokers []*metadata.Broker, racks, factor int, seed uint64) {
	t.Helper()
	p := newPlacer(brokers, seed)
	if err := p.check(factor); err != nil {
		t.Fatal(err)
	}
	n := len(brokers) * racks * 4
	leads, holds := make([]int, len(brokers)), make([]int, len(brokers))
	for range n {
		replicas := p.place(factor)
		leads[replicas[0]]++
		inRacks := map[string]bool{}
		for i, id := range replicas {
			holds[id]++
			inRacks[brokers[id].Rack] = true
			if slices.Contains(replicas[:i], id) {
				t.Fatalf("broker %d twice in %v", id, replicas)
			}
		}
		if len(replicas) != factor || len(inRacks) != min(factor, racks) {
			t.Fatalf("%v is in %d of %d racks", replicas, len(inRacks), racks)
		}
	}
	for id := range brokers {
		if leads[id] != n/len(brokers) || holds[id] != n*factor/len(brokers) {
			t.Fatalf("%d racks, %d brokers, factor %d, seed %d: leads %v holds %v", racks, len(brokers), factor, seed, leads, holds)
		}
	}
}

// TestEpochFloorsAreBounded: past the bound the oldest floor goes into the floor of all names, and no epoch goes back.
func TestEpochFloorsAreBounded(t *testing.T) {
	var kvs []metadata.KV
	for i := range epochFloorsMax {
		rev := metadata.Rev(i + 1)
		kvs = append(kvs, metadata.KV{
			Key:       metadata.EpochFloorKey(fmt.Sprintf("old-%d", i)),
			Value:     metadata.Encode(&metadata.EpochFloorRecord{LeaderEpoch: int32(i%50 + 7)}),
			CreateRev: rev, ModRev: rev,
		})
	}
	id := metadata.TopicID{1}
	put := func(key string, r metadata.Record) {
		kvs = append(kvs, metadata.KV{Key: key, Value: metadata.Encode(r), CreateRev: 20_000, ModRev: 20_000})
	}
	put(metadata.TopicNameKey("a"), &metadata.TopicNameRecord{ID: id})
	put(metadata.TopicKey(id), &metadata.TopicRecord{Name: "a", Partitions: 1})
	put(metadata.PartitionKey(id, 0), &metadata.PartitionRecord{Replicas: []int32{1}, ISR: []int32{1}, Leader: 1, LeaderEpoch: 2})
	img, err := metadata.BuildImage(20_000, kvs)
	if err != nil {
		t.Fatal(err)
	}
	plan, _, err := DeleteTopic(img, TopicRef{Name: "a"})
	if err != nil || len(plan) != 1 {
		t.Fatalf("plan %+v: %v", plan, err)
	}
	var events []metadata.Event
	for _, op := range plan[0].Ops {
		if op.Kind == metadata.OpPut {
			events = append(events, metadata.Event{KV: metadata.KV{Key: op.Key, Value: op.Value, CreateRev: 20_001, ModRev: 20_001}})
		} else if op.Kind == metadata.OpDelete {
			events = append(events, metadata.Event{Kind: metadata.EventDelete, KV: metadata.KV{Key: op.Key, ModRev: 20_001}})
		}
	}
	after, _, err := img.Apply(20_001, events)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.EpochFloorCount(); n != epochFloorsMax {
		t.Errorf("%d floors, want %d", n, epochFloorsMax)
	}
	for name, want := range map[string]int32{"a": 7, "old-0": 7, "old-1": 8, "new": 7} {
		if epoch, _, _ := after.EpochFloor(name); epoch != want {
			t.Errorf("floor of %s is %d, want %d", name, epoch, want)
		}
	}
}

// TestHugeConfigs: a configuration that does not fit into a value is refused, not cut or written in part.
func TestHugeConfigs(t *testing.T) {
	broker := metadata.KV{Key: metadata.BrokerKey(1), Value: metadata.Encode(&metadata.BrokerRecord{}), CreateRev: 1, ModRev: 1}
	state := metadata.KV{Key: metadata.BrokerStateKey(1), Value: metadata.Encode(&metadata.BrokerStateRecord{Epoch: 1, Status: metadata.BrokerActive}), CreateRev: 2, ModRev: 2}
	img, err := metadata.BuildImage(2, []metadata.KV{broker, state})
	if err != nil {
		t.Fatal(err)
	}
	huge := map[string]string{"a": strings.Repeat("x", metadata.MaxValueBytes)}
	spec := TopicSpec{Name: "a", Partitions: 1, ReplicationFactor: 1, Config: huge}
	if _, _, err := CreateTopic(img, DefaultLimits(), nil, spec); !errors.Is(err, ErrPolicyViolation) {
		t.Errorf("topic: %v, want ErrPolicyViolation", err)
	}
	_, err = AlterConfig(img, ConfigSpec{
		Resource: metadata.Resource{Type: metadata.GroupResource, Name: "g"},
		Edit:     func(map[string]string) (map[string]string, error) { return huge, nil },
	})
	if !errors.Is(err, ErrPolicyViolation) {
		t.Errorf("group: %v, want ErrPolicyViolation", err)
	}
}
