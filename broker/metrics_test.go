package broker

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"moldau/broker/coordinator"
)

// scrape gathers collectors, writes what they tell as a scrape would be answered, and reads that with Prometheus' own parser.
func scrape(t *testing.T, collectors ...prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	for _, c := range collectors {
		must(t, registry.Register(c))
	}
	families, err := registry.Gather()
	must(t, err)
	var text bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&text, f)
		must(t, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(&text)
	must(t, err)
	values := map[string]float64{}
	for name, f := range parsed {
		if f.GetHelp() == "" || f.GetType() == dto.MetricType_UNTYPED {
			t.Errorf("%s has no help or no type", name)
		}
		for _, m := range f.GetMetric() {
			values[name+labelText(m)] = valueOf(m)
		}
	}
	return values
}

func labelText(m *dto.Metric) string {
	var pairs []string
	for _, l := range m.GetLabel() {
		pairs = append(pairs, l.GetName()+"="+l.GetValue())
	}
	if len(pairs) == 0 {
		return ""
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ",") + "}"
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetHistogram() != nil:
		return float64(m.GetHistogram().GetSampleCount())
	}
	return m.GetGauge().GetValue()
}

func wantSeries(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if v, ok := got[name]; !ok || v != want[name] {
			t.Errorf("%s is %v (%v), want %v", name, v, ok, want[name])
		}
	}
}

// metricsOf returns the collector that the node registers for what it is asked about.
func metricsOf(n *testNode) prometheus.Collector {
	m := newMetrics()
	m.node.Store(n.Node)
	return m
}

// TestMetricsOfOneNode: the names that dashboards and alerts of Apache Kafka look for have series from the start, with the values
// that are true of one node.
func TestMetricsOfOneNode(t *testing.T) {
	n := startNode(t)
	ref := n.topic("orders", 2)
	n.mustProduce(ref, 0, plain(t, "a", "b"))
	got := scrape(t, metricsOf(n))
	wantSeries(t, got, map[string]float64{
		"kafka_controller_kafkacontroller_activecontrollercount":               1,
		"kafka_controller_kafkacontroller_activebrokercount":                   1,
		"kafka_controller_kafkacontroller_fencedbrokercount":                   0,
		"kafka_controller_kafkacontroller_globaltopiccount":                    1,
		"kafka_controller_kafkacontroller_globalpartitioncount":                2,
		"kafka_controller_kafkacontroller_offlinepartitionscount":              0,
		"kafka_controller_kafkacontroller_preferredreplicaimbalancecount":      0,
		"kafka_controller_controllerstats_uncleanleaderelectionspersec":        0,
		"kafka_server_kafkaserver_brokerstate":                                 3,
		"kafka_server_replicamanager_partitioncount":                           2,
		"kafka_server_replicamanager_leadercount":                              2,
		"kafka_server_replicamanager_underreplicatedpartitions":                0,
		"kafka_server_replicamanager_underminisrpartitioncount":                0,
		"kafka_server_replicamanager_atminisrpartitioncount":                   2,
		"kafka_server_replicamanager_offlinereplicacount":                      0,
		"kafka_server_replicamanager_isrshrinkspersec":                         0,
		"kafka_server_replicamanager_isrexpands_total":                         0,
		"kafka_cluster_partition_underminisr{partition=0,topic=orders}":        0,
		"kafka_cluster_partition_atminisr{partition=1,topic=orders}":           1,
		"kafka_cluster_partition_underreplicated{partition=0,topic=orders}":    0,
		"kafka_log_log_logstartoffset{partition=0,topic=orders}":               0,
		"kafka_log_log_logendoffset{partition=0,topic=orders}":                 2,
		"kafka_log_log_numlogsegments{partition=0,topic=orders}":               1,
		"kafka_log_log_size{partition=1,topic=orders}":                         0,
		"kafka_log_logmanager_offlinelogdirectorycount":                        0,
		"kafka_coordinator_group_groupmetadatamanager_numgroups":               0,
		"kafka_coordinator_group_groupmetadatamanager_numgroupsdead":           0,
		"kafka_coordinator_group_groupmetadatamanager_numgroupsstable":         0,
		"kafka_server_group_coordinator_metrics_group_count{protocol=classic}": 0,
		"moldau_log_dir_free_bytes{dir=/node/log}":                             1 << 40,
	})
	if got["kafka_log_log_size{partition=0,topic=orders}"] == 0 {
		t.Error("a log with records has no size")
	}
}

// TestLag: how far groups are behind, per partition and per topic, in records and in seconds. Groups and topics that have gone take
// their series with them.
func TestLag(t *testing.T) {
	n := startNode(t)
	n.coordinateGroups()
	ref := n.topic("orders", 2)
	n.mustProduce(ref, 0, plain(t, "a", "b", "c"))
	n.mustProduce(ref, 0, plain(t, "d"))
	n.commitOffset("billing", "orders", 3)
	n.commitOffset("done", "orders", 4)
	n.setNow(testStart.Add(90 * time.Second))
	got := scrape(t, n.Lag())
	wantSeries(t, got, map[string]float64{
		"kafka_brokers":                        1,
		"kafka_topic_partitions{topic=orders}": 2,
		"kafka_topic_partition_current_offset{partition=0,topic=orders}":                     4,
		"kafka_topic_partition_oldest_offset{partition=0,topic=orders}":                      0,
		"kafka_topic_partition_leader{partition=0,topic=orders}":                             1,
		"kafka_topic_partition_replicas{partition=1,topic=orders}":                           1,
		"kafka_topic_partition_in_sync_replica{partition=1,topic=orders}":                    1,
		"kafka_topic_partition_leader_is_preferred{partition=1,topic=orders}":                1,
		"kafka_topic_partition_under_replicated_partition{partition=1,topic=orders}":         0,
		"kafka_consumergroup_members{consumergroup=billing}":                                 0,
		"kafka_consumergroup_current_offset{consumergroup=billing,partition=0,topic=orders}": 3,
		"kafka_consumergroup_current_offset_sum{consumergroup=billing,topic=orders}":         3,
		"kafka_consumergroup_lag{consumergroup=billing,partition=0,topic=orders}":            1,
		"kafka_consumergroup_lag_sum{consumergroup=billing,topic=orders}":                    1,
		"moldau_consumergroup_lag_seconds{consumergroup=billing,topic=orders}":               90,
		"kafka_consumergroup_lag{consumergroup=done,partition=0,topic=orders}":               0,
		"moldau_consumergroup_lag_seconds{consumergroup=done,topic=orders}":                  0,
	})
	for _, d := range n.DeleteTopics(t.Context(), testCaller, []TopicRef{ref}) {
		must(t, d.Err)
	}
	for name := range scrape(t, n.Lag()) {
		if strings.Contains(name, "kafka_consumergroup_lag") || strings.Contains(name, "topic=orders") && strings.HasPrefix(name, "kafka_topic") {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestMetricsOfHostileNames: the id of a group is any bytes. Prometheus takes UTF-8 only, and its library panics at anything else.
func TestMetricsOfHostileNames(t *testing.T) {
	n := startNode(t)
	n.coordinateGroups()
	ref := n.topic("orders", 1)
	n.mustProduce(ref, 0, plain(t, "a"))
	id := "bad\xff\"\n"
	n.commitOffset(id, "orders", 0)
	join := &JoinGroupRequest{
		Group: id, SessionTimeout: time.Minute, RebalanceTimeout: time.Minute, ProtocolType: "consumer",
		Protocols: []GroupProtocol{{Name: "range"}},
	}
	joined, err := settled(n, func() *coordinator.Reply[JoinGroupReply] { return n.JoinGroup(testCaller, join) })
	must(t, err)
	if joined.MemberID == "" {
		t.Fatalf("not a member: %+v", joined)
	}
	const shown = "bad\\xff\"\n"
	wantSeries(t, scrape(t, metricsOf(n)), map[string]float64{"moldau_group_members{group=" + shown + "}": 1})
	wantSeries(t, scrape(t, n.Lag()), map[string]float64{
		"kafka_consumergroup_members{consumergroup=" + shown + "}":                      1,
		"kafka_consumergroup_lag{consumergroup=" + shown + ",partition=0,topic=orders}": 1,
	})
}
