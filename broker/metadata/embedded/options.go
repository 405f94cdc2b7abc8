package embedded

import (
	"log/slog"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Options are the settings of a store. The zero value is good.
type Options struct {
	// Logger takes what Badger reports; steady state is silent. Nil discards it.
	Logger *slog.Logger
	// MinFreeBytes is the floor of free disk space below which the store refuses to write. Transactions that delete
	// something pass down to half of it, and below while the log that is allocated has room for them, so that a full disk
	// can be emptied. 0 means DefaultMinFreeBytes, a negative value no floor.
	MinFreeBytes int64
	// FreeBytes tells the free space of the file system that holds a directory; nil asks the operating system.
	FreeBytes func(dir string) (int64, error)
	// HistoryBytes bounds the memory for changes that a slow watcher has not taken yet; a watcher that falls further
	// behind gets metadata.ErrCompacted. 0 means DefaultHistoryBytes.
	HistoryBytes int
}

// Defaults of Options.
const (
	// DefaultMinFreeBytes is twice what Badger may write beside its preallocated logs before the next check: a flushed
	// memtable.
	DefaultMinFreeBytes = 12 << 20
	DefaultHistoryBytes = 4 << 20
)

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = DefaultMinFreeBytes
	}
	if o.FreeBytes == nil {
		o.FreeBytes = freeBytes
	}
	if o.HistoryBytes == 0 {
		o.HistoryBytes = DefaultHistoryBytes
	}
	return o
}

// Sizes of Badger's parts.
const (
	memTableBytes = 4 << 20
	// A log is closed after the write that takes it past memTableBytes. One write is at most 15 % of that, plus headers.
	walBytes = memTableBytes + 2<<20
	// Values above this size would go to the value log. The contract's largest value is smaller, so nothing ever does,
	// and the value log stays an empty file of the least possible size.
	valueThreshold = 256 << 10
	valueLogBytes  = 1 << 20
)

// badgerOptions are for a small store: measured, they open in about 11 ms and add about 6 MB of memory.
func badgerOptions(dir string, o Options) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(badgerLogger{o.Logger}).
		WithSyncWrites(true).
		WithDetectConflicts(false). // one goroutine writes
		WithMemTableSize(memTableBytes).
		WithNumMemtables(2).
		WithValueLogFileSize(valueLogBytes).
		WithValueThreshold(valueThreshold).
		WithBlockCacheSize(0). // tables are memory-mapped and not compressed
		WithIndexCacheSize(0).
		WithBaseTableSize(1 << 20).
		WithBaseLevelSize(4 << 20).
		WithNumCompactors(0). // compact.go says when
		WithNumLevelZeroTables(compactTables).
		WithNumLevelZeroTablesStall(1 << 16). // flushes must not wait for a compaction that has no room
		WithCompression(options.None).
		WithChecksumVerificationMode(options.OnTableRead).
		WithMetricsEnabled(false).
		WithBypassLockGuard(ownsDirLock) // Open has locked the directory in the same way
}
