package broker

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/metadata"
	"moldau/broker/partition"
	"moldau/broker/storage"
)

// metrics counts what happens to logs, and tells the state of partitions, topics and brokers when it is asked. The names
// are those that dashboards for Apache Kafka use; ours begin with moldau_.
type metrics struct {
	node atomic.Pointer[Node] // set once the node is complete

	flushes    prometheus.Histogram
	flushFiles prometheus.Counter
	rolled     prometheus.Counter
	deleted    prometheus.Counter
	freed      prometheus.Counter
	cutBytes   prometheus.Counter
	movedBytes prometheus.Counter
	noSpace    prometheus.Counter

	mu      sync.Mutex
	offline map[string]struct{} // log directories
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		flushes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moldau_log_flush_seconds", Help: "Time of one round of a log directory's flusher.",
			Buckets: prometheus.ExponentialBuckets(50e-6, 2.5, 12),
		}),
		flushFiles: counter("moldau_log_flushed_files_total", "Files made durable by flushers."),
		rolled:     counter("moldau_log_segments_rolled_total", "Segments begun."),
		deleted:    counter("moldau_log_segments_deleted_total", "Segments let go by retention and DeleteRecords."),
		freed:      counter("moldau_log_segments_deleted_bytes_total", "Bytes of segments let go by retention and DeleteRecords."),
		cutBytes:   counter("moldau_log_recovery_cut_bytes_total", "Bytes that recovery took off the ends of logs."),
		movedBytes: counter("moldau_log_recovery_moved_bytes_total", "Bytes of whole batches behind a damaged one that recovery moved to .cut files."),
		noSpace:    counter("moldau_log_no_space_total", "Appends refused because a log directory's file system had no space left for records."),
		offline:    map[string]struct{}{},
	}
}

var _ storage.Metrics = (*metrics)(nil)

// Flushed implements storage.Metrics.
func (m *metrics) Flushed(_ string, files int, took time.Duration) {
	m.flushes.Observe(took.Seconds())
	m.flushFiles.Add(float64(files))
}

// SegmentRolled implements storage.Metrics.
func (m *metrics) SegmentRolled() { m.rolled.Inc() }

// SegmentsDeleted implements storage.Metrics.
func (m *metrics) SegmentsDeleted(n int, bytes int64) {
	m.deleted.Add(float64(n))
	m.freed.Add(float64(bytes))
}

// RecoveryCut implements storage.Metrics.
func (m *metrics) RecoveryCut(_ storage.TopicPartition, cut, moved int64) {
	m.cutBytes.Add(float64(cut))
	m.movedBytes.Add(float64(moved))
}

// NoSpace implements storage.Metrics.
func (m *metrics) NoSpace(string) { m.noSpace.Inc() }

// DirOffline implements storage.Metrics.
func (m *metrics) DirOffline(dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offline[dir] = struct{}{}
}

func (m *metrics) offlineDirs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.offline)
}

// counters returns what the library keeps for us.
func (m *metrics) counters() []prometheus.Collector {
	return []prometheus.Collector{m.flushes, m.flushFiles, m.rolled, m.deleted, m.freed, m.cutBytes, m.movedBytes, m.noSpace}
}

// Describe implements prometheus.Collector: nothing is promised, so that series may carry a topic or not.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// gauge describes a number that is computed when it is asked for.
func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	partitionCount   = gauge("kafka_server_replicamanager_partitioncount", "Partitions with a replica on this broker.")
	leaderCount      = gauge("kafka_server_replicamanager_leadercount", "Partitions that this broker leads.")
	underReplicated  = gauge("kafka_server_replicamanager_underreplicatedpartitions", "Partitions led here with fewer replicas in sync than assigned.")
	underMinISR      = gauge("kafka_server_replicamanager_underminisrpartitioncount", "Partitions led here with fewer replicas in sync than min.insync.replicas.")
	atMinISR         = gauge("kafka_server_replicamanager_atminisrpartitioncount", "Partitions led here with just as many replicas in sync as min.insync.replicas asks, or all there are.")
	offlineReplicas  = gauge("kafka_server_replicamanager_offlinereplicacount", "Replicas of this broker that serve nothing.")
	offlineLogDirs   = gauge("kafka_log_logmanager_offlinelogdirectorycount", "Log directories taken offline by an error.")
	topicCount       = gauge("kafka_controller_kafkacontroller_globaltopiccount", "Topics of the cluster.")
	globalPartitions = gauge("kafka_controller_kafkacontroller_globalpartitioncount", "Partitions of the cluster.")
	offlineLeaders   = gauge("kafka_controller_kafkacontroller_offlinepartitionscount", "Partitions of the cluster without a leader.")
	activeBrokers    = gauge("kafka_controller_kafkacontroller_activebrokercount", "Brokers of the cluster that are not fenced.")
	fencedBrokers    = gauge("kafka_controller_kafkacontroller_fencedbrokercount", "Brokers of the cluster that are fenced.")
	openLogFiles     = gauge("moldau_log_open_files", "Segment and index files held open.")
	unflushedLogs    = gauge("moldau_log_unflushed_logs", "Logs with records that await a flush.")
	readOnlyLogs     = gauge("moldau_log_read_only_logs", "Logs that are damaged and take no writes.")
	logDirFree       = gauge("moldau_log_dir_free_bytes", "Free bytes of the file system of a log directory.", "dir")
	logDirTotal      = gauge("moldau_log_dir_total_bytes", "Size of the file system of a log directory in bytes.", "dir")
	logSegments      = gauge("kafka_log_log_numlogsegments", "Segments of a partition's log.", "topic", "partition")
	logSize          = gauge("kafka_log_log_size", "Bytes of a partition's log.", "topic", "partition")
	logStartOffset   = gauge("kafka_log_log_logstartoffset", "First offset of a partition.", "topic", "partition")
	logEndOffset     = gauge("kafka_log_log_logendoffset", "Offset that the next record of a partition gets.", "topic", "partition")
)

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	n := m.node.Load()
	if n == nil {
		return
	}
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	var total, led, lacking, underMin, atMin, offline int
	for t := range n.partitions.Topics() {
		for i, p := range t.Partitions() {
			if p == nil {
				continue
			}
			s := p.Status()
			total++
			led += count(s.Leads)
			lacking += count(s.Leads && s.InSync < s.Replicas)
			underMin += count(s.Leads && s.UnderMinISR)
			atMin += count(s.Leads && s.AtMinISR)
			offline += count(s.Err != nil)
			index := strconv.Itoa(i)
			collectLog(send, p, t.Name, index, s)
			collectISR(send, t.Name, index, s)
		}
	}
	send(partitionCount, float64(total))
	send(leaderCount, float64(led))
	send(underReplicated, float64(lacking))
	send(underMinISR, float64(underMin))
	send(atMinISR, float64(atMin))
	send(offlineReplicas, float64(offline))
	send(offlineLogDirs, float64(m.offlineDirs()))
	stats := n.engine.Stats()
	send(openLogFiles, float64(stats.OpenFiles))
	send(unflushedLogs, float64(stats.Unflushed))
	send(readOnlyLogs, float64(stats.ReadOnly))
	collectCleaner(out, n.engine.CleanerStats())
	for _, d := range n.engine.Dirs() {
		if d.Usable >= 0 {
			send(logDirFree, float64(d.Usable), d.Path)
			send(logDirTotal, float64(d.Total), d.Path)
		}
	}
	collectCluster(send, n.Image())
	n.collectAlone(out)
	n.collectGroups(send)
}

func collectLog(send func(*prometheus.Desc, float64, ...string), p *partition.Partition, topic, index string, s partition.Status) {
	if p.Log() == nil {
		return
	}
	send(logSize, float64(p.Log().Size()), topic, index)
	send(logSegments, float64(p.Log().Segments()), topic, index)
	send(logStartOffset, float64(s.LogStart), topic, index)
	send(logEndOffset, float64(s.LogEnd), topic, index)
}

func collectCluster(send func(*prometheus.Desc, float64, ...string), img *metadata.Image) {
	leaderless, fenced, displaced := 0, 0, 0
	for t := range img.Topics() {
		for _, p := range t.Partitions {
			leaderless += count(p.Leader == metadata.NoLeader)
			displaced += count(len(p.Replicas) > 0 && p.Leader != p.Replicas[0])
		}
	}
	for _, b := range img.Brokers() {
		fenced += count(b.Fenced)
	}
	send(topicCount, float64(img.TopicCount()))
	send(globalPartitions, float64(img.PartitionCount()))
	send(offlineLeaders, float64(leaderless))
	send(imbalance, float64(displaced))
	send(activeBrokers, float64(len(img.Brokers())-fenced))
	send(fencedBrokers, float64(fenced))
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
