package broker

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
	"moldau/broker/metadata"
	"moldau/broker/partition"
)

// The names are those of the exporter that most dashboards of consumers are made for; the last one is ours.
var (
	lagBrokers      = gauge("kafka_brokers", "Brokers of the cluster.")
	lagPartitions   = gauge("kafka_topic_partitions", "Partitions of a topic.", "topic")
	lagLeader       = gauge("kafka_topic_partition_leader", "The broker that leads a partition.", "topic", "partition")
	lagNewest       = gauge("kafka_topic_partition_current_offset", "First offset of a partition that consumers can't read yet.", "topic", "partition")
	lagOldest       = gauge("kafka_topic_partition_oldest_offset", "First offset of a partition.", "topic", "partition")
	lagReplicas     = gauge("kafka_topic_partition_replicas", "Replicas of a partition.", "topic", "partition")
	lagInSync       = gauge("kafka_topic_partition_in_sync_replica", "Replicas of a partition that are in sync.", "topic", "partition")
	lagPreferred    = gauge("kafka_topic_partition_leader_is_preferred", "1 when a partition is led by its preferred replica.", "topic", "partition")
	lagUnder        = gauge("kafka_topic_partition_under_replicated_partition", "1 when a partition has fewer replicas in sync than assigned.", "topic", "partition")
	lagMembers      = gauge("kafka_consumergroup_members", "Members of a group.", "consumergroup")
	lagCommitted    = gauge("kafka_consumergroup_current_offset", "What a group has committed for a partition.", "consumergroup", "topic", "partition")
	lagCommittedSum = gauge("kafka_consumergroup_current_offset_sum", "What a group has committed for the partitions of a topic, added up.", "consumergroup", "topic")
	lagOf           = gauge("kafka_consumergroup_lag", "Records of a partition that lie behind what a group has committed.", "consumergroup", "topic", "partition")
	lagSum          = gauge("kafka_consumergroup_lag_sum", "Records of a topic that lie behind what a group has committed.", "consumergroup", "topic")
	lagSeconds      = gauge("moldau_consumergroup_lag_seconds", "Age in seconds of the oldest record of a topic that lies behind what a group has committed.", "consumergroup", "topic")
)

// lagReads is how many batches one scrape looks at for their age; groups beyond it have no series in seconds.
const lagReads = 1000

// Lag collects how far groups are behind, for /metrics/lag. It answers for the groups coordinated here and the partitions led here, so
// that no series comes from two brokers.
func (n *Node) Lag() prometheus.Collector { return lagCollector{n} }

type lagCollector struct{ n *Node }

// Describe implements prometheus.Collector: nothing is promised, because series come and go with topics and groups.
func (lagCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c lagCollector) Collect(out chan<- prometheus.Metric) {
	s := lagScrape{n: c.n, out: out, reads: lagReads}
	s.topics()
	s.groups()
}

// lagScrape is one collection.
type lagScrape struct {
	n     *Node
	out   chan<- prometheus.Metric
	reads int // that are left
}

func (s *lagScrape) send(d *prometheus.Desc, v float64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s *lagScrape) topics() {
	img := s.n.Image()
	s.send(lagBrokers, float64(len(img.Brokers())))
	for t := range img.Topics() {
		for i, p := range t.Partitions {
			_, led, err := s.n.find(TopicRef{Name: t.Name}, int32(i))
			if err != nil {
				continue
			}
			if st := led.Status(); st.Leads {
				s.partition(t.Name, p, st)
			}
		}
	}
}

func (s *lagScrape) partition(topic string, p *metadata.Partition, st partition.Status) {
	if p.Index == 0 {
		t, _ := s.n.Image().Topic(topic)
		if t != nil {
			s.send(lagPartitions, float64(len(t.Partitions)), topic)
		}
	}
	index := strconv.Itoa(int(p.Index))
	for _, v := range []struct {
		d *prometheus.Desc
		v float64
	}{
		{lagLeader, float64(p.Leader)},
		{lagNewest, float64(st.HighWatermark)},
		{lagOldest, float64(st.LogStart)},
		{lagReplicas, float64(len(p.Replicas))},
		{lagInSync, float64(len(p.ISR))},
		{lagPreferred, float64(count(len(p.Replicas) > 0 && p.Replicas[0] == p.Leader))},
		{lagUnder, float64(count(len(p.ISR) < len(p.Replicas)))},
	} {
		s.send(v.d, v.v, topic, index)
	}
}

// groups tells of the groups that are coordinated here. What is being loaded is left out.
func (s *lagScrape) groups() {
	partitions := s.n.groups.Partitions()
	replies := make([]*coordinator.Reply[[]group.Committed], len(partitions))
	for i, p := range partitions {
		replies[i] = coordinator.Ask(s.n.groups, p,
			func(_ *coordinator.Turn, shard *group.Shard, reply *coordinator.Reply[[]group.Committed]) {
				reply.SendNow(shard.Committed())
			})
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupScrapeTimeout)
	defer cancel()
	for _, r := range replies {
		groups, err := r.Wait(ctx)
		if err != nil {
			continue
		}
		for _, g := range groups {
			id := label(g.Group)
			s.send(lagMembers, float64(g.Members), id)
			for topic, offsets := range g.Offsets {
				s.group(id, label(topic), offsets)
			}
		}
	}
}

func (s *lagScrape) group(id, topic string, offsets map[int32]int64) {
	var committed, lag int64
	var oldest float64
	led, aged := 0, 0
	for i, offset := range offsets {
		index := strconv.Itoa(int(i))
		committed += offset
		s.send(lagCommitted, float64(offset), id, topic, index)
		_, p, err := s.n.find(TopicRef{Name: topic}, i)
		if err != nil {
			continue
		}
		st := p.Status()
		if !st.Leads {
			continue
		}
		led++
		behind := max(st.HighWatermark-max(offset, st.LogStart), 0)
		lag += behind
		s.send(lagOf, float64(behind), id, topic, index)
		if age, ok := s.age(p, offset, behind); ok {
			aged++
			oldest = max(oldest, age)
		}
	}
	s.send(lagCommittedSum, float64(committed), id, topic)
	if led > 0 {
		s.send(lagSum, float64(lag), id, topic)
	}
	if led > 0 && aged == led {
		s.send(lagSeconds, oldest, id, topic)
	}
}

// age returns how many seconds ago the first record behind an offset was written. ok is false where that can't be learnt.
func (s *lagScrape) age(p *partition.Partition, offset, behind int64) (seconds float64, ok bool) {
	if behind == 0 {
		return 0, true
	}
	if s.reads--; s.reads < 0 {
		return 0, false
	}
	ms, ok, err := p.Log().TimestampAt(offset)
	if err != nil || !ok {
		return 0, false
	}
	return max(float64(s.n.now().UnixMilli()-ms)/1000, 0), true
}
