package configdef

import (
	"slices"
	"strings"
	"sync"
)

// Reasons that several configs share.
const (
	noTiering     = "tiered storage is not there yet"
	noReplication = "replication between brokers is not there yet"
	noShareGroups = "share groups are not there yet"
)

const maxLong = "9223372036854775807"

var topicTable = sync.OnceValue(func() *table {
	keys := append(topicKeys(), validationKeys()...)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return newTable(keys)
})

// TopicKeys returns the definitions of all topic configs by name. The caller must not change them.
func TopicKeys() []Key { return topicTable().keys }

// TopicKey returns the definition of one topic config.
func TopicKey(name string) (*Key, bool) { return topicTable().find(name) }

func same(name string) []Synonym { return []Synonym{{Name: name}} }

// topicKeys is the list, by name. All topic configs of Kafka have medium importance.
func topicKeys() []Key {
	keys := []Key{
		{
			Name: "cleanup.policy", Type: List, Default: "delete", Valid: listOf{"compact", "delete"}, Synonyms: same("log.cleanup.policy"),
			Doc: "What becomes of old segments: delete drops them when retention.ms or retention.bytes says so, compact keeps the newest record of each key. Both may be given, separated by a comma; an empty list keeps everything.",
		},
		{
			Name: "compression.gzip.level", Type: Int, Default: "-1", Valid: betweenOr{1, 9, -1}, Synonyms: same("compression.gzip.level"),
			Doc: "The level at which the broker compresses when compression.type is gzip; -1 is the default of the algorithm.",
		},
		{
			Name: "compression.lz4.level", Type: Int, Default: "9", Valid: between{1, 17}, Synonyms: same("compression.lz4.level"),
			Doc: "The level at which the broker compresses when compression.type is lz4.",
		},
		{
			Name: "compression.type", Type: String, Default: "producer", Valid: compressionTypes(), Synonyms: same("compression.type"),
			Doc: "The compression that record batches have on disk. producer keeps what the producer chose; any other value makes the broker compress anew what came in another form.",
		},
		{
			Name: "compression.zstd.level", Type: Int, Default: "3", Valid: between{-131072, 22}, Synonyms: same("compression.zstd.level"),
			Doc: "The level at which the broker compresses when compression.type is zstd.",
		},
		{
			Name: "delete.retention.ms", Type: Long, Default: "86400000", Valid: atLeast(0), Synonyms: same("log.cleaner.delete.retention.ms"),
			Doc: "How long a compacted topic keeps the marker of a deleted key, so that slow readers still see the deletion. It counts from the first compaction that meets the marker.",
		},
		{
			Name: "errors.deadletterqueue.group.enable", Type: Boolean, Default: "false",
			Status: NotYet, Reason: noShareGroups,
			Doc: "Whether share groups may use this topic as the dead letter queue of records they gave up on.",
		},
		{
			Name: "file.delete.delay.ms", Type: Long, Default: "60000", Valid: atLeast(0), Synonyms: same("log.segment.delete.delay.ms"),
			Doc: "How long the files of a dropped segment or topic stay on disk after they were marked as deleted.",
		},
		{
			Name: "flush.messages", Type: Long, Default: maxLong, Valid: atLeast(1), Synonyms: same("log.flush.interval.messages"),
			Doc: "After how many records not yet on disk a flush is started; answers with acks=all wait for it, others don't. With strict durability every record so acknowledged is on disk anyway.",
		},
		{
			Name: "flush.ms", Type: Long, Default: maxLong, Valid: atLeast(0),
			Synonyms: []Synonym{{Name: "log.flush.interval.ms"}, {Name: "log.flush.scheduler.interval.ms"}},
			Doc:      "How many milliseconds a record may stay in memory before a flush is started. With strict durability every acknowledged record is on disk anyway.",
		},
		{
			Name: "follower.replication.throttled.replicas", Type: List, Valid: throttledReplicas{},
			Status: NotYet, Reason: noReplication,
			Doc: "The replicas whose copying from the leader is throttled on the follower's side: partition:broker pairs, or * for all.",
		},
		{
			Name: "index.interval.bytes", Type: Int, Default: "4096", Valid: atLeast(0), Synonyms: same("log.index.interval.bytes"),
			Doc: "How many bytes of records lie between two entries of the offset index: smaller finds offsets faster and makes the index larger.",
		},
		{
			Name: "internal.segment.bytes", Type: Int, NoDefault: true, Valid: atLeast(1), Internal: true,
			Doc: "A segment size below the minimum of segment.bytes, for tests; it wins over segment.bytes.",
		},
		{
			Name: "leader.replication.throttled.replicas", Type: List, Valid: throttledReplicas{},
			Status: NotYet, Reason: noReplication,
			Doc: "The replicas whose copying from the leader is throttled on the leader's side: partition:broker pairs, or * for all.",
		},
	}
	keys = append(append(keys, topicKeysFromL()...), topicKeysFromR()...)
	for i := range keys {
		keys[i].Importance = Medium
	}
	return keys
}

func compressionTypes() oneOf {
	return oneOf{"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"}
}

// topicKeysFromL goes on with the list from local.retention.bytes.
func topicKeysFromL() []Key {
	return []Key{
		{
			Name: "local.retention.bytes", Type: Long, Default: "-2", Valid: atLeast(-2), Synonyms: same("log.local.retention.bytes"),
			Status: NotYet, Reason: noTiering,
			Doc: "How many bytes of a tiered partition stay on the broker's own disk; -2 takes retention.bytes.",
		},
		{
			Name: "local.retention.ms", Type: Long, Default: "-2", Valid: atLeast(-2), Synonyms: same("log.local.retention.ms"),
			Status: NotYet, Reason: noTiering,
			Doc: "How many milliseconds a tiered segment stays on the broker's own disk; -2 takes retention.ms.",
		},
		{
			Name: "max.compaction.lag.ms", Type: Long, Default: maxLong, Valid: atLeast(1), Synonyms: same("log.cleaner.max.compaction.lag.ms"),
			Doc: "The longest time in milliseconds that a record of a compacted topic stays out of reach of compaction: segments are closed at that age, and compacted whatever the dirty ratio.",
		},
		{
			Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Valid: between{1, 2147483639}, Synonyms: same("max.decompressed.message.bytes"),
			Doc: "How large a record batch may become when the broker decompresses it to look at its records; larger ones are refused. The broker's own max.decompressed.batch.bytes bounds it too.",
		},
		{
			Name: "max.message.bytes", Type: Int, Default: "1048588", Valid: atLeast(0), Synonyms: same("message.max.bytes"),
			Doc: "The size of a record batch at most, after compression. A larger one is answered with MESSAGE_TOO_LARGE.",
		},
		{
			Name: "message.timestamp.after.max.ms", Type: Long, Default: "3600000", Valid: atLeast(0), Synonyms: same("log.message.timestamp.after.max.ms"),
			Doc: "How far in the future, by the broker's clock, the timestamp of a record may lie; a record beyond it is refused. It has no effect with LogAppendTime.",
		},
		{
			Name: "message.timestamp.before.max.ms", Type: Long, Default: maxLong, Valid: atLeast(0), Synonyms: same("log.message.timestamp.before.max.ms"),
			Doc: "How far in the past, by the broker's clock, the timestamp of a record may lie; a record before it is refused. It has no effect with LogAppendTime.",
		},
		{
			Name: "message.timestamp.type", Type: String, Default: "CreateTime", Valid: oneOf{"CreateTime", "LogAppendTime"}, Synonyms: same("log.message.timestamp.type"),
			Doc: "Whose time a record carries: the producer's (CreateTime), or the broker's at the time of the append (LogAppendTime).",
		},
		{
			Name: "min.cleanable.dirty.ratio", Type: Double, Default: "0.5", Valid: between{0, 1}, Synonyms: same("log.cleaner.min.cleanable.ratio"),
			Doc: "The part of a compacted log that must not have been compacted yet before it is worth another run.",
		},
		{
			Name: "min.compaction.lag.ms", Type: Long, Default: "0", Valid: atLeast(0), Synonyms: same("log.cleaner.min.compaction.lag.ms"),
			Doc: "The time in milliseconds, by its timestamp, for which compaction leaves a record alone.",
		},
		{
			Name: "min.insync.replicas", Type: Int, Default: "1", Valid: atLeast(1), Synonyms: same("min.insync.replicas"),
			Doc: "How many replicas have to be in sync for a produce with acks=all to be taken; with fewer it is answered with NOT_ENOUGH_REPLICAS.",
		},
		{
			Name: "preallocate", Type: Boolean, Default: "false", Synonyms: same("log.preallocate"),
			Doc: "Whether the disk space of a new segment is reserved when it is made.",
		},
	}
}

// topicKeysFromR goes on with the list from remote.copy.lag.bytes.
func topicKeysFromR() []Key {
	return []Key{
		{
			Name: "remote.copy.lag.bytes", Type: Long, Default: "-1", Valid: atLeast(-1), Synonyms: same("log.remote.copy.lag.bytes"),
			Status: NotYet, Reason: noTiering,
			Doc: "How many bytes of closed segments may wait before they are copied to tiered storage; -1 sets no bound.",
		},
		{
			Name: "remote.copy.lag.ms", Type: Long, Default: "0", Valid: atLeast(-1), Synonyms: same("log.remote.copy.lag.ms"),
			Status: NotYet, Reason: noTiering,
			Doc: "How many milliseconds a closed segment may wait before it is copied to tiered storage; 0 copies at once.",
		},
		{
			Name: "remote.log.copy.disable", Type: Boolean, Default: "false",
			Status: NotYet, Reason: noTiering,
			Doc: "Stops the copying of segments to tiered storage, while those copied before can still be read.",
		},
		{
			Name: "remote.log.delete.on.disable", Type: Boolean, Default: "false",
			Status: NotYet, Reason: noTiering,
			Doc: "Whether the copies in tiered storage are deleted when tiering is turned off for the topic.",
		},
		{
			Name: "remote.storage.enable", Type: Boolean, Default: "false",
			Status: NotYet, Reason: noTiering + "; true is refused, as Kafka refuses it on a broker without tiered storage",
			Doc: "Whether segments of the topic are moved to tiered storage.",
		},
		{
			Name: "retention.bytes", Type: Long, Default: "-1", Synonyms: same("log.retention.bytes"),
			Doc: "How many bytes each partition keeps when cleanup.policy has delete; the oldest segments beyond it are dropped. -1 keeps all.",
		},
		{
			Name: "retention.ms", Type: Long, Default: "604800000", Valid: atLeast(-1),
			Synonyms: []Synonym{{Name: "log.retention.ms", Scale: 1}, {Name: "log.retention.minutes", Scale: minute}, {Name: "log.retention.hours", Scale: hour}},
			Doc:      "How many milliseconds records are kept when cleanup.policy has delete, by their timestamps; a segment is dropped when all its records are older. -1 keeps them for ever.",
		},
		{
			Name: "segment.bytes", Type: Int, Default: "1073741824", Valid: atLeast(1 << 20), Synonyms: same("log.segment.bytes"),
			Doc: "The size of a segment file. Records are dropped and compacted by whole segments, so larger ones mean fewer files and coarser retention.",
		},
		{
			Name: "segment.index.bytes", Type: Int, Default: "10485760", Valid: atLeast(4), Synonyms: same("log.index.size.max.bytes"),
			Doc: "The size of an index file at most; a segment is rolled when its index is full.",
		},
		{
			Name: "segment.jitter.ms", Type: Long, Default: "0", Valid: atLeast(0),
			Synonyms: []Synonym{{Name: "log.roll.jitter.ms"}, {Name: "log.roll.jitter.hours", Scale: hour}},
			Doc:      "The most that is taken off segment.ms at random, so that not all segments roll at the same time.",
		},
		{
			Name: "segment.ms", Type: Long, Default: "604800000", Valid: atLeast(1),
			Synonyms: []Synonym{{Name: "log.roll.ms"}, {Name: "log.roll.hours", Scale: hour}},
			Doc:      "The age in milliseconds at which a segment is closed even if it isn't full, so that retention can drop it.",
		},
		{
			Name: "unclean.leader.election.enable", Type: Boolean, Default: "false", Synonyms: same("unclean.leader.election.enable"),
			Status: NotYet, Reason: noReplication + ", so that no replica outside of the ISR exists to be elected",
			Doc: "Whether a replica that isn't in sync may become leader when no other is left, at the price of lost records.",
		},
	}
}

const (
	minute = 60 * 1000
	hour   = 60 * minute
)
