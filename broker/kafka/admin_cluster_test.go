package kafka

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDescribeClusterVersions(t *testing.T) {
	d := open(t)
	w := d.wire()
	for _, v := range versions(t, kmsg.DescribeCluster) {
		q := at(kmsg.NewPtrDescribeClusterRequest(), v)
		resp := ask[*kmsg.DescribeClusterResponse](w, q)
		w.wantCode("describe", resp.ErrorCode, nil)
		if len(resp.Brokers) != 1 || fmt.Sprintf("%s:%d", resp.Brokers[0].Host, resp.Brokers[0].Port) != d.addr || resp.Brokers[0].NodeID != 1 || resp.ControllerID != 1 ||
			resp.ClusterID != string(d.node.Image().ClusterID()) || resp.ClusterAuthorizedOperations != -2147483648 {
			t.Errorf("version %d: %+v", v, resp)
		}
		q.IncludeClusterAuthorizedOperations = true
		if resp = ask[*kmsg.DescribeClusterResponse](w, q); resp.ClusterAuthorizedOperations != 8096 { // as Kafka without an authorizer
			t.Errorf("version %d: operations %d", v, resp.ClusterAuthorizedOperations)
		}
		if v == 0 {
			continue
		}
		for endpoint, want := range map[int8]*kerr.Error{1: nil, 2: kerr.MismatchedEndpointType, 3: kerr.UnsupportedEndpointType} {
			q.EndpointType = endpoint
			resp := ask[*kmsg.DescribeClusterResponse](w, q)
			w.wantCode(fmt.Sprintf("endpoint type %d", endpoint), resp.ErrorCode, want)
			if (want == nil) != (len(resp.Brokers) == 1) || (want == nil) != (resp.ErrorMessage == nil) {
				t.Errorf("endpoint type %d: %+v", endpoint, resp)
			}
		}
	}
}

func TestDescribeLogDirsVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("one", 2)
	w.mustCreate("two", 1)
	for _, v := range versions(t, kmsg.DescribeLogDirs) {
		list := func(topics []kmsg.DescribeLogDirsRequestTopic) []string {
			t.Helper()
			q := at(kmsg.NewPtrDescribeLogDirsRequest(), v)
			q.Topics = topics
			resp := ask[*kmsg.DescribeLogDirsResponse](w, q)
			if len(resp.Dirs) != 1 || resp.Dirs[0].ErrorCode != 0 || resp.Dirs[0].Dir == "" || v >= 4 && (resp.Dirs[0].TotalBytes <= 0 || resp.Dirs[0].UsableBytes <= 0) {
				t.Fatalf("version %d: %+v", v, resp)
			}
			var out []string
			for _, topic := range resp.Dirs[0].Topics {
				for _, p := range topic.Partitions {
					out = append(out, fmt.Sprintf("%s-%d", topic.Topic, p.Partition))
					if p.OffsetLag != 0 || p.IsFuture {
						t.Errorf("version %d: %+v", v, p)
					}
				}
			}
			return out
		}
		for _, c := range []struct {
			topics []kmsg.DescribeLogDirsRequestTopic
			want   []string
		}{
			{nil, []string{"one-0", "one-1", "two-0"}},
			{[]kmsg.DescribeLogDirsRequestTopic{}, nil},
			{[]kmsg.DescribeLogDirsRequestTopic{{Topic: "one", Partitions: []int32{1, 9}}, {Topic: "nope", Partitions: []int32{0}}}, []string{"one-1"}},
		} {
			if got := list(c.topics); !slices.Equal(got, c.want) {
				t.Errorf("version %d: %v, want %v", v, got, c.want)
			}
		}
	}
}

func TestElectLeadersVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("ok", 2)
	for _, v := range versions(t, kmsg.ElectLeaders) {
		q := at(kmsg.NewPtrElectLeadersRequest(), v)
		q.TimeoutMillis = 10_000
		q.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: "ok", Partitions: []int32{1, 9}}, {Topic: "nope", Partitions: []int32{0}}}
		elect := func() string {
			resp := ask[*kmsg.ElectLeadersResponse](w, q)
			text := fmt.Sprint(resp.ErrorCode)
			for _, topic := range resp.Topics {
				for _, p := range topic.Partitions {
					text += fmt.Sprintf(" %s-%d:%d", topic.Topic, p.Partition, p.ErrorCode)
				}
			}
			return text
		}
		want := fmt.Sprintf("0 ok-1:%d ok-9:3 nope-0:3", kerr.ElectionNotNeeded.Code)
		if got := elect(); got != want {
			t.Errorf("version %d: %s", v, got)
		}
		if v >= 1 {
			if q.ElectionType = 1; elect() != want {
				t.Errorf("version %d: unclean", v)
			}
			if q.ElectionType = 2; elect() != "42 ok-1:42 ok-9:42 nope-0:42" {
				t.Errorf("version %d: type 2: %s", v, elect())
			}
			q.ElectionType = 0
		}
		q.Topics = nil
		all := ask[*kmsg.ElectLeadersResponse](w, q)
		if len(all.Topics) != 1 || all.Topics[0].Topic != "ok" || len(all.Topics[0].Partitions) != 0 {
			t.Errorf("version %d: all: %+v", v, all.Topics)
		}
	}
}

func TestReassignmentVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("ok", 2)
	for _, v := range versions(t, kmsg.AlterPartitionAssignments) {
		q := at(kmsg.NewPtrAlterPartitionAssignmentsRequest(), v)
		q.TimeoutMillis = 10_000
		type partition = kmsg.AlterPartitionAssignmentsRequestTopicPartition
		q.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{
			{Topic: "ok", Partitions: []partition{
				{Partition: 0, Replicas: []int32{1}},
				{Partition: 1},
				{Partition: 0, Replicas: []int32{}},
				{Partition: 0, Replicas: []int32{9}},
				{Partition: 0, Replicas: []int32{1, 1}},
				{Partition: 9, Replicas: []int32{1}},
			}},
			{Topic: "nope", Partitions: []partition{{Partition: 0, Replicas: []int32{1}}}},
		}
		resp := ask[*kmsg.AlterPartitionAssignmentsResponse](w, q)
		w.wantCode("reassign", resp.ErrorCode, nil)
		var got []string
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				got = append(got, fmt.Sprintf("%s-%d:%d", topic.Topic, p.Partition, p.ErrorCode))
			}
		}
		if want := []string{"ok-0:0", "ok-1:85", "ok-0:39", "ok-0:39", "ok-0:39", "ok-9:3", "nope-0:3"}; !slices.Equal(got, want) {
			t.Errorf("version %d: %v", v, got)
		}
		if v >= 1 && !resp.AllowReplicationFactorChange {
			t.Errorf("version %d: %+v", v, resp)
		}
	}
	for _, topics := range [][]kmsg.ListPartitionReassignmentsRequestTopic{nil, {{Topic: "ok", Partitions: []int32{0}}, {Topic: "nope", Partitions: []int32{0}}}} {
		q := kmsg.NewPtrListPartitionReassignmentsRequest()
		q.Topics = topics
		resp := ask[*kmsg.ListPartitionReassignmentsResponse](w, q)
		if w.wantCode("list", resp.ErrorCode, nil); len(resp.Topics) != 0 {
			t.Errorf("%+v", resp)
		}
	}
}

func TestTelemetry(t *testing.T) {
	w := open(t).wire()
	get := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	s := ask[*kmsg.GetTelemetrySubscriptionsResponse](w, get)
	w.wantCode("get", s.ErrorCode, nil)
	if s.ClientInstanceID == ([16]byte{}) || s.PushIntervalMillis != 300_000 || s.TelemetryMaxBytes != 1<<20 || !s.DeltaTemporality || len(s.RequestedMetrics) != 0 ||
		!slices.Equal(s.AcceptedCompressionTypes, []int8{4, 3, 1, 2}) {
		t.Errorf("%+v", s)
	}
	get.ClientInstanceID = s.ClientInstanceID
	w.wantCode("get at once", ask[*kmsg.GetTelemetrySubscriptionsResponse](w, get).ErrorCode, kerr.ThrottlingQuotaExceeded)
	push := func(change func(*kmsg.PushTelemetryRequest)) int16 {
		t.Helper()
		q := kmsg.NewPtrPushTelemetryRequest()
		q.ClientInstanceID, q.SubscriptionID = s.ClientInstanceID, s.SubscriptionID
		change(q)
		return ask[*kmsg.PushTelemetryResponse](w, q).ErrorCode
	}
	w.wantCode("without id", push(func(q *kmsg.PushTelemetryRequest) { q.ClientInstanceID = [16]byte{} }), kerr.InvalidRequest)
	w.wantCode("stranger", push(func(q *kmsg.PushTelemetryRequest) { q.ClientInstanceID = [16]byte{1, 2} }), kerr.UnknownSubscriptionID)
	w.wantCode("too large", push(func(q *kmsg.PushTelemetryRequest) { q.Metrics = make([]byte, 1<<20+1) }), kerr.TelemetryTooLarge)
	w.wantCode("again", push(func(*kmsg.PushTelemetryRequest) {}), kerr.ThrottlingQuotaExceeded)
	w.wantCode("goodbye", push(func(q *kmsg.PushTelemetryRequest) { q.Terminating = true }), nil)
	w.wantCode("after goodbye", push(func(*kmsg.PushTelemetryRequest) {}), kerr.InvalidRequest)

	other := ask[*kmsg.GetTelemetrySubscriptionsResponse](w, kmsg.NewPtrGetTelemetrySubscriptionsRequest())
	garbage := func(q *kmsg.PushTelemetryRequest) {
		q.ClientInstanceID, q.SubscriptionID, q.Metrics = other.ClientInstanceID, other.SubscriptionID, []byte("garbage")
	}
	w.wantCode("garbage", push(garbage), kerr.InvalidRecord)
	w.wantCode("unknown codec", push(func(q *kmsg.PushTelemetryRequest) {
		garbage(q)
		q.CompressionType, q.Terminating = 9, true
	}), kerr.UnsupportedCompressionType)
}
