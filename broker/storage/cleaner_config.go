package storage

import (
	"math"
	"time"
)

// CleanerConfig says how logs are compacted in the background. The names are Kafka's.
type CleanerConfig struct {
	// Threads is how many logs are compacted at the same time; 0 compacts none (log.cleaner.threads, log.cleaner.enable).
	Threads int
	// DedupeBufferBytes is the memory for the keys of the logs being compacted, of all threads together
	// (log.cleaner.dedupe.buffer.size). A log with more keys takes several passes.
	DedupeBufferBytes int64
	// LoadFactor is the part of that memory that may be filled (log.cleaner.io.buffer.load.factor).
	LoadFactor float64
	// IOBufferBytes is the size of the buffers for reading and writing, of all threads together (log.cleaner.io.buffer.size).
	IOBufferBytes int
	// IOBytesPerSecond bounds reading and writing together (log.cleaner.io.max.bytes.per.second).
	IOBytesPerSecond float64
	// Backoff is how long the cleaner waits when there is nothing to compact (log.cleaner.backoff.ms).
	Backoff time.Duration
}

// DefaultCleanerConfig returns Kafka's defaults.
func DefaultCleanerConfig() CleanerConfig {
	return CleanerConfig{
		Threads: 1, DedupeBufferBytes: 128 << 20, LoadFactor: 0.9, IOBufferBytes: 512 << 10,
		IOBytesPerSecond: math.MaxFloat64, Backoff: 15 * time.Second,
	}
}

// minIOBytes is the smallest buffer that a worker gets.
const minIOBytes = 16 << 10

// dedupeBytes is the memory for keys of one thread.
func (c *CleanerConfig) dedupeBytes() int64 { return c.DedupeBufferBytes / int64(max(c.Threads, 1)) }

// ioBytes is the size of one of a thread's two buffers.
func (c *CleanerConfig) ioBytes() int { return max(c.IOBufferBytes/max(c.Threads, 1)/2, minIOBytes) }
