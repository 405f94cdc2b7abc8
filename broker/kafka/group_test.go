package kafka

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// coordinate finds the coordinator of a group, which makes the topic that keeps groups.
func (w *wire) coordinate(group string) {
	w.Helper()
	q := kmsg.NewPtrFindCoordinatorRequest()
	q.Version, q.CoordinatorKeys = 4, []string{group}
	if c := ask[*kmsg.FindCoordinatorResponse](w, q).Coordinators[0]; c.ErrorCode != 0 || c.Key != group {
		w.Fatalf("coordinator of %s: %+v", group, c)
	}
}

func joinGroup(version int16, group, member string) *kmsg.JoinGroupRequest {
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version, q.Group, q.MemberID, q.ProtocolType = version, group, member, "consumer"
	q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = 10_000, 10_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", []byte{0, 1}
	q.Protocols = append(q.Protocols, p)
	return q
}

func syncGroup(version int16, group, member string, generation int32, assignment string) *kmsg.SyncGroupRequest {
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.Generation = version, group, member, generation
	if assignment != "" {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = member, []byte(assignment)
		q.GroupAssignment = append(q.GroupAssignment, a)
	}
	return q
}

// Every version of every request of a group's life, as far as a lone member needs them.
func TestGroupInAllVersions(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("t")
	for v := int16(0); v <= 9; v++ {
		group := fmt.Sprint("group-", v)
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey, find.CoordinatorKeys = min(v, 6), group, []string{group}
		found := ask[*kmsg.FindCoordinatorResponse](w, find)
		if v < 4 && (found.ErrorCode != 0 || found.NodeID != 1 || found.Port == 0) {
			t.Fatalf("FindCoordinator %d: %+v", v, found)
		}
		join := joinGroup(v, group, "")
		joined := ask[*kmsg.JoinGroupResponse](w, join)
		if v >= 4 {
			if joined.ErrorCode != kerr.MemberIDRequired.Code || joined.MemberID == "" {
				t.Fatalf("JoinGroup %d without a member id: %+v", v, joined)
			}
			join.MemberID = joined.MemberID
			joined = ask[*kmsg.JoinGroupResponse](w, join)
		}
		if joined.ErrorCode != 0 || joined.Generation != 1 || joined.LeaderID != joined.MemberID || len(joined.Members) != 1 {
			t.Fatalf("JoinGroup %d: %+v", v, joined)
		}
		for range 2 { // the second time as a member of a stable group
			synced := ask[*kmsg.SyncGroupResponse](w, syncGroup(min(v, 5), group, joined.MemberID, 1, "bytes"))
			if synced.ErrorCode != 0 || string(synced.MemberAssignment) != "bytes" {
				t.Fatalf("SyncGroup %d: %+v", v, synced)
			}
		}
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Version, beat.Group, beat.MemberID, beat.Generation = min(v, 4), group, joined.MemberID, 1
		if r := ask[*kmsg.HeartbeatResponse](w, beat); r.ErrorCode != 0 {
			t.Fatalf("Heartbeat %d: %+v", v, r)
		}
		w.commitAndFetch(max(2, v), group, joined.MemberID)
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Version, leave.Group, leave.MemberID = min(v, 5), group, joined.MemberID
		leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: joined.MemberID}}
		if r := ask[*kmsg.LeaveGroupResponse](w, leave); r.ErrorCode != 0 || v >= 3 && r.Members[0].ErrorCode != 0 {
			t.Fatalf("LeaveGroup %d: %+v", v, r)
		}
		describe := kmsg.NewPtrDescribeGroupsRequest()
		describe.Version, describe.Groups = min(v, 6), []string{group, "nobody"}
		r := ask[*kmsg.DescribeGroupsResponse](w, describe)
		if len(r.Groups) != 2 || r.Groups[0].State != "Empty" || r.Groups[1].State != "Dead" {
			t.Fatalf("DescribeGroups %d: %+v", v, r)
		}
	}
}

// commitAndFetch commits an offset of a member and reads it back with all that belongs to it.
func (w *wire) commitAndFetch(version int16, group, member string) {
	w.Helper()
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Version, commit.Group, commit.MemberID, commit.Generation, commit.RetentionTimeMillis = version, group, member, 1, -1
	ct := kmsg.NewOffsetCommitRequestTopic()
	ct.Topic = "t"
	cp := kmsg.NewOffsetCommitRequestTopicPartition()
	note := "note"
	cp.Offset, cp.LeaderEpoch, cp.Metadata = 42, 3, &note
	ct.Partitions = append(ct.Partitions, cp)
	commit.Topics = append(commit.Topics, ct)
	if r := ask[*kmsg.OffsetCommitResponse](w, commit); r.Topics[0].Partitions[0].ErrorCode != 0 {
		w.Fatalf("OffsetCommit %d: %+v", version, r)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version, fetch.Group = version, group
	fetch.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0, 1}}}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.Topics = group, []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0, 1}}}
	fetch.Groups = append(fetch.Groups, g)
	r := ask[*kmsg.OffsetFetchResponse](w, fetch)
	var got, none kmsg.OffsetFetchResponseTopicPartition
	if version < 8 {
		got, none = r.Topics[0].Partitions[0], r.Topics[0].Partitions[1]
	} else {
		p := r.Groups[0].Topics[0].Partitions
		got = kmsg.OffsetFetchResponseTopicPartition{Offset: p[0].Offset, LeaderEpoch: p[0].LeaderEpoch, Metadata: p[0].Metadata}
		none = kmsg.OffsetFetchResponseTopicPartition{Offset: p[1].Offset}
	}
	epoch := int32(3)
	if version < 6 { // OffsetCommit could not tell it, or OffsetFetch cannot
		epoch = -1
	}
	if got.Offset != 42 || *got.Metadata != note || version >= 5 && got.LeaderEpoch != epoch || none.Offset != -1 {
		w.Fatalf("OffsetFetch %d: %+v, %+v", version, got, none)
	}
}

// A member whose connection ends while it waits to join stays a member until its session ends, and others go on.
func TestJoinOutlivesItsConnection(t *testing.T) {
	d := open(t)
	first, second := d.wire(), d.wire()
	first.coordinate("g")
	leader := ask[*kmsg.JoinGroupResponse](first, joinGroup(3, "g", ""))
	if r := ask[*kmsg.SyncGroupResponse](first, syncGroup(3, "g", leader.MemberID, 1, "x")); r.ErrorCode != 0 {
		t.Fatalf("%+v", r)
	}
	second.send(joinGroup(3, "g", ""))
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.Generation = 3, "g", leader.MemberID, 1
	for ask[*kmsg.HeartbeatResponse](first, beat).ErrorCode != kerr.RebalanceInProgress.Code {
	}
	if err := second.peer.Close(); err != nil {
		t.Fatal(err)
	}
	again := ask[*kmsg.JoinGroupResponse](first, joinGroup(3, "g", leader.MemberID))
	if again.ErrorCode != 0 || again.Generation != 2 || len(again.Members) != 2 {
		t.Fatalf("%+v", again)
	}
}

// The members that wait are told to look for their coordinator when the broker stops.
func TestStopAnswersWaitingMembers(t *testing.T) {
	d := open(t)
	first, second := d.wire(), d.wire()
	first.coordinate("g")
	leader := ask[*kmsg.JoinGroupResponse](first, joinGroup(3, "g", ""))
	ask[*kmsg.SyncGroupResponse](first, syncGroup(3, "g", leader.MemberID, 1, "x"))
	waiting := joinGroup(3, "g", "")
	second.send(waiting)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.Generation = 3, "g", leader.MemberID, 1
	for ask[*kmsg.HeartbeatResponse](first, beat).ErrorCode != kerr.RebalanceInProgress.Code {
	}
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	if err := d.srv.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if r := second.receive(waiting, second.correlation).(*kmsg.JoinGroupResponse); r.ErrorCode != kerr.CoordinatorNotAvailable.Code {
		t.Errorf("%+v", r)
	}
}

// Consumers of a real client share a topic, come and go, and nobody is left without an answer.
func TestConsumersComeAndGo(t *testing.T) {
	d := open(t, func(c *broker.Config, _ *Config) { c.NumPartitions = 3 })
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
			kgo.ConsumerGroup("g"), kgo.ConsumeTopics("shared"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
			kgo.HeartbeatInterval(50 * time.Millisecond), kgo.AutoCommitMarks(),
		}
		if i == 1 {
			opts = append(opts, kgo.InstanceID("static"))
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
