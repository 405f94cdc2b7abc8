package kafka

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// adminSeeds are requests that ask for something.
func adminSeeds() []kmsg.Request {
	value, name := "5", "seed"
	create := createRequest("seed", "a b")
	create.Topics[0].Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "retention.ms", Value: &value}}
	create.Topics[1].ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: []int32{1}}}
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.TopicNames, del.Topics = []string{"gone"}, []kmsg.DeleteTopicsRequestTopic{{Topic: &name}}
	records := kmsg.NewPtrDeleteRecordsRequest()
	records.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "seed", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: -1}}}}
	describe := kmsg.NewPtrDescribeConfigsRequest()
	describe.IncludeSynonyms, describe.IncludeDocumentation = true, true
	alter, incremental := kmsg.NewPtrAlterConfigsRequest(), kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, t := range []kmsg.ConfigResourceType{2, 4, 8, 16, 32} {
		describe.Resources = append(describe.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: t, ResourceName: "1"})
		alter.Resources = append(alter.Resources, kmsg.AlterConfigsRequestResource{
			ResourceType: t, ResourceName: "1", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "log.roll.ms", Value: &value}},
		})
		incremental.Resources = append(incremental.Resources, kmsg.IncrementalAlterConfigsRequestResource{
			ResourceType: t, ResourceName: "seed", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "match", Op: 2, Value: &value}},
		})
	}
	parts := kmsg.NewPtrCreatePartitionsRequest()
	parts.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "seed", Count: 2}}
	elect := kmsg.NewPtrElectLeadersRequest()
	elect.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: "seed", Partitions: []int32{0}}}
	reassign := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	reassign.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{
		Topic: "seed", Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Replicas: []int32{1}}, {Partition: 1}},
	}}
	push := kmsg.NewPtrPushTelemetryRequest()
	push.ClientInstanceID, push.Metrics = [16]byte{1}, []byte("not OTLP")
	page := kmsg.NewPtrDescribeTopicPartitionsRequest()
	page.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "seed"}}
	page.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: "seed", Partition: 1}
	return []kmsg.Request{
		create, del, records, describe, alter, incremental, parts, elect, reassign, push, page, kmsg.NewPtrListPartitionReassignmentsRequest(),
		kmsg.NewPtrDescribeClusterRequest(), kmsg.NewPtrDescribeLogDirsRequest(), kmsg.NewPtrGetTelemetrySubscriptionsRequest(),
		kmsg.NewPtrListConfigResourcesRequest(),
	}
}

// FuzzAdminRequests gives any bytes to the handlers that change and describe the cluster, on a real node: each answers in
// the version it was asked in, or hangs up, and none takes long.
func FuzzAdminRequests(f *testing.F) {
	for _, q := range adminSeeds() {
		for v := range q.MaxVersion() + 1 {
			q.SetVersion(v)
			f.Add(q.Key(), v, q.AppendTo(nil))
		}
	}
	d := open(f, func(n *broker.Config, _ *Config) { n.Durability, n.MaxPartitions = broker.Relaxed, 40 })
	ours, theirs := net.Pipe()
	f.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	c := d.srv.newConn(theirs, listener{"PLAINTEXT", "PLAINTEXT"})
	caller := &broker.Caller{Listener: "PLAINTEXT"}
	f.Fuzz(func(t *testing.T, key, version int16, body []byte) {
		a := d.srv.api(key)
		if a == nil || !slices.ContainsFunc(adminSeeds(), func(q kmsg.Request) bool { return q.Key() == key }) || version < a.min || version > a.max {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		reply := a.handle(c, ctx, &request{api: a, version: version, caller: caller, body: body})
		if ctx.Err() != nil {
			t.Fatalf("%s version %d took too long", a.name, version)
		}
		if _, hungUp := reply.(closing); hungUp {
			return
		}
		var out response
		if err := reply.encode(&out); err != nil {
			t.Fatalf("%s version %d: %v", a.name, version, err)
		}
		resp := a.key.Response()
		resp.SetVersion(version)
		if err := resp.ReadFrom(out.bytes); err != nil {
			t.Fatalf("%s version %d: the answer cannot be read: %v", a.name, version, err)
		}
	})
}
