package broker

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/clientmetrics"
	"moldau/broker/configdef"
	"moldau/broker/metadata"
)

func TestDescribeCluster(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.NodeID = 3 })
	register(t, n, 8, true)
	if c := n.DescribeCluster(testCaller, false); len(c.Brokers) != 1 || c.Brokers[0].ID != 3 || c.ControllerID != 3 || c.ClusterID == "" {
		t.Errorf("%+v", c)
	}
	if c := n.DescribeCluster(testCaller, true); len(c.Brokers) != 2 || c.Brokers[1].ID != 8 || !c.Brokers[1].Fenced {
		t.Errorf("with fenced ones: %+v", c)
	}
}

// register puts another broker into the metadata.
func register(t *testing.T, n *testNode, id int32, fenced bool) {
	t.Helper()
	put := func(op metadata.Op) metadata.Rev {
		t.Helper()
		done, err := n.store.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{op}})
		must(t, err)
		return done.Rev
	}
	rev := put(metadata.Put(metadata.BrokerKey(id), metadata.Encode(&metadata.BrokerRecord{})))
	status := metadata.BrokerActive
	if fenced {
		status = metadata.BrokerFenced
	}
	rev = put(metadata.Put(metadata.BrokerStateKey(id), metadata.Encode(&metadata.BrokerStateRecord{Epoch: int64(rev), Status: status})))
	must(t, n.loader.WaitFor(t.Context(), rev))
}

func TestDescribeLogDirs(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.LogDirs, c.MetadataDir = []string{"/one", "/two"}, "/meta" })
	topic := n.topic("spread", 4)
	for i := range int32(4) {
		n.mustProduce(topic, i, plain(t, "x"))
	}
	dirs := n.DescribeLogDirs(testCaller, nil)
	if len(dirs) != 2 {
		t.Fatalf("%+v", dirs)
	}
	seen := 0
	for _, d := range dirs {
		if d.Err != nil || d.TotalBytes == 0 || len(d.Replicas) != 2 {
			t.Errorf("%+v", d)
		}
		for i, r := range d.Replicas {
			seen++
			if r.Size == 0 || r.OffsetLag != 0 || i > 0 && r.Partition < d.Replicas[i-1].Partition {
				t.Errorf("%s: %+v", d.Path, r)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d replicas", seen)
	}
	some := n.DescribeLogDirs(testCaller, []TopicPartition{{"spread", 2}, {"spread", 9}, {"nope", 0}})
	if len(some[0].Replicas)+len(some[1].Replicas) != 1 {
		t.Errorf("%+v", some)
	}
	if none := n.DescribeLogDirs(testCaller, []TopicPartition{}); len(none[0].Replicas)+len(none[1].Replicas) != 0 {
		t.Errorf("%+v", none)
	}
}

func TestElectLeaders(t *testing.T) {
	n := startNode(t)
	register(t, n, 2, false)
	made := n.create(NewTopic{Name: "pair", NumPartitions: -1, ReplicationFactor: -1, Assignments: []Assignment{{0, []int32{2, 1}}, {1, []int32{1, 2}}}}, false)
	must(t, made.Err)
	elect := func(kind int8, partitions []TopicPartition) string {
		t.Helper()
		text := ""
		for _, o := range n.ElectLeaders(t.Context(), testCaller, kind, partitions) {
			text += fmt.Sprintf("[%s-%d %v]", o.Topic, o.Partition, o.Err)
		}
		return text
	}
	one := []TopicPartition{{"pair", 1}, {"pair", 7}, {"nope", 0}}
	const rest = "[pair-7 No such partition as pair-7][nope-0 No such topic as nope]"
	for _, c := range []struct{ got, want string }{
		{elect(PreferredElection, one), "[pair-1 Leader election not needed for topic partition.]" + rest},
		{elect(UncleanElection, one), "[pair-1 Leader election not needed for topic partition.]" + rest},
		{elect(2, one[:1]), "[pair-1 Unknown election type 2]"},
		{elect(PreferredElection, nil), ""},
		{elect(UncleanElection, nil), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	// Broker 2 leads partition 0 but its preferred replica becomes another one: now there is something to elect.
	outcomes := n.AlterPartitionReassignments(t.Context(), testCaller, []Reassignment{{TopicPartition{"pair", 0}, []int32{1, 2}}}, true)
	must(t, outcomes[0].Err)
	if got := elect(PreferredElection, nil); got != "[pair-0 <nil>]" {
		t.Errorf("after the reassignment: %s", got)
	}
	if p, _ := n.Image().Partition("pair", 0); p.Leader != 1 {
		t.Errorf("leader %d", p.Leader)
	}
}

func TestReassignments(t *testing.T) {
	n := startNode(t)
	n.topic("ok", 2)
	register(t, n, 2, false)
	alter := func(partition int32, replicas []int32, factorMayChange bool) error {
		t.Helper()
		o := n.AlterPartitionReassignments(t.Context(), testCaller, []Reassignment{{TopicPartition{"ok", partition}, replicas}}, factorMayChange)
		if len(o) != 1 || o[0].TopicPartition != (TopicPartition{"ok", partition}) {
			t.Fatalf("%+v", o)
		}
		return o[0].Err
	}
	must(t, alter(0, []int32{1}, false))
	refused(t, "cancel nothing", alter(0, nil, true), ErrNoReassignmentInProgress, "No partition reassignment is in progress.")
	if err := alter(0, []int32{1, 2}, false); !errors.Is(err, ErrInvalidReplicationFactor) {
		t.Errorf("another factor: %v", err)
	}
	must(t, alter(0, []int32{1, 2}, true)) // broker 2 has to catch up first, which it never will
	list := func(partitions []TopicPartition) string {
		t.Helper()
		text := ""
		for _, p := range n.ListPartitionReassignments(testCaller, partitions) {
			text += fmt.Sprintf("[%s-%d %v +%v -%v]", p.Topic.Name, p.Index, p.Replicas, p.Adding, p.Removing)
		}
		return text
	}
	const going = "[ok-0 [1 2] +[2] -[]]"
	for _, c := range []struct{ got, want string }{
		{list(nil), going},
		{list([]TopicPartition{{"ok", 0}, {"ok", 0}, {"ok", 1}, {"nope", 0}}), going},
		{list([]TopicPartition{{"ok", 1}}), ""},
		{list([]TopicPartition{}), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	must(t, alter(0, nil, true))
	if got := list(nil); got != "" {
		t.Errorf("after the cancellation: %s", got)
	}
	if o := n.AlterPartitionReassignments(t.Context(), testCaller, nil, true); o != nil {
		t.Errorf("nothing asked: %+v", o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o := n.AlterPartitionReassignments(ctx, testCaller, []Reassignment{{TopicPartition{"ok", 0}, []int32{2, 1}}}, true); !errors.Is(o[0].Err, ErrTimedOut) {
		t.Errorf("too late: %v", o[0].Err)
	}
}

// received keeps the names of the metrics that a sink was given.
type received struct{ names []string }

func (r *received) Accept(_ clientmetrics.Client, metrics []clientmetrics.Metric, _ bool) {
	for _, m := range metrics {
		r.names = append(r.names, m.Name)
	}
}

func TestTelemetry(t *testing.T) {
	sink, registry := new(received), prometheus.NewRegistry()
	n := startNode(t, func(_ *Config, d *Deps) { d.ClientMetrics, d.Registerer = sink, registry })
	must(t, n.alter(ClientMetricsResource, "all", set("metrics", "a.,b.", "interval.ms", "1000", "match", "client_id=test")...))
	must(t, n.alter(ClientMetricsResource, "others", set("metrics", "c.", "match", "client_id=x")...))
	s, err := n.GetTelemetrySubscription(testCaller, [16]byte{})
	must(t, err)
	equal(t, "metrics", s.Metrics, []string{"a.", "b."})
	if s.PushInterval != time.Second || s.MaxBytes != 1<<20 || s.ClientInstanceID == [16]byte{} {
		t.Errorf("%+v", s)
	}
	push := TelemetryPush{ClientInstanceID: s.ClientInstanceID, SubscriptionID: s.SubscriptionID, Payload: gaugeNamed("a.b")}
	must(t, n.PushTelemetry(testCaller, push))
	equal(t, "received", sink.names, []string{"a.b"})
	if err := n.PushTelemetry(testCaller, push); !errors.Is(err, ErrThrottlingQuotaExceeded) {
		t.Errorf("at once again: %v", err)
	}

	// A change of the subscription reaches the client with its next request.
	must(t, n.alter(ClientMetricsResource, "all", op("metrics", configdef.Set, "*")))
	if err := n.PushTelemetry(testCaller, push); !errors.Is(err, ErrUnknownSubscriptionID) {
		t.Errorf("under the old subscription: %v", err)
	}
	s, err = n.GetTelemetrySubscription(testCaller, s.ClientInstanceID)
	must(t, err)
	equal(t, "metrics", s.Metrics, []string{"*"})
	push.SubscriptionID, push.Payload = s.SubscriptionID, []byte("garbage")
	if err := n.PushTelemetry(testCaller, push); !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("garbage: %v", err)
	}
	counted := map[string]float64{}
	families, err := registry.Gather()
	must(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			counted[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"moldau_client_metrics_pushes_total taken": 1, "moldau_client_metrics_pushes_total throttled": 1,
		"moldau_client_metrics_pushes_total unknown_subscription": 1, "moldau_client_metrics_pushes_total invalid_payload": 1,
		"moldau_client_metrics_points_total": 1, "moldau_client_metrics_instances": 1,
	} {
		if counted[name] != want {
			t.Errorf("%s is %v, want %v", name, counted[name], want)
		}
	}
}

// gaugeNamed is an OTLP MetricsData message with one gauge of one data point.
func gaugeNamed(name string) []byte {
	field := func(num byte, body []byte) []byte { return append([]byte{num<<3 | 2, byte(len(body))}, body...) }
	metric := append(field(1, []byte(name)), field(5, field(1, nil))...)
	return field(1, field(2, field(2, metric)))
}
