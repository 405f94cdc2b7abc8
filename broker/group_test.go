package broker

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
	"moldau/internal/vfs"
)

// coordinate makes the topic of groups.
func (n *testNode) coordinateGroups() {
	n.t.Helper()
	_, err := n.GroupCoordinator(n.t.Context(), testCaller, "any")
	must(n.t, err)
}

// settled waits for a coordinator's answer. It asks again while the coordinator loads.
func settled[T any](n *testNode, ask func() *coordinator.Reply[T]) (T, error) {
	n.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		v, err := ask().Wait(n.t.Context())
		if !errors.Is(err, ErrCoordinatorLoading) || time.Now().After(deadline) {
			return v, err
		}
		<-time.After(time.Millisecond)
	}
}

func (n *testNode) commitOffset(groupID, topic string, offset int64) {
	n.t.Helper()
	errs, err := settled(n, func() *coordinator.Reply[[]error] {
		return n.OffsetCommit(testCaller, &OffsetCommitRequest{
			Group: groupID, Generation: -1, Retention: -1,
			Offsets: []PartitionOffset{{Topic: topic, Offset: offset, LeaderEpoch: -1}},
		})
	})
	must(n.t, err)
	must(n.t, errs[0])
}

// offsetOf returns what a group committed for partition 0 of a topic.
func (n *testNode) offsetOf(groupID, topic string) int64 {
	n.t.Helper()
	got, err := settled(n, func() *coordinator.Reply[[]FetchedOffsets] {
		return n.OffsetFetch(testCaller, &OffsetFetchRequest{
			Group: groupID, Topics: []OffsetFetchTopic{{Topic: topic, Partitions: []int32{0}}},
		})
	})
	must(n.t, err)
	return got[0].Partitions[0].Offset.Offset
}

func TestOffsetsTopicIsMadeOnce(t *testing.T) {
	n := startNode(t)
	if _, ok := n.Image().Topic(offsetsTopicName); ok {
		t.Fatal("a start wrote something")
	}
	_, err := n.OffsetFetch(testCaller, &OffsetFetchRequest{Group: "g"}).Wait(t.Context())
	if !errors.Is(err, ErrNotCoordinator) {
		t.Fatalf("without the topic: %v", err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			b, err := n.GroupCoordinator(t.Context(), testCaller, "g")
			if err != nil || b.ID != n.cfg.NodeID {
				t.Errorf("coordinator %+v, %v", b, err)
			}
		})
	}
	all.Wait()
	topic, _ := n.Image().Topic(offsetsTopicName)
	if !topic.Internal || len(topic.Partitions) != 50 || topic.Config["cleanup.policy"] != "compact" || topic.Config["segment.bytes"] != "104857600" {
		t.Errorf("the topic is %+v", topic)
	}
	n.commitOffset("g", "t", 1)
}

// An acknowledged commit outlives a power cut; what was not acknowledged is there or isn't, and nothing else is.
func TestOffsetsSurvivePowerCut(t *testing.T) {
	for seed := range uint64(4) {
		n := startNode(t)
		n.topic("t", 1)
		n.coordinateGroups()
		for g := range 20 {
			for i := range 3 {
				n.commitOffset(fmt.Sprint("g", g), "t", int64(i))
			}
		}
		for g := range 20 { // nobody waits for these
			n.OffsetCommit(testCaller, &OffsetCommitRequest{
				Group: fmt.Sprint("g", g), Generation: -1, Retention: -1, Offsets: []PartitionOffset{{Topic: "t", Offset: 3}},
			})
		}
		n.restart(n.deps.FS.(*vfs.MemFS).CrashClone(seed))
		for g := range 20 {
			if o := n.offsetOf(fmt.Sprint("g", g), "t"); o < 2 || o > 3 {
				t.Errorf("seed %d: group %d has offset %d", seed, g, o)
			}
		}
		must(t, n.Close(t.Context()))
	}
}

// A stable group is the same after a restart: its members go on with their ids and assignments.
func TestGroupSurvivesRestart(t *testing.T) {
	n := startNode(t)
	n.coordinateGroups()
	join := &JoinGroupRequest{
		Group: "g", ClientID: "c", ClientHost: "/h", SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
		ProtocolType: "consumer", Protocols: []GroupProtocol{{Name: "range", Metadata: []byte("m")}},
	}
	joined, err := n.JoinGroup(testCaller, join).Wait(t.Context())
	must(t, err)
	must(t, joined.Err)
	synced, err := n.SyncGroup(testCaller, &SyncGroupRequest{
		Group: "g", Generation: 1, MemberID: joined.MemberID, Assignments: map[string][]byte{joined.MemberID: []byte("all of it")},
	}).Wait(t.Context())
	must(t, err)
	must(t, synced.Err)

	n.restart(nil)
	beat, err := settled(n, func() *coordinator.Reply[error] { return n.Heartbeat(testCaller, "g", joined.MemberID, nil, 1) })
	must(t, err)
	must(t, beat)
	again, err := n.SyncGroup(testCaller, &SyncGroupRequest{Group: "g", Generation: 1, MemberID: joined.MemberID}).Wait(t.Context())
	if err != nil || string(again.Assignment) != "all of it" {
		t.Errorf("the assignment after a restart is %q, %v", again.Assignment, err)
	}
	d, err := n.DescribeGroup(testCaller, "g").Wait(t.Context())
	if err != nil || d.State != group.Stable || len(d.Members) != 1 {
		t.Errorf("the group after a restart is %+v, %v", d, err)
	}
}

func TestOffsetsOfDeletedTopicsGo(t *testing.T) {
	n := startNode(t)
	n.topic("t", 1)
	n.topic("u", 1)
	n.coordinateGroups()
	n.commitOffset("g", "t", 5)
	n.commitOffset("g", "u", 6)
	n.drop("t")
	if o := n.offsetOf("g", "t"); o != -1 {
		t.Errorf("the offset of a deleted topic is %d", o)
	}
	if o := n.offsetOf("g", "u"); o != 6 {
		t.Errorf("the offset of the other topic is %d", o)
	}
}

// Many groups are there soon after a restart, and until then nobody is told that they aren't.
func TestManyGroupsAfterRestart(t *testing.T) {
	const groups = 3000
	n := startNode(t, relaxed)
	n.topic("t", 1)
	n.coordinateGroups()
	replies := make([]*coordinator.Reply[[]error], groups)
	for g := range replies {
		replies[g] = n.OffsetCommit(testCaller, &OffsetCommitRequest{
			Group: fmt.Sprint("g", g), Generation: -1, Retention: -1, Offsets: []PartitionOffset{{Topic: "t", Offset: int64(g)}},
		})
	}
	for _, r := range replies {
		_, err := r.Wait(t.Context())
		must(t, err)
	}
	n.restart(nil)
	for g := range groups {
		if o := n.offsetOf(fmt.Sprint("g", g), "t"); o != int64(g) {
			t.Fatalf("group %d has offset %d", g, o)
		}
	}
	list, err := n.ListGroups(t.Context(), testCaller)
	if err != nil || len(list) != groups {
		t.Errorf("%d groups are listed, %v", len(list), err)
	}
}

// Nobody but the coordinator writes its topic.
func TestOffsetsTopicTakesNoProduce(t *testing.T) {
	n := startNode(t)
	n.coordinateGroups()
	if p := n.produce(TopicRef{Name: offsetsTopicName}, 0, plain(t, "x")); !errors.Is(p.Err, ErrInvalidTopic) {
		t.Errorf("a produce was answered with %v", p.Err)
	}
}

// A member without a partition is a number on the metrics page.
func TestGroupMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	n := startNode(t, func(_ *Config, d *Deps) { d.Registerer = reg })
	n.coordinateGroups()
	n.commitOffset("committer", "t", 1)
	join := &JoinGroupRequest{
		Group: "g", ClientID: "c", SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
		ProtocolType: "consumer", Protocols: []GroupProtocol{{Name: "range", Metadata: []byte("m")}},
	}
	joined, err := n.JoinGroup(testCaller, join).Wait(t.Context())
	must(t, err)
	_, err = n.SyncGroup(testCaller, &SyncGroupRequest{Group: "g", Generation: 1, MemberID: joined.MemberID}).Wait(t.Context())
	must(t, err)
	families, err := reg.Gather()
	must(t, err)
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			got[key] = m.GetGauge().GetValue()
		}
	}
	for key, want := range map[string]float64{
		"kafka_coordinator_group_groupmetadatamanager_numgroups":       2,
		"kafka_coordinator_group_groupmetadatamanager_numgroupsempty":  1,
		"kafka_coordinator_group_groupmetadatamanager_numgroupsstable": 1,
		"kafka_coordinator_group_groupmetadatamanager_numoffsets":      1,
		"moldau_coordinator_partitions loaded":                         50,
		"moldau_group_members g":                                       1,
		"moldau_group_members_without_partition g":                     1,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}
