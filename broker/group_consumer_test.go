package broker

import (
	"errors"
	"fmt"
	"testing"

	"moldau/broker/configdef"
	"moldau/broker/coordinator"
	"moldau/broker/metadata"
	"moldau/internal/vfs"
)

func (n *testNode) consumerBeat(r *ConsumerGroupHeartbeatRequest) (ConsumerGroupHeartbeatReply, error) {
	n.t.Helper()
	return settled(n, func() *coordinator.Reply[ConsumerGroupHeartbeatReply] { return n.ConsumerGroupHeartbeat(testCaller, r) })
}

func joining(group, member string, topics ...string) *ConsumerGroupHeartbeatRequest {
	return &ConsumerGroupHeartbeatRequest{
		Group: group, MemberID: member, MemberIDRequired: true, RebalanceTimeout: 10_000, ClientID: "c", ClientHost: "/h",
		Topics: topics, Owned: GroupPartitions{},
	}
}

func beating(group, member string, epoch int32, owned GroupPartitions) *ConsumerGroupHeartbeatRequest {
	return &ConsumerGroupHeartbeatRequest{
		Group: group, MemberID: member, MemberIDRequired: true, MemberEpoch: epoch, RebalanceTimeout: -1, ClientID: "c", ClientHost: "/h", Owned: owned,
	}
}

// A power cut in the middle of a rebalance: members go on with the epochs that they were told, and the rebalance comes to its end.
func TestConsumerGroupSurvivesPowerCut(t *testing.T) {
	for seed := range uint64(4) {
		n := startNode(t)
		n.topic("t", 4)
		n.coordinateGroups()
		first, err := n.consumerBeat(joining("g", "a", "t"))
		must(t, err)
		second, err := n.consumerBeat(joining("g", "b", "t"))
		must(t, err)
		told, err := n.consumerBeat(beating("g", "a", first.Epoch, first.Assigned))
		must(t, err)
		if first.Assigned.Count() != 4 || second.Assigned.Count() != 0 || told.Assigned.Count() != 2 {
			t.Fatalf("first %+v, second %+v, then %+v", first, second, told)
		}
		n.restart(n.deps.FS.(*vfs.MemFS).CrashClone(seed))
		revoked, err := n.consumerBeat(beating("g", "a", first.Epoch, told.Assigned))
		must(t, err)
		got, err := n.consumerBeat(beating("g", "b", second.Epoch, GroupPartitions{}))
		must(t, err)
		if revoked.Epoch != second.Epoch || got.Epoch != second.Epoch || got.Assigned.Count() != 2 {
			t.Errorf("seed %d: %+v, %+v", seed, revoked, got)
		}
		d, err := settled(n, func() *coordinator.Reply[ConsumerGroupDescription] { return n.DescribeConsumerGroup(testCaller, "g") })
		must(t, err)
		if d.State.String() != "Stable" || len(d.Members) != 2 {
			t.Errorf("seed %d: %+v", seed, d)
		}
		must(t, n.Close(t.Context()))
	}
}

// Topics that are made or grow are assigned with the next heartbeat, and a group's own times are told.
func TestConsumerGroupFollowsMetadata(t *testing.T) {
	n := startNode(t)
	n.topic("t", 1)
	n.coordinateGroups()
	joined, err := n.consumerBeat(joining("g", "a", "t", "u"))
	must(t, err)
	n.topic("u", 3)
	next, err := n.consumerBeat(beating("g", "a", joined.Epoch, nil))
	must(t, err)
	if next.Assigned.Count() != 4 || next.Epoch != joined.Epoch+1 || next.Interval.Milliseconds() != 5000 {
		t.Errorf("%+v, then %+v", joined, next)
	}
	for name, tc := range map[string]struct {
		value string
		want  error
	}{
		"consumer.heartbeat.interval.ms": {"7000", nil}, "consumer.session.timeout.ms": {"1", ErrInvalidConfig}, "consumer.nothing": {"1", ErrInvalidConfig},
	} {
		a := n.AlterConfigs(t.Context(), testCaller, []ConfigAlteration{{
			ConfigResource: ConfigResource{Type: GroupResource, Name: "g"}, Changes: []configdef.Change{{Name: name, Op: configdef.Set, Value: &tc.value}},
		}}, false)
		if !errors.Is(a[0].Err, tc.want) {
			t.Errorf("%s: %v", name, a[0].Err)
		}
	}
	if n.Image().Config(metadata.GroupResource, "g") == nil {
		t.Fatal("the group has no configuration")
	}
	last, err := n.consumerBeat(beating("g", "a", next.Epoch, nil))
	must(t, err)
	if last.Interval.Milliseconds() != 7000 {
		t.Errorf("the interval is %v", last.Interval)
	}
	var shown string
	for _, e := range n.DescribeConfigs(testCaller, []ConfigQuery{{ConfigResource: ConfigResource{Type: GroupResource, Name: "g"}}})[0].Entries {
		shown += fmt.Sprintf("%s=%s from %d;", e.Name, *e.Value, e.Source)
	}
	if want := "consumer.heartbeat.interval.ms=7000 from 8;consumer.session.timeout.ms=45000 from 5;"; shown != want {
		t.Errorf("shown %s, want %s", shown, want)
	}
}
