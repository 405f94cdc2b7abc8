package configdef

import (
	"slices"
	"strings"
	"sync"
)

var brokerTable = sync.OnceValue(func() *table {
	keys := slices.Concat(topicDefaultKeys(), topicUnitKeys(), identityKeys(), topicCreationKeys(), logKeys(), cleanerKeys(), replicationKeys(), wireKeys(), groupKeys(), transactionKeys())
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return newTable(keys)
})

// BrokerKeys returns the definitions of the broker configs that this broker knows, by name. The caller must not change
// them.
func BrokerKeys() []Key { return brokerTable().keys }

// BrokerKey returns the definition of one broker config.
func BrokerKey(name string) (*Key, bool) { return brokerTable().find(name) }

// highTopicDefaults are those defaults of topic configs that Kafka gives high importance.
var highTopicDefaults = []string{
	"compression.type", "log.segment.delete.delay.ms", "log.flush.interval.messages", "log.flush.interval.ms", "message.max.bytes",
	"min.insync.replicas", "log.retention.bytes", "log.retention.ms", "log.segment.bytes", "log.roll.jitter.ms", "log.roll.ms",
	"unclean.leader.election.enable",
}

// topicDefaultKeys are the broker configs that hold the defaults of topic configs, in the same unit. They take effect at
// once when they change.
func topicDefaultKeys() []Key {
	var keys []Key
	for _, tk := range TopicKeys() {
		if len(tk.Synonyms) == 0 {
			continue
		}
		k := tk
		k.Name, k.Synonyms, k.Scope, k.Importance = tk.Synonyms[0].Name, nil, ClusterWide, Medium
		if slices.Contains(highTopicDefaults, k.Name) {
			k.Importance = High
		}
		if len(tk.Synonyms) > 1 { // the value in another unit is the default
			k.NoDefault, k.Default = true, ""
		}
		k.Doc = "The value of " + tk.Name + " for topics that don't set it. " + tk.Doc
		switch k.Name {
		case "log.retention.ms":
			k.Valid = unlimitedOrOne{}
		case "log.roll.ms", "log.roll.jitter.ms", "log.flush.interval.ms":
			k.Doc += " Unset: " + tk.Synonyms[1].Name + "."
		}
		keys = append(keys, k)
	}
	return keys
}

// topicUnitKeys are the same in coarser units, read at start.
func topicUnitKeys() []Key {
	return []Key{
		{
			Name: "log.flush.scheduler.interval.ms", Type: Long, Default: maxLong, Importance: High,
			Doc: "The value of flush.ms for topics that don't set it, where log.flush.interval.ms is unset.",
		},
		{
			Name: "log.retention.hours", Type: Int, Default: "168", Valid: unlimitedOrOne{}, Importance: High,
			Doc: "How many hours topics keep their records that don't set retention.ms, where neither log.retention.ms nor log.retention.minutes is set; -1 for ever.",
		},
		{
			Name: "log.retention.minutes", Type: Int, NoDefault: true, Valid: unlimitedOrOne{}, Importance: High,
			Doc: "How many minutes topics keep their records that don't set retention.ms, where log.retention.ms is unset; -1 for ever.",
		},
		{
			Name: "log.roll.hours", Type: Int, Default: "168", Valid: atLeast(1), Importance: High,
			Doc: "The value of segment.ms, in hours, for topics that don't set it, where log.roll.ms is unset.",
		},
		{
			Name: "log.roll.jitter.hours", Type: Int, Default: "0", Valid: atLeast(0), Importance: High,
			Doc: "The value of segment.jitter.ms, in hours, for topics that don't set it, where log.roll.jitter.ms is unset.",
		},
	}
}

func identityKeys() []Key {
	return []Key{
		{
			Name: "node.id", Type: Int, Default: "1", Valid: atLeast(0), Importance: High,
			Doc: "The id of this broker in the cluster.",
		},
		{
			Name: "broker.id", Type: Int, Default: "1", Importance: High,
			Doc: "The older name of node.id; both must agree where both are set.",
		},
		{
			Name: "broker.rack", Type: String, NoDefault: true, Importance: Medium,
			Doc: "The rack or zone of this broker. Replicas are spread over racks.",
		},
		{
			Name: "listeners", Type: List, Default: "PLAINTEXT://localhost:9092", Importance: High,
			Doc: "Where the broker listens for Kafka clients: NAME://host:port, separated by commas; without a host loopback, port 0 for a free one, off for none.",
		},
		{
			Name: "advertised.listeners", Type: List, NoDefault: true, Importance: High,
			Doc: "The addresses that clients are told. Unset: those of listeners.",
		},
		{
			Name: "listener.security.protocol.map", Type: String, Default: "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", Importance: Low,
			Doc: "The security protocol of each listener name.",
		},
	}
}

func topicCreationKeys() []Key {
	return []Key{
		{
			Name: "auto.create.topics.enable", Type: Boolean, Default: "true", Importance: High,
			Doc: "Make a topic when a client asks for the metadata of a name that isn't there.",
		},
		{
			Name: "default.replication.factor", Type: Int, Default: "1", Valid: atLeast(1), Importance: Medium,
			Doc: "The number of replicas of topics that are made without one.",
		},
		{
			Name: "delete.topic.enable", Type: Boolean, Default: "true", Importance: High,
			Doc: "Permit the deletion of topics.",
		},
		{
			Name: "max.partitions", Type: Int, Default: "20000", Valid: atLeast(1), Importance: Medium, Own: true,
			Doc: "The number of partitions that this broker holds at most; creations beyond it are refused.",
		},
		{
			Name: "max.partitions.per.create", Type: Int, Default: "10000", Valid: atLeast(1), Importance: Low, Own: true,
			Doc: "The number of partitions that one request may create at most.",
		},
		{
			Name: "num.partitions", Type: Int, Default: "1", Valid: atLeast(1), Importance: Medium,
			Doc: "The number of partitions of topics that are made without one.",
		},
	}
}

func logKeys() []Key {
	return []Key{
		{
			Name: "data.dir", Type: String, NoDefault: true, Importance: High, Own: true,
			Doc: "The directory for everything that has no directory of its own: metadata in metadata/, logs in log/.",
		},
		{
			Name: "durability", Type: String, Default: "strict", Valid: oneOf{"strict", "relaxed"}, Importance: High, Own: true,
			Doc: "strict: records are acknowledged and visible once they are on disk. relaxed: once they are in the page cache of all replicas in sync, as Kafka does.",
		},
		{
			Name: "log.dir.min.free.bytes", Type: Long, Default: "14680064", Valid: atLeast(0), Importance: Medium, Own: true,
			Doc: "The free space that records leave on the file system of a log directory, so that topics can still be deleted and the broker can start. Past it producers are answered KAFKA_STORAGE_ERROR until there is space. 0 lets them fill it.",
		},
		{
			Name: "log.dir", Type: List, NoDefault: true, Importance: High,
			Doc: "The directories of the logs where log.dirs is unset.",
		},
		{
			Name: "log.dirs", Type: List, NoDefault: true, Importance: High,
			Doc: "The directories for the logs of partitions, separated by commas. A new partition goes where the fewest are. Unset: log.dir, else log/ in data.dir.",
		},
		{
			Name: "log.retention.check.interval.ms", Type: Long, Default: "300000", Valid: atLeast(1), Importance: Medium,
			Doc: "How often logs are searched for segments that retention.ms or retention.bytes let go.",
		},
		{
			Name: "max.decompressed.batch.bytes", Type: Int, Default: "67108864", Valid: atLeast(1024), Importance: Medium, Own: true,
			Doc: "The size that a record batch may have when it is decompressed for validation; larger ones are refused as corrupt.",
		},
		{
			Name: "max.open.files", Type: Int, Default: "0", Valid: atLeast(0), Importance: Medium, Own: true,
			Doc: "How many segment and index files are held open at most; 0 takes it from the limit of the process.",
		},
		{
			Name: "metadata.log.dir", Type: String, NoDefault: true, Importance: High,
			Doc: "The directory for the metadata of the cluster. Unset: metadata/ in data.dir.",
		},
		{
			Name: "producer.id.expiration.check.interval.ms", Type: Int, Default: "600000", Valid: atLeast(1), Importance: Low,
			Doc: "How often forgotten producers are searched for.",
		},
		{
			Name: "producer.id.expiration.ms", Type: Int, Default: "86400000", Valid: atLeast(1), Importance: Low,
			Doc: "How long a partition remembers an idempotent producer that writes nothing.",
		},
		{
			Name: "replica.high.watermark.checkpoint.interval.ms", Type: Long, Default: "5000", Importance: High,
			Doc: "How often the high watermarks are written to disk.",
		},
	}
}

// replicationKeys are those about copies on other brokers.
func replicationKeys() []Key {
	return []Key{
		{
			Name: "follower.replication.throttled.rate", Type: Long, Default: maxLong, Valid: atLeast(0), Scope: ClusterWide, Importance: Medium,
			Status: NotYet, Reason: noReplication,
			Doc: "The bytes per second that throttled replicas may copy from their leaders, on the follower's side.",
		},
		{
			Name: "leader.replication.throttled.rate", Type: Long, Default: maxLong, Valid: atLeast(0), Scope: ClusterWide, Importance: Medium,
			Status: NotYet, Reason: noReplication,
			Doc: "The bytes per second that throttled replicas may copy from their leaders, on the leader's side.",
		},
		{
			Name: "replica.alter.log.dirs.io.max.bytes.per.second", Type: Long, Default: maxLong, Valid: atLeast(0), Scope: ClusterWide, Importance: Medium,
			Status: NotYet, Reason: "moving partitions between log directories is not there yet",
			Doc: "The bytes per second that a move between log directories of one broker may take.",
		},
	}
}
