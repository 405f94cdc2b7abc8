package configdef

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"moldau/broker/record"
	"moldau/broker/storage"
)

// Topic is the parsed configuration of one topic: the values in force, wherever each of them comes from.
type Topic struct {
	// Log is the part that the log honours.
	Log storage.Config
	// KeepProducerCodec says that compression.type is producer. Otherwise batches are stored with Codec at CodecLevel.
	KeepProducerCodec bool
	Codec             record.Codec
	// CodecLevel is the level for Codec in the terms of that codec: gzip -1 to 9, lz4 1 to 17, zstd -131072 to 22.
	CodecLevel int
	// MinInSyncReplicas is min.insync.replicas.
	MinInSyncReplicas int
	// MaxMessageBytes bounds a record batch as it arrives, MaxDecompressedBytes the same when it is decompressed.
	MaxMessageBytes, MaxDecompressedBytes int
	// TimestampType is message.timestamp.type.
	TimestampType record.TimestampType
	// TimestampBeforeMaxMs and TimestampAfterMaxMs bound the timestamps of CreateTime topics in ms before and after the
	// broker's clock (KIP-937); math.MaxInt64 is no bound.
	TimestampBeforeMaxMs, TimestampAfterMaxMs int64
	// UncleanLeaderElection is unclean.leader.election.enable.
	UncleanLeaderElection bool
	// Validation is what produced records are held against.
	Validation Validation
}

// Compacted tells whether records need a key.
func (t *Topic) Compacted() bool { return t.Log.Compact }

// ParseTopic returns the configuration of a topic with the given overrides on a broker with the given configs in force
// (Layers.InForce; nil for Kafka's defaults). Both maps hold texts by name. Broker configs that say nothing about topics
// are ignored; an override that isn't a topic config is an error.
func ParseTopic(overrides, broker map[string]string) (Topic, error) {
	values, err := topicValues(overrides, broker)
	if err != nil {
		return Topic{}, err
	}
	return newTopic(values)
}

// ValidateTopic tells whether a topic may have these overrides on this broker. Besides what ParseTopic checks, the configs
// must agree with each other; that is asked only of changes, because a later change of the broker's configs must not make
// a topic unreadable. Errors carry Kafka's texts.
func ValidateTopic(overrides, broker map[string]string) error {
	values, err := topicValues(overrides, broker)
	if err != nil {
		return err
	}
	return consistent(values, overrides)
}

// topicValues returns the values in force by name, without the configs that have none.
func topicValues(overrides, broker map[string]string) (map[string]Value, error) {
	if err := knownTopicNames(overrides); err != nil {
		return nil, err
	}
	keys := TopicKeys()
	values := make(map[string]Value, len(keys))
	for i := range keys {
		v, set, err := keys[i].effective(overrides, broker)
		if err != nil {
			return nil, err
		}
		if set {
			values[keys[i].Name] = v
		}
	}
	return values, nil
}

func knownTopicNames(overrides map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if _, ok := TopicKey(name); !ok {
			return invalid("Unknown topic config name: " + name)
		}
	}
	return nil
}

// effective returns the value of a topic config: the topic's own, else that of the strongest broker config that is set,
// else the default. set is false for configs without any value.
func (k *Key) effective(overrides, broker map[string]string) (v Value, set bool, err error) {
	if text, ok := overrides[k.Name]; ok {
		v, err = k.Parse(text)
		return v, true, err
	}
	for _, s := range k.Synonyms {
		text, ok := broker[s.Name]
		if !ok {
			continue
		}
		v, err = s.convert(k, text)
		return v, true, err
	}
	if k.NoDefault {
		return Value{typ: k.Type}, false, nil
	}
	v, err = k.Parse(k.Default)
	return v, true, err
}

// convert reads a broker config's text as a value of the topic config k.
func (s Synonym) convert(k *Key, text string) (Value, error) {
	bk, ok := BrokerKey(s.Name)
	if !ok {
		return Value{}, fmt.Errorf("%w: topic config %s falls back to the unknown broker config %s", ErrInvalid, k.Name, s.Name)
	}
	v, err := bk.Parse(text)
	if err != nil {
		return Value{}, err
	}
	v.typ = k.Type
	if s.Scale > 0 {
		v.num = scaled(v.num, s.Scale)
	}
	return v, nil
}

// scaled multiplies without overflow. Negative numbers, which all mean no limit, become -1.
func scaled(n, scale int64) int64 {
	switch {
	case n < 0:
		return -1
	case n > math.MaxInt64/scale:
		return math.MaxInt64
	default:
		return n * scale
	}
}

// consistent checks what several configs say together.
func consistent(values map[string]Value, overrides map[string]string) error {
	low, high := values["min.compaction.lag.ms"].Int(), values["max.compaction.lag.ms"].Int()
	if low > high {
		return invalid(fmt.Sprintf("conflict topic config setting min.compaction.lag.ms (%d) > max.compaction.lag.ms (%d)", low, high))
	}
	if v := newValidation(values); v.Envelope != EnvelopeRequired && (v.Key.Strategy != TopicSubject || v.Value.Strategy != TopicSubject) {
		return invalid("schema.validation.envelope=" + v.Envelope.String() + " needs the subject name strategy topic, because a payload without an envelope does not tell the name of its record")
	}
	if _, ok := overrides["remote.storage.enable"]; ok && values["remote.storage.enable"].Bool() {
		return invalid("Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.")
	}
	return nil
}

func newTopic(values map[string]Value) (Topic, error) {
	num := func(name string) int64 { return values[name].Int() }
	t := Topic{
		Log:                   logConfig(values),
		MinInSyncReplicas:     int(num("min.insync.replicas")),
		MaxMessageBytes:       int(num("max.message.bytes")),
		MaxDecompressedBytes:  int(num("max.decompressed.message.bytes")),
		TimestampBeforeMaxMs:  num("message.timestamp.before.max.ms"),
		TimestampAfterMaxMs:   num("message.timestamp.after.max.ms"),
		UncleanLeaderElection: values["unclean.leader.election.enable"].Bool(),
		Validation:            newValidation(values),
	}
	if values["message.timestamp.type"].Text() == "LogAppendTime" {
		t.TimestampType = record.LogAppendTime
	}
	switch c := values["compression.type"].Text(); c {
	case "producer":
		t.KeepProducerCodec = true
	case "uncompressed":
		t.Codec = record.None
	default:
		codec, err := record.ParseCodec(c)
		if err != nil {
			return Topic{}, fmt.Errorf("compression.type: %w", err)
		}
		t.Codec, t.CodecLevel = codec, int(num("compression."+c+".level"))
	}
	return t, nil
}

func logConfig(values map[string]Value) storage.Config {
	num := func(name string) int64 { return values[name].Int() }
	policy := values["cleanup.policy"].Strings()
	c := storage.Config{
		SegmentBytes:       num("segment.bytes"),
		SegmentMs:          num("segment.ms"),
		SegmentJitterMs:    num("segment.jitter.ms"),
		SegmentIndexBytes:  num("segment.index.bytes"),
		IndexIntervalBytes: num("index.interval.bytes"),
		RetentionMs:        num("retention.ms"),
		RetentionBytes:     num("retention.bytes"),
		FlushMessages:      num("flush.messages"),
		FlushMs:            num("flush.ms"),
		FileDeleteDelayMs:  num("file.delete.delay.ms"),
		MaxMessageBytes:    num("max.message.bytes"),
		Preallocate:        values["preallocate"].Bool(),
		Delete:             slices.Contains(policy, "delete"),
		Compact:            slices.Contains(policy, "compact"),

		DeleteRetentionMs:      num("delete.retention.ms"),
		MinCompactionLagMs:     num("min.compaction.lag.ms"),
		MaxCompactionLagMs:     num("max.compaction.lag.ms"),
		MinCleanableDirtyRatio: values["min.cleanable.dirty.ratio"].Float(),
	}
	if v, ok := values["internal.segment.bytes"]; ok {
		c.SegmentBytes = v.Int()
	}
	return c
}
