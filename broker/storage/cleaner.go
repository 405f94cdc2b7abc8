package storage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"moldau/broker/record"
	"moldau/broker/storage/compact"
)

// cleaner compacts the logs of an engine whose policy asks for it, the one with the largest dirty part first. It is owned by the engine.
// Its goroutines, one per thread, end with stop or with a change of the configuration. A log that cannot be compacted is left alone from
// then on, and told of; the others go on.
type cleaner struct {
	e *Engine

	turn chan struct{} // held by whoever starts or stops the goroutines
	halt func()        // ends them; nil while there are none. Under turn
	over bool          // none are started any more. Under turn
	done sync.WaitGroup

	mu       sync.Mutex // memory only
	busy     map[*Log]bool
	unclean  map[*Log]error // cannot be compacted
	lastLook time.Time
	dirtiest float64               // largest dirty part at the last look
	delayMs  int64                 // longest delay beyond max.compaction.lag.ms at the last look
	last     map[int]CleaningStats // of each worker
	totals   CleanerTotals
}

// CleaningStats describes the last compaction of a worker.
type CleaningStats struct {
	Took              time.Duration
	BytesRead         int64 // in order to copy what stays
	BytesWritten      int64
	BufferUtilization float64 // part of the memory for keys that was filled
}

// CleanerTotals count since the start.
type CleanerTotals struct {
	Compactions   int64
	BytesRead     int64
	BytesWritten  int64
	RecordsRead   int64
	RecordsKept   int64
	RecordsNoKey  int64 // records without a key, which a compacted log cannot keep
	SegmentsIn    int64
	SegmentsOut   int64
	Interruptions int64 // compactions that gave way to a truncation or a deletion
}

// UncleanableDir counts what cannot be compacted in a log directory.
type UncleanableDir struct {
	Partitions int
	Bytes      int64
}

// CleanerStats are the gauges of the cleaner.
type CleanerStats struct {
	Last          []CleaningStats // of each worker that has compacted something
	Totals        CleanerTotals
	MaxDirtyRatio float64
	MaxDelay      time.Duration // longest time by which a record has outstayed max.compaction.lag.ms
	SinceLastRun  time.Duration // since logs were looked through
	Uncleanable   map[string]UncleanableDir
}

func newCleaner(e *Engine) *cleaner {
	return &cleaner{
		e: e, turn: make(chan struct{}, 1), busy: make(map[*Log]bool), unclean: make(map[*Log]error), last: make(map[int]CleaningStats),
		lastLook: time.Now(),
	}
}

// start begins to compact. It ends what went on under another configuration.
func (c *cleaner) start(cfg CleanerConfig) {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.end()
	if c.over {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.halt = cancel
	th := newThrottle(cfg.IOBytesPerSecond)
	for i := range cfg.Threads {
		w := newCleanerWorker(c, i, cfg, th)
		c.done.Go(func() { w.run(ctx) })
	}
}

// stop ends the goroutines for good. A compaction under way is abandoned, except for the replacement of a segment that has begun.
func (c *cleaner) stop() {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.over = true
	c.end()
}

func (c *cleaner) end() {
	if c.halt != nil {
		c.halt()
		c.done.Wait()
		c.halt = nil
	}
}

// grab chooses the log to compact next, and keeps others from it.
func (c *cleaner) grab(nowMs int64) (best *Log, plan compact.Plan) {
	dirtiest, delay := 0.0, int64(0)
	for _, l := range c.e.Logs() {
		if !l.Config().Compact || l.writable() != nil || c.skips(l) {
			continue
		}
		p, err := l.compactionPlan(nowMs)
		if err != nil {
			if !passing(err) && !isNotExist(err) { // retention may have taken a segment meanwhile
				c.failed(l, err)
			}
			continue
		}
		if p.Reset && !l.Config().Delete {
			c.e.env.logger.Warn("the offset up to which a log was compacted is invalid and not used", "partition", l.tp.String(),
				"cleaned", l.Cleaned(), "start", l.Start(), "end", l.End())
		}
		if p.Reset {
			l.noteCleaned(p.First)
		}
		dirtiest, delay = max(dirtiest, p.Ratio()), max(delay, p.DelayMs)
		if p.Due && (best == nil || p.Ratio() > plan.Ratio()) {
			best, plan = l, p
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastLook, c.dirtiest, c.delayMs = time.Now(), dirtiest, delay
	if best == nil || c.busy[best] { // another worker was faster
		return nil, plan
	}
	c.busy[best] = true
	return best, plan
}

// skips tells whether a log is being compacted or cannot be.
func (c *cleaner) skips(l *Log) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy[l] || c.unclean[l] != nil
}

// failed notes that a log cannot be compacted.
func (c *cleaner) failed(l *Log, err error) {
	if l.writable() != nil {
		return // it was closed, or its directory went offline
	}
	c.mu.Lock()
	c.unclean[l] = err
	c.mu.Unlock()
	c.e.env.logger.Error("log cannot be compacted and grows until the broker is started again", "partition", l.tp.String(), "dir", l.path, "err", err)
}

// release gives a log back after its compaction, which ended with err.
func (c *cleaner) release(l *Log, w *cleanerWorker, r cleaned, took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, l)
	c.totals.BytesRead += r.bytesRead
	c.totals.BytesWritten += r.bytesWritten
	c.totals.RecordsRead += r.recordsRead
	c.totals.RecordsKept += r.recordsKept
	c.totals.RecordsNoKey += r.keyless
	c.totals.SegmentsIn += int64(r.segmentsIn)
	c.totals.SegmentsOut += int64(r.segmentsOut)
	if err != nil {
		c.totals.Interruptions++
		return
	}
	c.totals.Compactions++
	c.last[w.id] = CleaningStats{Took: took, BytesRead: r.bytesCopied, BytesWritten: r.bytesWritten, BufferUtilization: r.mapUtilization}
}

// forget drops logs that are no longer there from the list of those that cannot be compacted.
func (c *cleaner) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.unclean {
		if l.writable() != nil {
			delete(c.unclean, l)
		}
	}
}

// stats returns gauges.
func (c *cleaner) stats() CleanerStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := CleanerStats{
		Totals: c.totals, MaxDirtyRatio: c.dirtiest, MaxDelay: msDuration(c.delayMs), SinceLastRun: time.Since(c.lastLook),
		Uncleanable: make(map[string]UncleanableDir),
	}
	for _, last := range c.last {
		s.Last = append(s.Last, last)
	}
	for _, d := range c.e.dirs {
		s.Uncleanable[d.path] = UncleanableDir{}
	}
	for l := range c.unclean {
		u := s.Uncleanable[l.dir.path]
		s.Uncleanable[l.dir.path] = UncleanableDir{Partitions: u.Partitions + 1, Bytes: u.Bytes + l.Size()}
	}
	return s
}

// cleanerWorker is one goroutine of the cleaner, with its memory.
type cleanerWorker struct {
	c        *cleaner
	id       int
	config   CleanerConfig
	throttle *throttle
	unpack   *record.Decompressor
	pack     *record.Compressor

	ioBytes int
	in      []byte // what was read
	pending []byte // what is to be written
	out     []byte // one batch
}

func newCleanerWorker(c *cleaner, id int, cfg CleanerConfig, th *throttle) *cleanerWorker {
	return &cleanerWorker{
		c: c, id: id, config: cfg, throttle: th, pack: record.NewCompressor(),
		// What is in the log was admitted once, under whichever limits.
		unpack:  record.NewDecompressor(record.Limits{MaxBytes: math.MaxInt32, MaxRatio: math.MaxInt32, ZstdWindowBytes: 128 << 20}),
		ioBytes: cfg.ioBytes(),
	}
}

// keepBuffer keeps the memory of a batch for the next one, if it isn't too large.
func (w *cleanerWorker) keepBuffer(b record.Batch) {
	if cap(b) <= 4*w.ioBytes {
		w.out = b[:0]
	}
}

// run compacts what is due, and looks again after the backoff.
func (w *cleanerWorker) run(ctx context.Context) {
	timer := time.NewTimer(w.config.Backoff)
	defer timer.Stop()
	for {
		for more := true; more && ctx.Err() == nil; {
			more = w.cleanNext(ctx)
		}
		w.in, w.pending, w.out = nil, nil, nil // idle workers hold no memory
		w.c.forget()
		timer.Reset(w.config.Backoff)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// cleanNext compacts the log that needs it most. It returns false if there is none, or if the disk is full and trying again at once
// would be of no use.
func (w *cleanerWorker) cleanNext(ctx context.Context) bool {
	nowMs := w.c.e.env.nowMs()
	l, plan := w.c.grab(nowMs)
	if l == nil {
		return false
	}
	began := time.Now()
	c := &compaction{l: l, w: w, ctx: ctx, plan: plan, nowMs: nowMs}
	err := w.clean(c)
	took := time.Since(began)
	if err != nil && !passing(err) {
		w.c.failed(l, err)
	}
	w.c.release(l, w, c.result, took, err)
	logger := w.c.e.env.logger
	switch {
	case err == nil:
		logger.Debug("compacted a log", "partition", l.tp.String(), "from", plan.First, "to", plan.Bound, "took", took,
			"read", c.result.bytesRead, "written", c.result.bytesWritten, "segments", c.result.segmentsIn, "into", c.result.segmentsOut)
		if c.result.keyless > 0 {
			logger.Warn("compaction dropped records without a key", "partition", l.tp.String(), "records", c.result.keyless)
		}
	case errors.Is(err, ErrNoSpace):
		logger.Warn("no space to compact a log; will try again", "partition", l.tp.String(), "err", err)
		return false
	}
	return err == nil || !errors.Is(err, errOvertaken)
}

// passing tells whether an error says nothing about the log itself.
func passing(err error) bool {
	for _, e := range []error{errOvertaken, context.Canceled, ErrClosed, ErrNoSpace} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// clean runs a compaction. Whatever it meets in a log must not end the broker.
func (w *cleanerWorker) clean(c *compaction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compaction of %s panicked: %v\n%s", c.l.tp, p, debug.Stack())
		}
	}()
	if cap(w.in) < w.ioBytes {
		w.in, w.pending = make([]byte, w.ioBytes), make([]byte, 0, w.ioBytes)
	}
	return c.run()
}

// SetCleaner changes how logs are compacted. A compaction under way begins anew.
func (e *Engine) SetCleaner(c CleanerConfig) { e.cleaner.start(c) }

// CleanerStats returns the gauges of compaction.
func (e *Engine) CleanerStats() CleanerStats { return e.cleaner.stats() }
