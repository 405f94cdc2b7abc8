package storage

import (
	"log/slog"
	"runtime"
	"time"

	"moldau/internal/vfs"
)

// Durability says when records count as safe.
type Durability int8

const (
	// Strict flushes after every append, so that FlushedEnd follows End within the time of one fsync.
	Strict Durability = iota
	// Relaxed leaves records to the page cache, as Kafka does: flushed by flush.messages, flush.ms, at a roll, and in the background.
	Relaxed
)

// String returns "strict" or "relaxed".
func (d Durability) String() string {
	if d == Relaxed {
		return "relaxed"
	}
	return "strict"
}

// Options says how to open an Engine.
type Options struct {
	// FS is the file system; vfs.OS if nil.
	FS vfs.FS
	// Dirs are the log directories. They are created if missing.
	Dirs []string
	// ClusterID and NodeID are written to meta.properties of new directories and compared with those of old ones. An empty ClusterID
	// compares and writes nothing but the node id.
	ClusterID string
	NodeID    int32
	// Durability is Strict unless told otherwise.
	Durability Durability
	// Config gives the configuration of a log that is found at start; DefaultConfig if nil. Engine.Create gets its own.
	Config func(TopicPartition) Config
	// MinFreeBytes is the free space that appends leave on the file systems of the directories; past it they fail with ErrNoSpace. None
	// if 0.
	MinFreeBytes int64
	// MaxOpenFiles is the number of descriptors that segments and indexes may hold; half of the process's limit if 0.
	MaxOpenFiles int
	// MaxProducersPerLog bounds the producers that a log remembers; the one idle longest is forgotten first. 20,000 if 0.
	MaxProducersPerLog int
	// RecoveryThreads is the number of logs that are recovered at the same time, for each directory; the number of CPUs if 0.
	RecoveryThreads int
	// Cleaner says how logs are compacted; the zero value compacts none. Engine.SetCleaner changes it.
	Cleaner CleanerConfig
	// Logger gets what an operator should know; discarded if nil.
	Logger *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Metrics counts; nothing is counted if nil.
	Metrics Metrics
}

// Limits and intervals that are not configurable.
const (
	defaultMaxProducers     = 20_000
	strictCheckpointEvery   = time.Second
	relaxedFlushEvery       = 10 * time.Second
	highWatermarkCheckpoint = 5 * time.Second
)

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Config == nil {
		o.Config = func(TopicPartition) Config { return DefaultConfig() }
	}
	if o.MaxOpenFiles <= 0 {
		o.MaxOpenFiles = defaultMaxOpenFiles()
	}
	if o.MaxProducersPerLog <= 0 {
		o.MaxProducersPerLog = defaultMaxProducers
	}
	if o.RecoveryThreads <= 0 {
		o.RecoveryThreads = runtime.GOMAXPROCS(0)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	return o
}
