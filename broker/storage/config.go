package storage

import "math"

// Config holds the topic configuration that a log honours. The names are Kafka's. It is a plain value: Log.SetConfig replaces it
// as a whole.
type Config struct {
	// SegmentBytes is the largest size of a segment (segment.bytes).
	SegmentBytes int64
	// SegmentMs is the age in ms at which a segment that isn't empty is rolled (segment.ms).
	SegmentMs int64
	// SegmentJitterMs is the most that is taken off SegmentMs at random, for each segment (segment.jitter.ms).
	SegmentJitterMs int64
	// SegmentIndexBytes bounds the size of each index file (segment.index.bytes).
	SegmentIndexBytes int64
	// IndexIntervalBytes is the distance in bytes between index entries (index.interval.bytes).
	IndexIntervalBytes int64
	// RetentionMs is how long records are kept in ms, -1 for ever (retention.ms).
	RetentionMs int64
	// RetentionBytes is how many bytes are kept, -1 all (retention.bytes).
	RetentionBytes int64
	// FlushMessages is the number of unflushed records that starts a flush (flush.messages).
	FlushMessages int64
	// FlushMs is the longest time in ms that a record stays unflushed (flush.ms).
	FlushMs int64
	// FileDeleteDelayMs is how long files stay after they were marked as deleted (file.delete.delay.ms).
	FileDeleteDelayMs int64
	// MaxMessageBytes is the largest size of a record batch (max.message.bytes). The caller of Append enforces it.
	MaxMessageBytes int64
	// Preallocate reserves the disk space of a new segment at once (preallocate).
	Preallocate bool
	// Delete says that old segments are deleted (cleanup.policy has delete).
	Delete bool
	// Compact says that the log is to be compacted (cleanup.policy has compact).
	Compact bool
	// DeleteRetentionMs is how long a compacted log keeps tombstones and markers that mark nothing (delete.retention.ms).
	DeleteRetentionMs int64
	// MinCompactionLagMs is how long a record is left alone by compaction (min.compaction.lag.ms).
	MinCompactionLagMs int64
	// MaxCompactionLagMs is how long a record may stay out of reach of compaction (max.compaction.lag.ms).
	MaxCompactionLagMs int64
	// MinCleanableDirtyRatio is the part of the log that must be dirty before it is compacted (min.cleanable.dirty.ratio).
	MinCleanableDirtyRatio float64
}

// rollMs is the age at which a segment is rolled. Compaction leaves the active segment alone, so the maximum lag bounds it too.
func (c *Config) rollMs() int64 {
	if c.Compact && c.MaxCompactionLagMs > 0 {
		return min(c.SegmentMs, c.MaxCompactionLagMs)
	}
	return c.SegmentMs
}

// DefaultConfig returns Kafka's default topic configuration.
func DefaultConfig() Config {
	return Config{
		SegmentBytes:       1 << 30,
		SegmentMs:          7 * 24 * 60 * 60 * 1000,
		SegmentIndexBytes:  10 << 20,
		IndexIntervalBytes: 4096,
		RetentionMs:        7 * 24 * 60 * 60 * 1000,
		RetentionBytes:     -1,
		FlushMessages:      math.MaxInt64,
		FlushMs:            math.MaxInt64,
		FileDeleteDelayMs:  60_000,
		MaxMessageBytes:    1<<20 + 12,
		Delete:             true,

		DeleteRetentionMs:      24 * 60 * 60 * 1000,
		MaxCompactionLagMs:     math.MaxInt64,
		MinCleanableDirtyRatio: 0.5,
	}
}
