package broker

import (
	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/partition"
)

var (
	imbalance      = gauge("kafka_controller_kafkacontroller_preferredreplicaimbalancecount", "Partitions of the cluster that their preferred replica does not lead.")
	brokerState    = gauge("kafka_server_kafkaserver_brokerstate", "What the broker does, by Kafka's numbers: 3 it runs, 7 it stops.")
	controllers    = gauge("kafka_controller_kafkacontroller_activecontrollercount", "1 on the broker that is the controller.")
	isrUnderMin    = gauge("kafka_cluster_partition_underminisr", "1 for a partition led here that has fewer replicas in sync than min.insync.replicas.", "topic", "partition")
	isrAtMin       = gauge("kafka_cluster_partition_atminisr", "1 for a partition led here that has just as many replicas in sync as min.insync.replicas asks, or all there are.", "topic", "partition")
	isrIncomplete  = gauge("kafka_cluster_partition_underreplicated", "1 for a partition led here that has fewer replicas in sync than assigned.", "topic", "partition")
	neverOnOneNode = []*prometheus.Desc{
		gauge("kafka_server_replicamanager_isrshrinkspersec", "Replicas that fell out of sync."),
		gauge("kafka_server_replicamanager_isrshrinks_total", "Replicas that fell out of sync."),
		gauge("kafka_server_replicamanager_isrexpandspersec", "Replicas that came into sync."),
		gauge("kafka_server_replicamanager_isrexpands_total", "Replicas that came into sync."),
		gauge("kafka_controller_controllerstats_uncleanleaderelectionspersec", "Elections of a leader that was not in sync."),
		gauge("kafka_controller_controllerstats_uncleanleaderelections_total", "Elections of a leader that was not in sync."),
	}
)

// The states of a broker, by Kafka's numbers.
const (
	stateRunning  = 3
	stateStopping = 7
)

// collectAlone tells what is always so where one broker is the cluster: alerts on it must find their series.
func (n *Node) collectAlone(out chan<- prometheus.Metric) {
	state := stateRunning
	if n.closing.Load() {
		state = stateStopping
	}
	out <- prometheus.MustNewConstMetric(brokerState, prometheus.GaugeValue, float64(state))
	out <- prometheus.MustNewConstMetric(controllers, prometheus.GaugeValue, 1)
	for _, d := range neverOnOneNode {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, 0)
	}
}

// collectISR tells of a partition's replicas, where it is led.
func collectISR(send func(*prometheus.Desc, float64, ...string), topic, index string, s partition.Status) {
	if !s.Leads {
		return
	}
	send(isrUnderMin, float64(count(s.UnderMinISR)), topic, index)
	send(isrAtMin, float64(count(s.AtMinISR)), topic, index)
	send(isrIncomplete, float64(count(s.InSync < s.Replicas)), topic, index)
}
