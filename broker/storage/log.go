package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"moldau/broker/record"
)

// Log is one partition's log. All methods may be called concurrently.
type Log struct {
	tp   TopicPartition
	path string
	dir  *logDir
	env  *environment

	id       atomic.Pointer[TopicID]
	cfg      atomic.Pointer[Config]
	view     atomic.Pointer[[]*segment] // in order, never empty, replaced as a whole; the last one is active
	start    atomic.Int64
	end      atomic.Int64
	hw       atomic.Int64
	cleaned  atomic.Int64          // compacted up to here
	err      atomic.Pointer[error] // ErrClosed, ErrReadOnly or ErrStorage
	recovery RecoveryReport

	// reshape is taken before mu by whoever replaces or removes segments but the active one: compaction, retention, truncation. It is
	// held across the I/O of that. Appends and reads don't take it.
	reshape sync.Mutex

	mu        sync.Mutex // the append lock: held across the write of an append, a roll, a truncation
	producers *producerTable
	// verifications are attempts to have transactions confirmed, by producer id; guards counts them.
	verifications map[int64]verification
	guards        Guard
	dirty         []dirtyFile // files to make durable, each pinned
	dirDirty      bool        // names in the log's directory are not durable yet
	newborn       bool        // the log's directory itself is not durable yet
	queued        bool        // the flusher has the log on its list
	urgent        bool        // and will flush it at once
	flushPlace    flushPlace  // where on that list; under the flusher's lock
	snapAt        int64       // offset of the newest producer snapshot
	snapshots     []int64     // offsets of all snapshots, rising
	pending       []pendingSnapshot
	gone          bool  // deleted or closed: its files belong to somebody else
	snapBytes     int64 // bytes appended since
	restedAt      int64 // log end that the keeper saw last; the keeper's alone

	txns transactions // has its own lock

	epochMu sync.Mutex // memory only
	epochs  epochCache

	flushMu    sync.Mutex // memory only
	flushedEnd int64
	cuts       int           // truncations so far: a flush that began before one says nothing about what came after
	flushed    chan struct{} // closed at the next flush, made when somebody waits
	watcher    Watcher
	savedPoint int64 // recovery point that a read-only or broken log was found with, -1 otherwise
}

// dirtyFile is a pinned file that awaits a flush. Transient ones are closed for good after it.
type dirtyFile struct {
	f         *file
	transient bool
}

// environment is what all logs of an engine share.
type environment struct {
	o      Options
	files  *fileCache
	unpack *record.Decompressor
	now    func() time.Time
	logger *slog.Logger
}

func (v *environment) nowMs() int64 { return v.now().UnixMilli() }

// Watcher is told what becomes of a log. Calls come from the flusher's goroutine and must not block.
type Watcher interface {
	// Flushed reports a new flushed end. Calls for one log come in order.
	Flushed(end int64)
	// Failed reports that the log's directory went offline: nothing will be flushed any more.
	Failed(err error)
}

// TopicPartition returns the partition whose log this is.
func (l *Log) TopicPartition() TopicPartition { return l.tp }

// TopicID returns the topic's id from partition.metadata. It is zero when that file is missing or damaged; see AdoptTopicID.
func (l *Log) TopicID() TopicID { return *l.id.Load() }

// Dir returns the log directory (one of Options.Dirs) that holds the log.
func (l *Log) Dir() string { return l.dir.path }

// Start returns the log start offset: the first one that can be read.
func (l *Log) Start() int64 { return l.start.Load() }

// End returns the log end offset: the one that the next record gets.
func (l *Log) End() int64 { return l.end.Load() }

// FlushedEnd returns the end of what survives a power cut.
func (l *Log) FlushedEnd() int64 {
	l.flushMu.Lock()
	defer l.flushMu.Unlock()
	return l.flushedEnd
}

// RecoveryPoint returns the offset that the next checkpoint will name: recovery after a crash looks only at what lies behind it.
func (l *Log) RecoveryPoint() int64 {
	l.flushMu.Lock()
	defer l.flushMu.Unlock()
	if l.savedPoint >= 0 {
		return l.savedPoint
	}
	return l.flushedEnd
}

// Size returns the bytes of all segments.
func (l *Log) Size() int64 {
	total := int64(0)
	for _, s := range l.segments() {
		_, size := s.bounds()
		total += size
	}
	return total
}

// Segments returns the number of segments.
func (l *Log) Segments() int { return len(l.segments()) }

// Config returns the configuration.
func (l *Log) Config() Config { return *l.cfg.Load() }

// SetConfig replaces the configuration. It holds from the next append on.
func (l *Log) SetConfig(c Config) { l.cfg.Store(&c) }

// Recovered says what recovery found when the engine was opened.
func (l *Log) Recovered() RecoveryReport { return l.recovery }

// Err returns nil while the log takes appends, else what ails it: ErrReadOnly, ErrStorage or ErrClosed.
func (l *Log) Err() error {
	if p := l.err.Load(); p != nil {
		return *p
	}
	return l.dir.offlineErr()
}

// SetHighWatermark notes the partition's high watermark. Retention deletes nothing above it, and it is written to
// replication-offset-checkpoint every few seconds.
func (l *Log) SetHighWatermark(hw int64) {
	if l.hw.Swap(hw) != hw && !l.dir.hwChanged.Load() { // all logs write to it: mostly it is set already
		l.dir.hwChanged.Store(true)
	}
}

// HighWatermarkCheckpoint returns the last high watermark that was set, or read from the checkpoint at start.
func (l *Log) HighWatermarkCheckpoint() int64 { return l.hw.Load() }

// Watch makes w the log's watcher, replacing another one; nil ends watching. If the directory is offline already, w is told at once.
func (l *Log) Watch(w Watcher) {
	l.flushMu.Lock()
	l.watcher = w
	l.flushMu.Unlock()
	if err := l.dir.offlineErr(); err != nil && w != nil {
		w.Failed(err)
	}
}

// Flush makes everything durable that was appended before the call, and waits for it.
func (l *Log) Flush(ctx context.Context) error {
	target := l.End()
	l.mu.Lock()
	if l.FlushedEnd() < target {
		l.wantFlush(true)
	}
	l.mu.Unlock()
	for {
		l.flushMu.Lock()
		done := l.flushedEnd >= min(target, l.end.Load())
		if !done && l.flushed == nil {
			l.flushed = make(chan struct{})
		}
		ch := l.flushed
		l.flushMu.Unlock()
		if done {
			return nil
		}
		if err := l.Err(); err != nil && !errors.Is(err, ErrReadOnly) {
			return fmt.Errorf("flush %s: %w", l.tp, err)
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return fmt.Errorf("flush %s: %w", l.tp, ctx.Err())
		}
	}
}

func (l *Log) segments() []*segment { return *l.view.Load() }

// active returns the segment that grows. The caller holds mu.
func (l *Log) active() *segment {
	v := l.segments()
	return v[len(v)-1]
}

// fail makes err the log's state, unless it has one already.
func (l *Log) fail(err error) { l.err.CompareAndSwap(nil, &err) }

// writable returns what keeps the log from being written to.
func (l *Log) writable() error { return l.Err() }

// readable returns what keeps the log from being read: damage does not.
func (l *Log) readable() error {
	if err := l.Err(); err != nil && !errors.Is(err, ErrReadOnly) {
		return err
	}
	return nil
}

// ioError turns an error of a write into one of ours: a full disk is answered and forgotten, anything else takes the directory
// offline.
func (l *Log) ioError(doing string, err error) error {
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, ErrStorage):
		return fmt.Errorf("%s %s: %w", doing, l.tp, err)
	case isNoSpace(err):
		err = fmt.Errorf("%s %s: %w: %w", doing, l.tp, ErrNoSpace, err)
		l.dir.noSpace(err)
		return err
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%s %s: %w: %w", doing, l.tp, ErrStorage, err)
	}
	l.dir.goOffline(fmt.Errorf("%s %s: %w", doing, l.tp, err))
	return l.dir.offlineErr()
}

// syncError is ioError for what can't be undone or tried again, a failed fsync above all: also a full disk takes the directory offline.
func (l *Log) syncError(doing string, err error) error {
	l.dir.goOffline(fmt.Errorf("%s %s: %w", doing, l.tp, err))
	return l.dir.offlineErr()
}

// readError turns an error of a read into one of ours. Reads that fail do not take the directory offline: a bad sector is the
// misfortune of one partition.
func (l *Log) readError(doing string, err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrClosed) {
		return fmt.Errorf("%s %s: %w", doing, l.tp, err)
	}
	return fmt.Errorf("%s %s: %w: %w", doing, l.tp, ErrStorage, err)
}

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// jitter draws what is taken off segment.ms for one segment.
func jitter(maxMs int64) int64 {
	if maxMs <= 0 {
		return 0
	}
	return rand.Int64N(maxMs) //nolint:gosec // spreads load, guards nothing
}

// wantFlush puts the log on the flusher's list. The caller holds mu.
func (l *Log) wantFlush(now bool) {
	if l.queued && (l.urgent || !now) {
		return
	}
	wait := time.Duration(0)
	if !now {
		wait = min(relaxedFlushEvery, msDuration(max(l.Config().FlushMs, 0)))
	}
	l.queued, l.urgent = true, wait <= 0
	l.dir.flusher.enqueue(l, wait)
}

// msDuration turns milliseconds into a duration without overflow.
func msDuration(ms int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(ms, most)) * time.Millisecond
}
