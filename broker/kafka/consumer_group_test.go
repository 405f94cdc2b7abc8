package kafka

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

func consumerBeat(version int16, group, member string, epoch int32) *kmsg.ConsumerGroupHeartbeatRequest {
	q := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.MemberEpoch = version, group, member, epoch
	if epoch == 0 {
		q.RebalanceTimeoutMillis, q.SubscribedTopicNames, q.Topics = 10_000, []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	return q
}

// A lone member's life in every version, and what it looks like to the requests of administrators.
func TestConsumerGroupInAllVersions(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("t")
	for v := int16(0); v <= 1; v++ {
		group, member := fmt.Sprint("consumers-", v), "m"
		w.coordinate(group)
		if v == 0 {
			member = ""
		}
		joined := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, consumerBeat(v, group, member, 0))
		if joined.ErrorCode != 0 || joined.MemberID == nil || joined.MemberEpoch < 1 || joined.HeartbeatIntervalMillis != 5000 || joined.Assignment == nil ||
			len(joined.Assignment.Topics) != 1 || !slices.Equal(joined.Assignment.Topics[0].Partitions, []int32{0}) {
			t.Fatalf("version %d: %+v", v, joined)
		}
		member = *joined.MemberID
		again := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, consumerBeat(v, group, member, joined.MemberEpoch))
		if again.ErrorCode != 0 || again.Assignment != nil || again.MemberEpoch != joined.MemberEpoch {
			t.Fatalf("version %d again: %+v", v, again)
		}
		w.expectConsumer(v, group, member, joined)
		w.expectListed(group)
		if r := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, consumerBeat(v, group, "stranger", 3)); r.ErrorCode != kerr.UnknownMemberID.Code || r.ErrorMessage == nil {
			t.Fatalf("version %d of a stranger: %+v", v, r)
		}
		if r := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, consumerBeat(v, group, member, 9)); r.ErrorCode != kerr.FencedMemberEpoch.Code {
			t.Fatalf("version %d ahead: %+v", v, r)
		}
		left := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, consumerBeat(v, group, member, -1))
		if left.ErrorCode != 0 || left.MemberEpoch != -1 {
			t.Fatalf("version %d leaves: %+v", v, left)
		}
	}
}

func (w *wire) expectConsumer(version int16, group, member string, joined *kmsg.ConsumerGroupHeartbeatResponse) {
	w.Helper()
	q := kmsg.NewPtrConsumerGroupDescribeRequest()
	q.Version, q.Groups = version, []string{group, "nobody", ""}
	r := ask[*kmsg.ConsumerGroupDescribeResponse](w, q)
	if len(r.Groups) != 3 || r.Groups[1].ErrorCode != kerr.GroupIDNotFound.Code || r.Groups[2].ErrorCode != kerr.InvalidGroupID.Code {
		w.Fatalf("ConsumerGroupDescribe %d: %+v", version, r)
	}
	g := r.Groups[0]
	if g.State != "Stable" || g.Epoch != joined.MemberEpoch || g.AssignmentEpoch != g.Epoch || g.AssignorName != "uniform" || len(g.Members) != 1 {
		w.Fatalf("ConsumerGroupDescribe %d: %+v", version, g)
	}
	m := g.Members[0]
	if m.MemberID != member || m.MemberEpoch != joined.MemberEpoch || len(m.Assignment.TopicPartitions) != 1 || m.Assignment.TopicPartitions[0].Topic != "t" ||
		len(m.TargetAssignment.TopicPartitions) != 1 || version >= 1 && m.MemberType != consumerMember {
		w.Fatalf("ConsumerGroupDescribe %d: %+v", version, m)
	}
}

func (w *wire) expectListed(group string) {
	w.Helper()
	for kind, want := range map[string]int{"consumer": 1, "Classic": 0} {
		q := kmsg.NewPtrListGroupsRequest()
		q.Version, q.TypesFilter = 5, []string{kind}
		got := 0
		for _, g := range ask[*kmsg.ListGroupsResponse](w, q).Groups {
			if g.Group == group && g.GroupType == "consumer" && g.GroupState == "Stable" && g.ProtocolType == "consumer" {
				got++
			}
		}
		if got != want {
			w.Fatalf("ListGroups of type %s names the group %d times, want %d", kind, got, want)
		}
	}
	q := kmsg.NewPtrDescribeGroupsRequest()
	q.Version, q.Groups = 6, []string{group}
	if r := ask[*kmsg.DescribeGroupsResponse](w, q); r.Groups[0].ErrorCode != kerr.GroupIDNotFound.Code {
		w.Fatalf("DescribeGroups: %+v", r)
	}
}

// Offsets are held against the member's epoch.
func TestConsumerGroupOffsetsKnowEpochs(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("t")
	w.coordinate("g")
	joined := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, consumerBeat(1, "g", "m", 0))
	for _, tc := range []struct {
		version int16
		epoch   int32
		want    *kerr.Error
	}{
		{9, joined.MemberEpoch, nil},
		{9, joined.MemberEpoch + 1, kerr.StaleMemberEpoch},
		{9, joined.MemberEpoch - 1, kerr.StaleMemberEpoch},
		{8, joined.MemberEpoch, kerr.UnsupportedVersion},
	} {
		commit := kmsg.NewPtrOffsetCommitRequest()
		commit.Version, commit.Group, commit.MemberID, commit.Generation = tc.version, "g", "m", tc.epoch
		commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 3, LeaderEpoch: -1}}}}
		if r := ask[*kmsg.OffsetCommitResponse](w, commit).Topics[0].Partitions[0]; r.ErrorCode != codeOf(tc.want) {
			t.Errorf("OffsetCommit %d in epoch %d: code %d, want %v", tc.version, tc.epoch, r.ErrorCode, tc.want)
		}
	}
	for epoch, want := range map[int32]*kerr.Error{joined.MemberEpoch: nil, joined.MemberEpoch + 1: kerr.StaleMemberEpoch, -1: kerr.StaleMemberEpoch} {
		member := "m"
		fetch := kmsg.NewPtrOffsetFetchRequest()
		fetch.Version = 9
		fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", MemberID: &member, MemberEpoch: epoch}}
		if r := ask[*kmsg.OffsetFetchResponse](w, fetch).Groups[0]; r.ErrorCode != codeOf(want) {
			t.Errorf("OffsetFetch in epoch %d: code %d, want %v", epoch, r.ErrorCode, want)
		}
	}
}

func codeOf(err *kerr.Error) int16 {
	if err == nil {
		return 0
	}
	return err.Code
}

// Consumers of a real client share a topic under the consumer protocol, come and go, and every record is seen.
func TestServerSideConsumersComeAndGo(t *testing.T) {
	d := open(t, func(c *broker.Config, _ *Config) {
		c.NumPartitions = 3
		c.Groups.ConsumerHeartbeatMin, c.Groups.ConsumerHeartbeat = 20*time.Millisecond, 20*time.Millisecond
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*short)
	defer cancel()
	producer := d.client(kgo.DefaultProduceTopic("shared"))
	const count = 500
	for i := range count {
		producer.Produce(ctx, kgo.StringRecord(fmt.Sprint(i)), nil)
	}
	if err := producer.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	done := make(chan struct{}, 3)
	for i := range 3 {
		opts := []kgo.Opt{
			kgo.ConsumerGroup("g"), kgo.ConsumeTopics("shared"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitMarks(),
		}
		if i > 0 { // the first speaks the classic protocol
			opts = append(opts, kgo.ServerSideBalancer())
		}
		c := d.client(opts...)
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				fetches := c.PollRecords(ctx, 10)
				fetches.EachRecord(func(r *kgo.Record) {
					seen.Add(1)
					c.MarkCommitRecords(r)
				})
				if err := c.CommitMarkedOffsets(ctx); err != nil && ctx.Err() == nil {
					t.Logf("commit: %v", err) // a rebalance may come in between
				}
				if seen.Load() >= count {
					cancel()
				}
			}
		}()
	}
	for range 3 {
		<-done
	}
	if seen.Load() < count {
		t.Fatalf("%d of %d records were seen", seen.Load(), count)
	}
}
