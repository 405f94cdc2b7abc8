package configdef

import (
	"time"

	"moldau/broker/storage"
)

// cleanerKeys are the configs of log compaction, besides the defaults of topic configs. They take effect at once when they change, except
// log.cleaner.enable.
func cleanerKeys() []Key {
	return []Key{
		{
			Name: "log.cleaner.backoff.ms", Type: Long, Default: "15000", Valid: atLeast(0), Scope: ClusterWide, Importance: Medium,
			Doc: "How long compaction waits, when no log needs it, before it looks again.",
		},
		{
			Name: "log.cleaner.dedupe.buffer.size", Type: Long, Default: "134217728", Scope: ClusterWide, Importance: Medium,
			Doc: "The memory for the keys of the logs that are being compacted, of all threads together. A key takes 24 bytes; a log with more keys than fit takes several passes. No more is allocated than a log needs, and none while nothing is compacted.",
		},
		{
			Name: "log.cleaner.enable", Type: Boolean, Default: "true", Importance: Medium,
			Doc: "Whether logs with cleanup.policy compact are compacted at all.",
		},
		{
			Name: "log.cleaner.io.buffer.load.factor", Type: Double, Default: "0.9", Scope: ClusterWide, Importance: Medium,
			Doc: "The part of log.cleaner.dedupe.buffer.size that may be filled; fuller means slower searches.",
		},
		{
			Name: "log.cleaner.io.buffer.size", Type: Int, Default: "524288", Valid: atLeast(0), Scope: ClusterWide, Importance: Medium,
			Doc: "The memory for reading and writing during compaction, of all threads together.",
		},
		{
			Name: "log.cleaner.io.max.bytes.per.second", Type: Double, Default: "1.7976931348623157E308", Scope: ClusterWide, Importance: Medium,
			Doc: "The bytes per second that compaction reads and writes at most, of all threads together.",
		},
		{
			Name: "log.cleaner.threads", Type: Int, Default: "1", Valid: atLeast(0), Scope: ClusterWide, Importance: Medium,
			Doc: "How many logs are compacted at the same time.",
		},
	}
}

// ParseCleaner returns how logs are compacted on a broker with the given configs in force (Layers.InForce; nil for Kafka's defaults).
func ParseCleaner(broker map[string]string) (storage.CleanerConfig, error) {
	values := make(map[string]Value)
	for _, k := range cleanerKeys() {
		text, ok := broker[k.Name]
		if !ok {
			text = k.Default
		}
		v, err := k.Parse(text)
		if err != nil {
			return storage.CleanerConfig{}, err
		}
		values[k.Name] = v
	}
	c := storage.CleanerConfig{
		Threads:           int(values["log.cleaner.threads"].Int()),
		DedupeBufferBytes: values["log.cleaner.dedupe.buffer.size"].Int(),
		LoadFactor:        values["log.cleaner.io.buffer.load.factor"].Float(),
		IOBufferBytes:     int(values["log.cleaner.io.buffer.size"].Int()),
		IOBytesPerSecond:  values["log.cleaner.io.max.bytes.per.second"].Float(),
		Backoff:           time.Duration(values["log.cleaner.backoff.ms"].Int()) * time.Millisecond,
	}
	if !values["log.cleaner.enable"].Bool() {
		c.Threads = 0
	}
	return c, nil
}
