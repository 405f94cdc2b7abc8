package node

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/twmb/franz-go/pkg/kgo"
)

// dashboardNames are what the dashboards and alerts made for Apache Kafka and its exporters look for, as far as one node has it.
// Where two dialects are in the field both are here.
const dashboardNames = `
kafka_cluster_partition_atminisr kafka_cluster_partition_underminisr kafka_cluster_partition_underreplicated
kafka_controller_controllerstats_uncleanleaderelections_total kafka_controller_controllerstats_uncleanleaderelectionspersec
kafka_controller_kafkacontroller_activebrokercount kafka_controller_kafkacontroller_activecontrollercount
kafka_controller_kafkacontroller_fencedbrokercount kafka_controller_kafkacontroller_globalpartitioncount
kafka_controller_kafkacontroller_globaltopiccount kafka_controller_kafkacontroller_offlinepartitionscount
kafka_controller_kafkacontroller_preferredreplicaimbalancecount
kafka_coordinator_group_groupmetadatamanager_numgroups kafka_coordinator_group_groupmetadatamanager_numgroupscompletingrebalance
kafka_coordinator_group_groupmetadatamanager_numgroupsdead kafka_coordinator_group_groupmetadatamanager_numgroupsempty
kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance kafka_coordinator_group_groupmetadatamanager_numgroupsstable
kafka_coordinator_group_groupmetadatamanager_numoffsets
kafka_log_log_logendoffset kafka_log_log_logstartoffset kafka_log_log_numlogsegments kafka_log_log_size
kafka_log_logmanager_offlinelogdirectorycount
kafka_network_requestchannel_requestqueuesize kafka_network_requestchannel_responsequeuesize
kafka_network_requestmetrics_errors_total kafka_network_requestmetrics_errorspersec
kafka_network_requestmetrics_requests_total kafka_network_requestmetrics_requestspersec
kafka_network_requestmetrics_totaltimems kafka_network_requestmetrics_requestqueuetimems kafka_network_requestmetrics_localtimems
kafka_network_requestmetrics_remotetimems kafka_network_requestmetrics_throttletimems
kafka_network_requestmetrics_responsequeuetimems kafka_network_requestmetrics_responsesendtimems
kafka_network_socketserver_networkprocessoravgidle_percent kafka_network_socketserver_networkprocessoravgidlepercent
kafka_server_brokertopicmetrics_bytesin_total kafka_server_brokertopicmetrics_bytesinpersec
kafka_server_brokertopicmetrics_bytesout_total kafka_server_brokertopicmetrics_bytesoutpersec
kafka_server_brokertopicmetrics_failedfetchrequests_total kafka_server_brokertopicmetrics_failedfetchrequestspersec
kafka_server_brokertopicmetrics_failedproducerequests_total kafka_server_brokertopicmetrics_failedproducerequestspersec
kafka_server_brokertopicmetrics_messagesin_total kafka_server_brokertopicmetrics_messagesinpersec
kafka_server_brokertopicmetrics_replicationbytesin_total kafka_server_brokertopicmetrics_replicationbytesinpersec
kafka_server_brokertopicmetrics_replicationbytesout_total kafka_server_brokertopicmetrics_replicationbytesoutpersec
kafka_server_brokertopicmetrics_totalfetchrequests_total kafka_server_brokertopicmetrics_totalfetchrequestspersec
kafka_server_brokertopicmetrics_totalproducerequests_total kafka_server_brokertopicmetrics_totalproducerequestspersec
kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent
kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_oneminuterate
kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_total
kafka_server_kafkaserver_brokerstate
kafka_server_replicamanager_atminisrpartitioncount kafka_server_replicamanager_isrexpands_total
kafka_server_replicamanager_isrexpandspersec kafka_server_replicamanager_isrshrinks_total kafka_server_replicamanager_isrshrinkspersec
kafka_server_replicamanager_leadercount kafka_server_replicamanager_offlinereplicacount kafka_server_replicamanager_partitioncount
kafka_server_replicamanager_underminisrpartitioncount kafka_server_replicamanager_underreplicatedpartitions
kafka_server_socketservermetrics_connection_count
go_goroutines process_cpu_seconds_total moldau_build_info moldau_metrics_series_dropped`

const lagNames = `
kafka_brokers kafka_topic_partitions kafka_topic_partition_current_offset kafka_topic_partition_oldest_offset
kafka_topic_partition_leader kafka_topic_partition_leader_is_preferred kafka_topic_partition_replicas
kafka_topic_partition_in_sync_replica kafka_topic_partition_under_replicated_partition
kafka_consumergroup_members kafka_consumergroup_current_offset kafka_consumergroup_current_offset_sum
kafka_consumergroup_lag kafka_consumergroup_lag_sum moldau_consumergroup_lag_seconds`

// TestDashboardsFindTheirSeries reads both pages with Prometheus' own parser after some traffic.
func TestDashboardsFindTheirSeries(t *testing.T) {
	o, out := options(t.TempDir() + "/data")
	s := start(t, o, out)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.addresses["kafka"]), kgo.AllowAutoTopicCreation(), kgo.ConsumerGroup("readers"),
		kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range 2 {
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("one")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	fetches := cl.PollRecords(t.Context(), 1)
	if err := fetches.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cl.CommitRecords(t.Context(), fetches.Records()...); err != nil {
		t.Fatal(err)
	}
	wantFamilies(t, s, "/metrics", dashboardNames)
	wantFamilies(t, s, "/metrics/lag", lagNames)
}

func wantFamilies(t *testing.T, s *server, path, names string) {
	t.Helper()
	resp, err := http.Get("http://" + s.addresses["http"] + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for name := range strings.FieldsSeq(names) {
		if f := families[name]; len(f.GetMetric()) == 0 {
			t.Errorf("%s has no series of %s", path, name)
		}
	}
}
