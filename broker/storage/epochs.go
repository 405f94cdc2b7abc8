package storage

import (
	"fmt"
	"path/filepath"

	"moldau/internal/vfs"
)

// epochFile is Kafka's name of the leader epoch cache.
const epochFile = "leader-epoch-checkpoint"

// AssignEpoch notes that a leader epoch begins at start, which a new leader does before its first append. Later entries that
// contradict it are dropped.
func (l *Log) AssignEpoch(epoch int32, start int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return fmt.Errorf("assign epoch %d to %s: %w", epoch, l.tp, err)
	}
	return l.changeEpochs(func(c *epochCache) bool { return c.assign(epoch, start) })
}

// LatestEpoch returns the newest leader epoch, UndefinedEpoch if there is none.
func (l *Log) LatestEpoch() int32 {
	l.epochMu.Lock()
	defer l.epochMu.Unlock()
	return l.epochs.latest()
}

// EndOffsetForEpoch answers OffsetForLeaderEpoch: the largest epoch that this log knows and that isn't above the asked one, and the
// offset at which it ends. UndefinedEpoch and UndefinedOffset where nothing is known.
func (l *Log) EndOffsetForEpoch(epoch int32) (int32, int64) {
	l.epochMu.Lock()
	defer l.epochMu.Unlock()
	return l.epochs.endOffset(epoch, l.end.Load())
}

// EpochAt returns the leader epoch of the batch at offset, UndefinedEpoch if unknown.
func (l *Log) EpochAt(offset int64) int32 {
	l.epochMu.Lock()
	defer l.epochMu.Unlock()
	return l.epochs.epochAt(offset)
}

// assign notes the epoch of an append. The caller holds mu.
func (l *Log) assign(epoch int32, start int64) error {
	if epoch <= l.LatestEpoch() {
		return nil
	}
	return l.changeEpochs(func(c *epochCache) bool { return c.assign(epoch, start) })
}

// changeEpochs changes the cache and then its file. The caller holds mu.
func (l *Log) changeEpochs(change func(*epochCache) bool) error {
	l.epochMu.Lock()
	fresh := len(l.epochs.entries) == 0
	changed := change(&l.epochs)
	data := encodeEpochs(l.epochs.entries)
	l.epochMu.Unlock()
	if !changed {
		return nil
	}
	if err := l.writeEpochs(data, fresh && l.newborn); err != nil {
		return l.ioError("write leader epochs of", err)
	}
	return nil
}

// writeEpochs replaces the file. That of a log whose directory isn't durable yet becomes durable with its first flush: thousands of
// partitions may be created at once.
func (l *Log) writeEpochs(data []byte, lazily bool) error {
	if !lazily {
		return vfs.WriteFileAtomic(l.env.o.FS, filepath.Join(l.path, epochFile), data)
	}
	return l.writeLazily(epochFile, data)
}
