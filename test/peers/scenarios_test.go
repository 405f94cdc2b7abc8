//go:build peers

package peers

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var scenarios = []scenario{
	{"create topics", createTopics},
	{"metadata", metadata},
	{"produce", produceAnswers},
	{"idempotent produce", idempotentProduce},
	{"fetch", fetchAnswers},
	{"fetch session", fetchSession},
	{"list offsets", listOffsets},
	{"offset for leader epoch", offsetForLeaderEpoch},
	{"describe configs", describeConfigs},
	{"alter configs", alterConfigs},
	{"create partitions", createPartitions},
	{"delete records", deleteRecords},
	{"delete topics", deleteTopics},
	{"cluster", describeCluster},
	{"producers", producers},
	{"leaders and reassignment", leadersAndReassignment},
}

func createTopics(s *session) {
	versions(2, 7, func(v int16) {
		ask := func(label string, topics ...kmsg.CreateTopicsRequestTopic) {
			req := kmsg.NewPtrCreateTopicsRequest()
			req.TimeoutMillis, req.Topics = 10_000, topics
			s.ask("CreateTopics "+label, req, v)
		}
		ask("plain", newTopic(name("plain", v), 3, 1, "retention.ms", "60000"))
		ask("exists", newTopic(name("plain", v), 3, 1))
		ask("bad name", newTopic("a b", 1, 1))
		ask("dots", newTopic("..", 1, 1))
		ask("empty name", newTopic("", 1, 1))
		ask("long name", newTopic(strings.Repeat("x", 250), 1, 1))
		ask("no partitions", newTopic(name("none", v), 0, 1))
		ask("two replicas", newTopic(name("two", v), 1, 2))
		ask("no replicas", newTopic(name("zero", v), 1, 0))
		ask("unknown config", newTopic(name("unk", v), 1, 1, "no.such.config", "1"))
		ask("bad value", newTopic(name("bad", v), 1, 1, "retention.ms", "soon"))
		ask("bad policy", newTopic(name("pol", v), 1, 1, "cleanup.policy", "shred"))
		ask("twice", newTopic(name("dup", v), 1, 1), newTopic(name("dup", v), 1, 1))
		ask("collision", newTopic(name("a.b", v), 1, 1), newTopic(name("a_b", v), 1, 1))
		ask("none")
		if v >= 4 {
			ask("defaults", newTopic(name("default", v), -1, -1))
		}
		assigned := newTopic(name("assigned", v), -1, -1)
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = 0, []int32{1}
		assigned.ReplicaAssignment = append(assigned.ReplicaAssignment, a)
		ask("assignment", assigned)
		assigned.Topic, assigned.NumPartitions, assigned.ReplicationFactor = name("both", v), 1, 1
		ask("assignment and counts", assigned)
		a.Replicas = []int32{7}
		assigned = newTopic(name("unknown-broker", v), -1, -1)
		assigned.ReplicaAssignment = append(assigned.ReplicaAssignment, a)
		ask("unknown broker", assigned)
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis, req.ValidateOnly = 10_000, true
		req.Topics = append(req.Topics, newTopic(name("validate", v), 2, 1))
		s.ask("CreateTopics validate only", req, v)
	})
}

func metadata(s *session) {
	id := s.create("meta", 3)
	versions(0, 13, func(v int16) {
		ask := func(label, topic string, id [16]byte) {
			req := kmsg.NewPtrMetadataRequest()
			req.AllowAutoTopicCreation = false
			req.IncludeTopicAuthorizedOperations, req.IncludeClusterAuthorizedOperations = true, true
			t := kmsg.NewMetadataRequestTopic()
			if topic != "" {
				t.Topic = kmsg.StringPtr(topic)
			}
			t.TopicID = id
			req.Topics = append(req.Topics, t)
			s.ask("Metadata "+label, req, v)
		}
		ask("topic", "meta", [16]byte{})
		if v >= 4 {
			ask("missing", "meta-missing", [16]byte{})
			ask("bad name", "a b", [16]byte{})
		}
		if v >= 12 {
			ask("id", "", id)
			ask("missing id", "", [16]byte{1, 2, 3})
		}
		if v >= 1 {
			req := kmsg.NewPtrMetadataRequest()
			req.Topics = []kmsg.MetadataRequestTopic{}
			s.ask("Metadata no topics", req, v)
		}
	})
}

func produceAnswers(s *session) {
	now := s.clock
	versions(3, 13, func(v int16) {
		topic, compacted := name("produce", v), name("produce-compact", v)
		id := s.create(topic, 2, "max.message.bytes", "1000")
		cid := s.create(compacted, 1, "cleanup.policy", "compact")
		aid := s.create(topic+"-append", 1, "message.timestamp.type", "LogAppendTime")
		bid := s.create(topic+"-bounds", 1, "message.timestamp.before.max.ms", "1000", "message.timestamp.after.max.ms", "1000")
		ask := func(label, topic string, id [16]byte, partition int32, acks int16, raw []byte) {
			s.ask("Produce "+label, produce(topic, id, partition, acks, raw), v)
		}
		three := batch{values: []string{"a", "b", "c"}, timestamp: now}
		ask("acks all", topic, id, 0, -1, three.bytes())
		ask("acks one", topic, id, 0, 1, three.bytes())
		ask("acks two", topic, id, 0, 2, three.bytes())
		ask("append time", topic+"-append", aid, 0, -1, three.bytes())
		ask("unknown topic", "nowhere", [16]byte{9}, 0, -1, three.bytes())
		ask("unknown partition", topic, id, 5, -1, three.bytes())
		ask("too large", topic, id, 0, -1, batch{values: []string{strings.Repeat("x", 2000)}, timestamp: now}.bytes())
		ask("bad crc", topic, id, 0, -1, batch{values: []string{"a"}, timestamp: now, badCRC: true}.bytes())
		ask("bad count", topic, id, 0, -1, batch{values: []string{"a", "b"}, timestamp: now, count: 5}.bytes())
		ask("bad magic", topic, id, 0, -1, batch{values: []string{"a"}, timestamp: now, magic: 7}.bytes())
		ask("old magic", topic, id, 0, -1, batch{values: []string{"a"}, timestamp: now, magic: 1}.bytes())
		ask("two batches", topic, id, 0, -1, append(three.bytes(), three.bytes()...))
		ask("control batch", topic, id, 0, -1, batch{values: []string{"a"}, timestamp: now, attributes: 0x20}.bytes())
		ask("compacted without key", compacted, cid, 0, -1, batch{values: []string{"a", "b"}, noKey: true, timestamp: now}.bytes())
		ask("compacted with key", compacted, cid, 0, -1, three.bytes())
		ask("too old", topic+"-bounds", bid, 0, -1, batch{values: []string{"a"}, timestamp: now - 3_600_000}.bytes())
		ask("too new", topic+"-bounds", bid, 0, -1, batch{values: []string{"a"}, timestamp: now + 3_600_000}.bytes())
		ask("truncated", topic, id, 0, -1, three.bytes()[:40])
		ask("empty", topic, id, 0, -1, []byte{})
	})
}

func idempotentProduce(s *session) {
	s.create("idem", 1)
	init := kmsg.NewPtrInitProducerIDRequest()
	s.until("a producer id", func() bool { return s.quiet(init, 4).(*kmsg.InitProducerIDResponse).ErrorCode == 0 })
	var pid int64
	var epoch int16
	versions(0, 5, func(v int16) {
		resp := s.ask("InitProducerId", init, v).(*kmsg.InitProducerIDResponse)
		pid, epoch = resp.ProducerID, resp.ProducerEpoch
	})
	ask := func(label string, epoch int16, sequence int32) {
		raw := batch{values: []string{"a", "b"}, timestamp: s.clock, idempotent: true, pid: pid, epoch: epoch, sequence: sequence}.bytes()
		s.ask("Produce idempotent "+label, produce("idem", [16]byte{}, 0, -1, raw), 9)
	}
	ask("first", epoch, 0)
	ask("second", epoch, 2)
	ask("duplicate", epoch, 2)
	ask("older duplicate", epoch, 0)
	ask("gap", epoch, 10)
	ask("next", epoch, 4)
	for seq := int32(6); seq < 20; seq += 2 {
		ask("run", epoch, seq)
	}
	ask("duplicate out of the window", epoch, 0)
	ask("new epoch, late start", epoch+1, 5)
	ask("new epoch", epoch+1, 0)
	ask("old epoch", epoch, 20)
	raw := batch{values: []string{"a"}, timestamp: s.clock, idempotent: true, pid: pid + 1_000_000, epoch: 0, sequence: 7}.bytes()
	s.ask("Produce idempotent unknown producer", produce("idem", [16]byte{}, 0, -1, raw), 9)
	describe := kmsg.NewPtrDescribeProducersRequest()
	t := kmsg.NewDescribeProducersRequestTopic()
	t.Topic, t.Partitions = "idem", []int32{0, 3}
	describe.Topics = append(describe.Topics, t)
	if s.clock > 0 {
		s.ask("DescribeProducers", describe, 0)
	}
}

func fetchAnswers(s *session) {
	id := s.create("fetch", 2)
	for range 3 {
		s.write("fetch", batch{values: []string{"a", "b", "c"}, timestamp: s.clock})
	}
	versions(4, 18, func(v int16) {
		s.ask("Fetch start", fetch("fetch", id, 0), v)
		s.ask("Fetch inside a batch", fetch("fetch", id, 4), v)
		s.ask("Fetch end", fetch("fetch", id, 9), v)
		s.ask("Fetch beyond", fetch("fetch", id, 10), v)
		s.ask("Fetch below", fetch("fetch", id, -5), v)
		s.ask("Fetch unknown", fetch("nowhere", [16]byte{7}, 0), v)
		small := fetch("fetch", id, 0)
		small.Topics[0].Partitions[0].PartitionMaxBytes, small.MaxBytes = 1, 1
		s.ask("Fetch one byte", small, v)
		part := fetch("fetch", id, 0)
		part.Topics[0].Partitions[0].Partition = 9
		s.ask("Fetch unknown partition", part, v)
		committed := fetch("fetch", id, 0)
		committed.IsolationLevel = 1
		s.ask("Fetch committed", committed, v)
		if v >= 9 {
			epoch := fetch("fetch", id, 0)
			epoch.Topics[0].Partitions[0].CurrentLeaderEpoch = 99
			s.ask("Fetch unknown epoch", epoch, v)
		}
		if v >= 12 {
			diverging := fetch("fetch", id, 9)
			diverging.Topics[0].Partitions[0].LastFetchedEpoch = 0
			s.ask("Fetch last fetched epoch", diverging, v)
		}
	})
}

func fetchSession(s *session) {
	id := s.create("session", 2)
	versions(7, 18, func(v int16) {
		s.write("session", batch{values: []string{"a"}, timestamp: s.clock})
		full := fetch("session", id, 0)
		full.SessionEpoch = 0
		resp := s.quiet(full, v).(*kmsg.FetchResponse)
		if resp.SessionID == 0 {
			s.tb.Fatal("no fetch session was opened")
		}
		next := kmsg.NewPtrFetchRequest()
		next.ReplicaID, next.MaxBytes, next.SessionID, next.SessionEpoch = -1, 1<<20, resp.SessionID, 1
		inc := s.quiet(next, v).(*kmsg.FetchResponse)
		inc.SessionID = 0
		s.log = append(s.log, exchange{name("Fetch incremental, same position", v), s.normalize(Flatten(inc))})
		wrong := kmsg.NewPtrFetchRequest()
		wrong.ReplicaID, wrong.MaxBytes, wrong.SessionID, wrong.SessionEpoch = -1, 1<<20, resp.SessionID, 9
		s.ask("Fetch wrong session epoch", wrong, v)
		gone := kmsg.NewPtrFetchRequest()
		gone.ReplicaID, gone.MaxBytes, gone.SessionID, gone.SessionEpoch = -1, 1<<20, 12345, 3
		s.ask("Fetch unknown session", gone, v)
		closing := kmsg.NewPtrFetchRequest()
		closing.ReplicaID, closing.MaxBytes, closing.SessionID, closing.SessionEpoch = -1, 1<<20, resp.SessionID, -1
		s.ask("Fetch close session", closing, v)
	})
}

func listOffsets(s *session) {
	s.create("list-offsets", 1)
	for i := range int64(4) {
		s.write("list-offsets", batch{values: []string{"a", "b"}, timestamp: s.clock - 4000 + i*1000})
	}
	versions(1, 11, func(v int16) {
		ask := func(label, topic string, partition int32, ts int64, epoch int32) {
			req := kmsg.NewPtrListOffsetsRequest()
			req.TimeoutMillis = 5000
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = topic
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp, p.CurrentLeaderEpoch = partition, ts, epoch
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
			s.ask("ListOffsets "+label, req, v)
		}
		ask("latest", "list-offsets", 0, -1, -1)
		ask("earliest", "list-offsets", 0, -2, -1)
		ask("max timestamp", "list-offsets", 0, -3, -1)
		ask("earliest local", "list-offsets", 0, -4, -1)
		ask("latest tiered", "list-offsets", 0, -5, -1)
		ask("earliest pending upload", "list-offsets", 0, -6, -1)
		ask("at", "list-offsets", 0, s.clock-3000, -1)
		ask("between", "list-offsets", 0, s.clock-2500, -1)
		ask("before all", "list-offsets", 0, 1, -1)
		ask("after all", "list-offsets", 0, s.clock+100_000, -1)
		ask("unknown topic", "nowhere", 0, -1, -1)
		ask("unknown partition", "list-offsets", 7, -1, -1)
		ask("bad timestamp", "list-offsets", 0, -99, -1)
		if v >= 4 {
			ask("unknown epoch", "list-offsets", 0, -1, 42)
		}
	})
}

func offsetForLeaderEpoch(s *session) {
	s.create("epochs", 1)
	s.write("epochs", batch{values: []string{"a", "b"}, timestamp: s.clock})
	versions(2, 4, func(v int16) {
		ask := func(label, topic string, epoch int32) {
			req := kmsg.NewPtrOffsetForLeaderEpochRequest()
			req.ReplicaID = -1
			t := kmsg.NewOffsetForLeaderEpochRequestTopic()
			t.Topic = topic
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.LeaderEpoch, p.CurrentLeaderEpoch = epoch, -1
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
			s.ask("OffsetForLeaderEpoch "+label, req, v)
		}
		ask("current", "epochs", 0)
		ask("future", "epochs", 5)
		ask("undefined", "epochs", -1)
		ask("unknown topic", "nowhere", 0)
	})
}

func describeConfigs(s *session) {
	s.create("configs", 1, "retention.ms", "1234567", "cleanup.policy", "compact,delete")
	versions(1, 4, func(v int16) {
		ask := func(label string, kind kmsg.ConfigResourceType, resource string, names []string) {
			req := kmsg.NewPtrDescribeConfigsRequest()
			req.IncludeSynonyms = true
			r := kmsg.NewDescribeConfigsRequestResource()
			r.ResourceType, r.ResourceName, r.ConfigNames = kind, resource, names
			req.Resources = append(req.Resources, r)
			s.ask("DescribeConfigs "+label, req, v)
		}
		ask("topic", kmsg.ConfigResourceTypeTopic, "configs", nil)
		ask("some", kmsg.ConfigResourceTypeTopic, "configs", []string{"retention.ms", "no.such.config"})
		ask("unknown topic", kmsg.ConfigResourceTypeTopic, "nowhere", nil)
		ask("bad topic", kmsg.ConfigResourceTypeTopic, "a b", nil)
		ask("broker", kmsg.ConfigResourceTypeBroker, "1", []string{"num.partitions", "log.retention.hours", "message.max.bytes", "auto.create.topics.enable"})
		ask("unknown broker", kmsg.ConfigResourceTypeBroker, "77", nil)
		ask("broker name", kmsg.ConfigResourceTypeBroker, "x", nil)
	})
}

func alterConfigs(s *session) {
	s.create("alter", 1)
	incremental := func(label string, validate bool, v int16, changes ...kmsg.IncrementalAlterConfigsRequestResourceConfig) {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.ValidateOnly = validate
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.Configs = kmsg.ConfigResourceTypeTopic, "alter", changes
		req.Resources = append(req.Resources, r)
		s.ask("IncrementalAlterConfigs "+label, req, v)
	}
	change := func(name string, op kmsg.IncrementalAlterConfigOp, value string) kmsg.IncrementalAlterConfigsRequestResourceConfig {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op, c.Value = name, op, kmsg.StringPtr(value)
		return c
	}
	// look asks for what the topic has now, once the change can be seen: Kafka shows it a moment after it has answered.
	look := func(expected map[string]string) {
		req := kmsg.NewPtrDescribeConfigsRequest()
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "alter"
		r.ConfigNames = []string{"retention.ms", "cleanup.policy", "max.message.bytes"}
		req.Resources = append(req.Resources, r)
		s.until("change", func() bool {
			for _, c := range s.quiet(req, 4).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
				if want, ok := expected[c.Name]; ok && (c.Value == nil || *c.Value != want) {
					return false
				}
			}
			return true
		})
		s.ask("DescribeConfigs after", req, 4)
	}
	versions(0, 1, func(v int16) {
		incremental("set", false, v, change("retention.ms", kmsg.IncrementalAlterConfigOpSet, "99"))
		look(map[string]string{"retention.ms": "99"})
		incremental("append", false, v, change("cleanup.policy", kmsg.IncrementalAlterConfigOpAppend, "compact"))
		look(map[string]string{"cleanup.policy": "delete,compact"})
		incremental("subtract", false, v, change("cleanup.policy", kmsg.IncrementalAlterConfigOpSubtract, "delete"))
		look(map[string]string{"cleanup.policy": "compact"})
		incremental("append to a number", false, v, change("retention.ms", kmsg.IncrementalAlterConfigOpAppend, "1"))
		incremental("bad value", false, v, change("retention.ms", kmsg.IncrementalAlterConfigOpSet, "x"))
		incremental("unknown", false, v, change("no.such.config", kmsg.IncrementalAlterConfigOpSet, "x"))
		incremental("twice", false, v, change("retention.ms", kmsg.IncrementalAlterConfigOpSet, "1"), change("retention.ms", kmsg.IncrementalAlterConfigOpSet, "2"))
		incremental("validate only", true, v, change("retention.ms", kmsg.IncrementalAlterConfigOpSet, "5"))
		look(map[string]string{"retention.ms": "99"})
		incremental("delete", false, v, change("retention.ms", kmsg.IncrementalAlterConfigOpDelete, ""), change("cleanup.policy", kmsg.IncrementalAlterConfigOpDelete, ""))
		look(map[string]string{"retention.ms": "604800000", "cleanup.policy": "delete"})
	})
	versions(0, 2, func(v int16) {
		req := kmsg.NewPtrAlterConfigsRequest()
		r := kmsg.NewAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "alter"
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		c.Name, c.Value = "max.message.bytes", kmsg.StringPtr("5000")
		r.Configs = append(r.Configs, c)
		req.Resources = append(req.Resources, r)
		s.ask("AlterConfigs", req, v)
		look(map[string]string{"max.message.bytes": "5000"})
		req.Resources[0].ResourceName = "nowhere"
		s.ask("AlterConfigs unknown topic", req, v)
	})
}

func createPartitions(s *session) {
	versions(0, 3, func(v int16) {
		topic := name("grow", v)
		s.create(topic, 2)
		ask := func(label, topic string, count int32) {
			req := kmsg.NewPtrCreatePartitionsRequest()
			req.TimeoutMillis = 10_000
			t := kmsg.NewCreatePartitionsRequestTopic()
			t.Topic, t.Count = topic, count
			req.Topics = append(req.Topics, t)
			s.ask("CreatePartitions "+label, req, v)
		}
		ask("more", topic, 4)
		ask("same", topic, 4)
		ask("fewer", topic, 1)
		ask("unknown", "nowhere", 3)
	})
}

func deleteRecords(s *session) {
	versions(0, 2, func(v int16) {
		topic := name("trim", v)
		s.create(topic, 1)
		for range 4 {
			s.write(topic, batch{values: []string{"a", "b"}, timestamp: s.clock})
		}
		ask := func(label, topic string, offset int64) {
			req := kmsg.NewPtrDeleteRecordsRequest()
			req.TimeoutMillis = 10_000
			t := kmsg.NewDeleteRecordsRequestTopic()
			t.Topic = topic
			p := kmsg.NewDeleteRecordsRequestTopicPartition()
			p.Offset = offset
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
			s.ask("DeleteRecords "+label, req, v)
		}
		ask("three", topic, 3)
		ask("again", topic, 3)
		ask("beyond", topic, 100)
		ask("below", topic, 1)
		s.ask("Fetch below the start", fetch(topic, [16]byte{}, 0), 12)
		s.ask("Fetch at the start", fetch(topic, [16]byte{}, 3), 12)
		ask("all", topic, -1)
		ask("negative", topic, -7)
		ask("unknown", "nowhere", 0)
	})
}

func deleteTopics(s *session) {
	versions(1, 6, func(v int16) {
		topic := name("gone", v)
		id := s.create(topic, 1)
		ask := func(label, topic string, id [16]byte) {
			req := kmsg.NewPtrDeleteTopicsRequest()
			req.TimeoutMillis = 10_000
			req.TopicNames = []string{topic}
			t := kmsg.NewDeleteTopicsRequestTopic()
			t.TopicID = id
			if topic != "" {
				t.Topic = kmsg.StringPtr(topic)
			}
			req.Topics = append(req.Topics, t)
			s.ask("DeleteTopics "+label, req, v)
		}
		if v == 6 {
			ask("id", "", id)
			ask("unknown id", "", [16]byte{5})
			ask("id and name", topic, id)
		} else {
			ask("name", topic, [16]byte{})
		}
		ask("gone", topic, [16]byte{})
		s.create(topic, 1)
		if v >= 3 {
			s.ask("Produce to the old id", produce(topic, id, 0, -1, batch{values: []string{"a"}, timestamp: s.clock}.bytes()), 13)
			s.ask("Fetch from the old id", fetch(topic, id, 0), 13)
		}
	})
}

func describeCluster(s *session) {
	versions(0, 2, func(v int16) {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations = true
		s.ask("DescribeCluster", req, v)
	})
	s.create("cluster", 3)
	versions(0, 1, func(v int16) {
		s.ask("ElectLeaders none", kmsg.NewPtrElectLeadersRequest(), v)
	})
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	for _, n := range []string{"cluster", "nowhere"} {
		t := kmsg.NewDescribeTopicPartitionsRequestTopic()
		t.Topic = n
		req.Topics = append(req.Topics, t)
	}
	s.ask("DescribeTopicPartitions", req, 0)
	req.ResponsePartitionLimit = 2
	s.ask("DescribeTopicPartitions limited", req, 0)
	dirs := kmsg.NewPtrDescribeLogDirsRequest()
	t := kmsg.NewDescribeLogDirsRequestTopic()
	t.Topic, t.Partitions = "cluster", []int32{0, 1, 2}
	dirs.Topics = append(dirs.Topics, t)
	s.until("directory of every partition", func() bool {
		found := s.quiet(dirs, 4).(*kmsg.DescribeLogDirsResponse).Dirs
		return len(found) == 1 && len(found[0].Topics) == 1 && len(found[0].Topics[0].Partitions) == 3
	})
	versions(1, 4, func(v int16) { s.ask("DescribeLogDirs", dirs, v) })
	telemetry := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	s.ask("GetTelemetrySubscriptions", telemetry, 0)
}

func producers(s *session) {
	s.create("producers", 1)
	req := kmsg.NewPtrDescribeProducersRequest()
	for _, n := range []string{"producers", "nowhere"} {
		t := kmsg.NewDescribeProducersRequestTopic()
		t.Topic, t.Partitions = n, []int32{0}
		req.Topics = append(req.Topics, t)
	}
	s.ask("DescribeProducers empty", req, 0)
}

func leadersAndReassignment(s *session) {
	s.create("leaders", 2)
	versions(0, 2, func(v int16) {
		ask := func(label, topic string, partitions []int32, kind int8) {
			req := kmsg.NewPtrElectLeadersRequest()
			req.ElectionType, req.TimeoutMillis = kind, 5000
			t := kmsg.NewElectLeadersRequestTopic()
			t.Topic, t.Partitions = topic, partitions
			req.Topics = append(req.Topics, t)
			s.ask("ElectLeaders "+label, req, v)
		}
		ask("preferred", "leaders", []int32{0, 1}, 0)
		ask("unknown partition", "leaders", []int32{9}, 0)
		ask("unknown topic", "nowhere", []int32{0}, 0)
		if v >= 1 {
			ask("unclean", "leaders", []int32{0}, 1)
		}
	})
	alter := func(label, topic string, partition int32, replicas []int32) {
		req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
		req.TimeoutMillis = 5000
		t := kmsg.NewAlterPartitionAssignmentsRequestTopic()
		t.Topic = topic
		p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
		p.Partition, p.Replicas = partition, replicas
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		s.ask("AlterPartitionReassignments "+label, req, 0)
	}
	alter("same", "leaders", 0, []int32{1})
	alter("unknown broker", "leaders", 0, []int32{9})
	alter("twice the same", "leaders", 0, []int32{1, 1})
	alter("none", "leaders", 0, []int32{})
	alter("cancel", "leaders", 0, nil)
	alter("unknown partition", "leaders", 9, []int32{1})
	alter("unknown topic", "nowhere", 0, []int32{1})
	s.ask("ListPartitionReassignments", kmsg.NewPtrListPartitionReassignmentsRequest(), 0)
}
