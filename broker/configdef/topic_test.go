package configdef

import (
	"errors"
	"math"
	"testing"

	"moldau/broker/record"
	"moldau/broker/storage"
)

// The texts are those that Apache Kafka 4.4.0 answered to the same values.
func TestValidateTopicAnswersAsKafka(t *testing.T) {
	for _, c := range []struct {
		name, value, want string
	}{
		{"foo", "1", "Unknown topic config name: foo"},
		{"", "x", "Unknown topic config name: "},
		{"message.downconversion.enable", "true", "Unknown topic config name: message.downconversion.enable"},
		{"message.format.version", "3.0", "Unknown topic config name: message.format.version"},
		{"retention.ms", "abc", "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
		{"retention.ms", "", "Invalid value  for configuration retention.ms: Not a number of type LONG"},
		{"retention.ms", " 5 ", ""},
		{"retention.ms", "-1", ""},
		{"retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1"},
		{"retention.ms", "0x10", "Invalid value 0x10 for configuration retention.ms: Not a number of type LONG"},
		{"retention.ms", "1_0", "Invalid value 1_0 for configuration retention.ms: Not a number of type LONG"},
		{"retention.ms", "10000000000000000000", "Invalid value 10000000000000000000 for configuration retention.ms: Not a number of type LONG"},
		{"retention.bytes", "1.5", "Invalid value 1.5 for configuration retention.bytes: Not a number of type LONG"},
		{"segment.bytes", "10", "Invalid value 10 for configuration segment.bytes: Value must be at least 1048576"},
		{"segment.bytes", "99999999999", "Invalid value 99999999999 for configuration segment.bytes: Not a number of type INT"},
		{"segment.index.bytes", "3", "Invalid value 3 for configuration segment.index.bytes: Value must be at least 4"},
		{"segment.ms", "0", "Invalid value 0 for configuration segment.ms: Value must be at least 1"},
		{"segment.jitter.ms", "-1", "Invalid value -1 for configuration segment.jitter.ms: Value must be at least 0"},
		{"internal.segment.bytes", "100", ""},
		{"internal.segment.bytes", "0", "Invalid value 0 for configuration internal.segment.bytes: Value must be at least 1"},
		{"cleanup.policy", "x", "Invalid value x for configuration cleanup.policy: String must be one of: compact, delete"},
		{"cleanup.policy", "delete,x", "Invalid value x for configuration cleanup.policy: String must be one of: compact, delete"},
		{"cleanup.policy", "", ""},
		{"cleanup.policy", "delete,delete", ""},
		{"cleanup.policy", "delete, compact", ""},
		{"compression.type", "brotli", "Invalid value brotli for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"},
		{"compression.type", "none", "Invalid value none for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"},
		{"compression.gzip.level", "0", "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1"},
		{"compression.gzip.level", "-1", ""},
		{"compression.lz4.level", "18", "Invalid value 18 for configuration compression.lz4.level: Value must be no more than 17"},
		{"compression.zstd.level", "23", "Invalid value 23 for configuration compression.zstd.level: Value must be no more than 22"},
		{"message.timestamp.type", "x", "Invalid value x for configuration message.timestamp.type: String must be one of: CreateTime, LogAppendTime"},
		{"min.cleanable.dirty.ratio", "2", "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"},
		{"min.cleanable.dirty.ratio", "-1", "Invalid value -1.0 for configuration min.cleanable.dirty.ratio: Value must be at least 0"},
		{"min.cleanable.dirty.ratio", "x", "Invalid value x for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE"},
		{"min.cleanable.dirty.ratio", "NaN", "Invalid value NaN for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE"},
		{"preallocate", "yes", "Invalid value yes for configuration preallocate: Expected value to be either true or false"},
		{"preallocate", "TRUE", ""},
		{"min.insync.replicas", "0", "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1"},
		{"min.insync.replicas", "5", ""},
		{"max.message.bytes", "-1", "Invalid value -1 for configuration max.message.bytes: Value must be at least 0"},
		{"max.decompressed.message.bytes", "0", "Invalid value 0 for configuration max.decompressed.message.bytes: Value must be at least 1"},
		{"follower.replication.throttled.replicas", "*", ""},
		{"follower.replication.throttled.replicas", "1:1,2:2", ""},
		{"follower.replication.throttled.replicas", "x", "Invalid value [x] for configuration follower.replication.throttled.replicas: follower.replication.throttled.replicas must be the literal '*' or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."},
		{"remote.storage.enable", "true", "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."},
		{"remote.storage.enable", "false", ""},
		{"local.retention.bytes", "-3", "Invalid value -3 for configuration local.retention.bytes: Value must be at least -2"},
	} {
		err := ValidateTopic(map[string]string{c.name: c.value}, nil)
		got := ""
		if err != nil {
			got = err.Error()
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%s=%q: %v is not an ErrInvalid", c.name, c.value, err)
			}
		}
		if got != c.want {
			t.Errorf("%s=%q\n got %s\nwant %s", c.name, c.value, got, c.want)
		}
	}
}

func TestValidateTopicSeveral(t *testing.T) {
	for _, c := range []struct {
		overrides, broker map[string]string
		want              string
	}{
		{
			overrides: map[string]string{"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
			want:      "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
		},
		{
			overrides: map[string]string{"min.compaction.lag.ms": "10"},
			broker:    map[string]string{"log.cleaner.max.compaction.lag.ms": "9"},
			want:      "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (9)",
		},
		{
			overrides: map[string]string{"retention.ms": "a", "segment.ms": "b", "zzz": "1"},
			want:      "Unknown topic config name: zzz",
		},
		{overrides: map[string]string{"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "10"}},
	} {
		err := ValidateTopic(c.overrides, c.broker)
		if got := text(err); got != c.want {
			t.Errorf("%v: got %q, want %q", c.overrides, got, c.want)
		}
	}
	// What a broker's config makes of an accepted topic is no reason not to open it.
	overrides := map[string]string{"min.compaction.lag.ms": "10"}
	if _, err := ParseTopic(overrides, map[string]string{"log.cleaner.max.compaction.lag.ms": "9"}); err != nil {
		t.Error(err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseTopicDefaults(t *testing.T) {
	got, err := ParseTopic(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Topic{
		Log:                  storage.DefaultConfig(),
		KeepProducerCodec:    true,
		MinInSyncReplicas:    1,
		MaxMessageBytes:      1048588,
		MaxDecompressedBytes: 2147483639,
		TimestampBeforeMaxMs: math.MaxInt64,
		TimestampAfterMaxMs:  3600000,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseTopicOverrides(t *testing.T) {
	got, err := ParseTopic(map[string]string{
		"cleanup.policy": "compact", "compression.type": "gzip", "compression.gzip.level": "6", "delete.retention.ms": "1",
		"file.delete.delay.ms": "2", "flush.messages": "3", "flush.ms": "4", "index.interval.bytes": "5", "max.compaction.lag.ms": "6",
		"max.decompressed.message.bytes": "7", "max.message.bytes": "8", "message.timestamp.after.max.ms": "9",
		"message.timestamp.before.max.ms": "10", "message.timestamp.type": "LogAppendTime", "min.cleanable.dirty.ratio": "0.25",
		"min.compaction.lag.ms": "3", "min.insync.replicas": "12", "preallocate": "true", "retention.bytes": "13", "retention.ms": "14",
		"segment.bytes": "1048577", "segment.index.bytes": "16", "segment.jitter.ms": "17", "segment.ms": "18",
		"unclean.leader.election.enable": "true",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Topic{
		Log: storage.Config{
			SegmentBytes: 1048577, SegmentMs: 18, SegmentJitterMs: 17, SegmentIndexBytes: 16, IndexIntervalBytes: 5, RetentionMs: 14,
			RetentionBytes: 13, FlushMessages: 3, FlushMs: 4, FileDeleteDelayMs: 2, MaxMessageBytes: 8, Preallocate: true, Compact: true,
			DeleteRetentionMs: 1, MinCompactionLagMs: 3, MaxCompactionLagMs: 6, MinCleanableDirtyRatio: 0.25,
		},
		Codec: record.Gzip, CodecLevel: 6, MinInSyncReplicas: 12, MaxMessageBytes: 8, MaxDecompressedBytes: 7,
		TimestampType: record.LogAppendTime, TimestampBeforeMaxMs: 10, TimestampAfterMaxMs: 9, UncleanLeaderElection: true,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !got.Compacted() {
		t.Error("not compacted")
	}
}

func TestParseTopicCodecs(t *testing.T) {
	for value, want := range map[string]Topic{
		"producer":     {KeepProducerCodec: true},
		"uncompressed": {Codec: record.None},
		"gzip":         {Codec: record.Gzip, CodecLevel: -1},
		"snappy":       {Codec: record.Snappy},
		"lz4":          {Codec: record.LZ4, CodecLevel: 9},
		"zstd":         {Codec: record.Zstd, CodecLevel: 3},
	} {
		got, err := ParseTopic(map[string]string{"compression.type": value}, nil)
		if err != nil || got.KeepProducerCodec != want.KeepProducerCodec || got.Codec != want.Codec || got.CodecLevel != want.CodecLevel {
			t.Errorf("%s: %v %v %d, %v", value, got.KeepProducerCodec, got.Codec, got.CodecLevel, err)
		}
	}
}

// Topic configs that a topic doesn't set come from the broker's: milliseconds before minutes before hours.
func TestParseTopicFallsBackToTheBroker(t *testing.T) {
	for _, c := range []struct {
		broker map[string]string
		want   int64
	}{
		{nil, 604800000},
		{map[string]string{"log.retention.hours": "2"}, 7200000},
		{map[string]string{"log.retention.hours": "2", "log.retention.minutes": "3"}, 180000},
		{map[string]string{"log.retention.hours": "2", "log.retention.minutes": "3", "log.retention.ms": "4"}, 4},
		{map[string]string{"log.retention.hours": "-1"}, -1},
		{map[string]string{"log.retention.minutes": "-7"}, -1},
		{map[string]string{"log.retention.ms": "-2"}, -1},
		{map[string]string{"log.retention.hours": "2147483647"}, 2147483647 * 3600000},
		{map[string]string{"retention.ms": "9", "log.segment.bytes": "1048576"}, 604800000}, // not a broker config
	} {
		got, err := ParseTopic(nil, c.broker)
		if err != nil || got.Log.RetentionMs != c.want {
			t.Errorf("%v: %d, %v; want %d", c.broker, got.Log.RetentionMs, err, c.want)
		}
	}
	got, err := ParseTopic(map[string]string{"retention.ms": "7"}, map[string]string{
		"log.retention.ms": "4", "log.roll.hours": "1", "log.roll.jitter.hours": "2", "log.flush.scheduler.interval.ms": "55",
		"message.max.bytes": "99", "log.cleanup.policy": "compact,delete", "log.message.timestamp.type": "LogAppendTime",
	})
	if err != nil || got.Log.RetentionMs != 7 || got.Log.SegmentMs != 3600000 || got.Log.SegmentJitterMs != 7200000 || got.Log.FlushMs != 55 ||
		got.MaxMessageBytes != 99 || !got.Log.Compact || !got.Log.Delete || got.TimestampType != record.LogAppendTime {
		t.Errorf("%+v, %v", got, err)
	}
	if scaled(math.MaxInt64/2, 1000) != math.MaxInt64 {
		t.Error("overflow")
	}
}

func TestInternalSegmentBytes(t *testing.T) {
	got, err := ParseTopic(map[string]string{"internal.segment.bytes": "100", "segment.bytes": "2000000"}, nil)
	if err != nil || got.Log.SegmentBytes != 100 {
		t.Errorf("%d, %v", got.Log.SegmentBytes, err)
	}
}

func TestValidateBroker(t *testing.T) {
	if err := ValidateBroker(map[string]string{"log.retention.hours": "1", "zookeeper.connect": "x", "ssl.key.password": "s"}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ name, value, want string }{
		{"log.retention.hours", "x", "Invalid value x for configuration log.retention.hours: Not a number of type INT"},
		{"log.retention.ms", "0", "Invalid value 0 for configuration log.retention.ms: Value must be -1 (unlimited) or at least 1"},
		{"num.partitions", "0", "Invalid value 0 for configuration num.partitions: Value must be at least 1"},
		{"log.cleaner.min.compaction.lag.ms", "-1", "Invalid value -1 for configuration log.cleaner.min.compaction.lag.ms: Value must be at least 0"},
	} {
		if err := ValidateBroker(map[string]string{c.name: c.value}); text(err) != c.want {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, k := range TopicKeys() {
		f.Add(k.Name, k.Default)
	}
	f.Add("cleanup.policy", " delete , compact")
	f.Add("min.cleanable.dirty.ratio", "1e-4")
	f.Add("retention.ms", "+5")
	f.Fuzz(func(t *testing.T, name, value string) {
		k, ok := TopicKey(name)
		if !ok {
			return
		}
		v, err := k.Parse(value)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := k.Parse(v.String())
		if err != nil || again.String() != v.String() {
			t.Fatalf("%q is shown as %q, which reads as %q, %v", value, v, again, err)
		}
		if _, err := ParseTopic(map[string]string{name: value}, nil); err != nil {
			t.Fatalf("%s=%q was accepted, but %v", name, value, err)
		}
	})
}
