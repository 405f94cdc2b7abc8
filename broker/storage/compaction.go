package storage

import (
	"context"
	"errors"
	"fmt"
	"math"

	"moldau/broker/record"
	"moldau/broker/storage/compact"
)

// cleanerCheckpointFile is Kafka's name of the checkpoint that says up to where each log was compacted.
const cleanerCheckpointFile = "cleaner-offset-checkpoint"

// errOvertaken says that a log was truncated, deleted or cut back while it was compacted. Nothing is wrong; what was done so far holds.
var errOvertaken = errors.New("the log changed during its compaction")

// compactionPlan says what could be compacted of the log at a time, and whether it should be.
func (l *Log) compactionPlan(nowMs int64) (compact.Plan, error) {
	cfg, segs := l.Config(), l.segments()
	hw := l.hw.Load()
	active := segs[len(segs)-1].base
	s := compact.State{
		ActiveBase: active, Start: l.start.Load(), End: l.end.Load(), Cleaned: l.cleaned.Load(), NowMs: nowMs,
		Stable:   min(hw, l.txns.firstUnstable(hw), l.FlushedEnd()),
		MinLagMs: cfg.MinCompactionLagMs, MaxLagMs: cfg.MaxCompactionLagMs, MinDirtyRatio: cfg.MinCleanableDirtyRatio,
	}
	s.Segments = make([]compact.Segment, 0, len(segs)-1)
	for _, seg := range segs[:len(segs)-1] {
		c, err := l.compactionSegment(seg, cfg)
		if err != nil {
			return compact.Plan{}, l.readError("plan the compaction of", err)
		}
		s.Segments = append(s.Segments, c)
	}
	return compact.Decide(s), nil
}

// compactionSegment describes a segment to those who decide. Timestamps are looked up only where a lag asks for them.
func (l *Log) compactionSegment(seg *segment, cfg Config) (compact.Segment, error) {
	next, size := seg.bounds()
	c := compact.Segment{
		Base: seg.base, Next: next, Size: size, FirstMs: -1,
		IndexSize: int64(seg.index.count()) * offsetEntryLen, TimeSize: int64(seg.times.count()) * timeEntryLen,
	}
	if size == 0 {
		return c, nil
	}
	if cfg.MinCompactionLagMs > 0 {
		t, err := l.largestOf(seg)
		if err != nil {
			return c, err
		}
		c.LargestMs = t.timestamp
	}
	if cfg.MaxCompactionLagMs != math.MaxInt64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := l.loadFirstTimestamp(seg); err != nil {
			return c, err
		}
		c.FirstMs = seg.w.firstMs
	}
	return c, nil
}

// compaction is one compaction of one log, by one worker of the cleaner.
type compaction struct {
	l      *Log
	w      *cleanerWorker
	ctx    context.Context //nolint:containedctx // lives as long as the one call that made it
	plan   compact.Plan
	nowMs  int64
	cuts   int // truncations of the log before it began
	result cleaned
}

// cleaned says what a compaction did.
type cleaned struct {
	bytesRead                int64 // to find keys, and to copy
	bytesCopied              int64 // of that, to copy
	bytesWritten             int64
	recordsRead, recordsKept int64
	keyless                  int64
	segmentsIn, segmentsOut  int
	mapUtilization           float64
}

// run compacts what the plan says, in as many passes as the memory for keys makes necessary.
func (c *compaction) run() error {
	c.cuts = c.l.truncations()
	// Recovery must never look at what is compacted as if it were in doubt.
	c.l.dir.pointsChanged.Store(true)
	if err := c.l.dir.keeper.checkpoint(false); err != nil {
		return err
	}
	for first := c.plan.First; first < c.plan.Bound; {
		end, err := c.pass(first)
		if err != nil {
			return err
		}
		if end <= first {
			return fmt.Errorf("one batch at %d of %s has more keys than fit into log.cleaner.dedupe.buffer.size", first, c.l.tp)
		}
		c.l.noteCleaned(end)
		first = end
	}
	return nil
}

// pass compacts the log with the keys that lie behind offset first, as many as there is room for, and returns the offset of the first
// record whose key was not considered.
func (c *compaction) pass(first int64) (end int64, err error) {
	keys, err := c.keys(first)
	if err != nil {
		return 0, err
	}
	c.result.mapUtilization = max(c.result.mapUtilization, keys.Utilization())
	end = min(keys.Latest()+1, c.plan.Bound)
	if end <= first {
		return end, nil
	}
	f := &compact.Filter{
		Keys: keys, Txns: compact.NewTransactions(), Producers: c.l.lastBatches(),
		NowMs: c.nowMs, DeleteRetentionMs: c.l.Config().DeleteRetentionMs, Unpack: c.w.unpack, Pack: c.w.pack,
	}
	segs := c.inactive(end)
	described := make([]compact.Segment, len(segs))
	for i, s := range segs {
		if described[i], err = c.l.compactionSegment(s, Config{MaxCompactionLagMs: math.MaxInt64}); err != nil {
			return 0, err
		}
	}
	cfg := c.l.Config()
	for _, g := range compact.Groups(described, min(cfg.SegmentBytes, math.MaxInt32), cfg.SegmentIndexBytes) {
		if err := c.group(segs[g[0]:g[1]], f); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// inactive returns the segments that begin below an offset, which is at most the plan's bound.
func (c *compaction) inactive(end int64) []*segment {
	segs := c.l.segments()
	n := 0
	for n < len(segs)-1 && segs[n].base < end {
		n++
	}
	return segs[:n]
}

// keys collects the last offset of each key from offset first to the plan's bound, or as far as there is room.
func (c *compaction) keys(first int64) (*compact.KeyMap, error) {
	keys := compact.NewKeyMap(c.plan.Bound-first, c.w.config.dedupeBytes(), c.w.config.LoadFactor)
	txns := compact.NewTransactions()
	segs := c.inactive(c.plan.Bound)
	for _, s := range segs {
		next, _ := s.bounds()
		if next <= first {
			continue
		}
		full, err := c.segmentKeys(s, max(first, s.base), next, keys, txns)
		if err != nil || full {
			return keys, err
		}
		keys.Reach(next - 1)
	}
	return keys, nil
}

// segmentKeys collects the keys of one segment from an offset on. full says that there was no room for the next one.
func (c *compaction) segmentKeys(s *segment, first, next int64, keys *compact.KeyMap, txns *compact.Transactions) (full bool, err error) {
	if err := c.addAborted(txns, first, next); err != nil {
		return false, err
	}
	err = c.read(s, first, func(b record.Batch, _ bool) error {
		if b.IsControl() {
			txns.Control(b)
		} else if !txns.Data(b) {
			var err error
			if full, err = c.batchKeys(b, first, keys); err != nil || full {
				return errors.Join(err, errEnough)
			}
		}
		keys.Reach(b.LastOffset())
		return nil
	})
	if full && errors.Is(err, errEnough) {
		err = nil
	}
	return full, err
}

// errEnough ends the reading of a segment early.
var errEnough = errors.New("enough was read")

// batchKeys collects the keys of one batch.
func (c *compaction) batchKeys(b record.Batch, first int64, keys *compact.KeyMap) (full bool, err error) {
	records := b.Records(c.w.unpack)
	defer records.Close()
	for records.Next() {
		if r := records.Record(); r.Key != nil && r.Offset >= first && !keys.Put(r.Key, r.Offset) {
			return true, nil
		}
	}
	return false, records.Err()
}

// addAborted tells txns of the transactions that were aborted and reach into some offsets.
func (c *compaction) addAborted(txns *compact.Transactions, from, to int64) error {
	found, err := c.l.collectAborted(from, to)
	if errors.Is(err, ErrCorrupt) {
		if err = c.l.repairAborted(from); err == nil {
			found, err = c.l.collectAborted(from, to)
		}
	}
	if err != nil {
		return c.l.readError("look for aborted transactions in", err)
	}
	aborted := make([]compact.AbortedTxn, len(found))
	for i, a := range found {
		aborted[i] = compact.AbortedTxn(a)
	}
	txns.Add(aborted)
	return nil
}

// group makes one segment of several.
func (c *compaction) group(segs []*segment, f *compact.Filter) (err error) {
	out, err := c.l.beginCompacted(segs[0].base, c.w)
	if err != nil {
		return err
	}
	defer func() {
		if out != nil {
			out.discard()
		}
	}()
	for i, s := range segs {
		if err := c.segment(s, i == len(segs)-1, f, out); err != nil {
			return err
		}
	}
	c.result.segmentsIn += len(segs)
	if len(segs) == 1 && !out.changed {
		c.result.segmentsOut++
		return nil
	}
	if err := out.finish(segs[len(segs)-1]); err != nil {
		return err
	}
	if err := c.stillValid(); err != nil {
		return err
	}
	err = c.l.swapIn(out, segs, c.cuts)
	if err == nil {
		out = nil
		c.result.segmentsOut++
	}
	return err
}

// segment writes what remains of a segment. last says that the new segment ends with it.
func (c *compaction) segment(s *segment, last bool, f *compact.Filter, out *compactedSegment) error {
	next, _ := s.bounds()
	if err := c.addAborted(f.Txns, s.base, next); err != nil {
		return err
	}
	markers, err := s.abortedByMarker()
	if err != nil {
		return c.l.readError("read the transaction index of", err)
	}
	return c.read(s, s.base, func(b record.Batch, end bool) error {
		r, err := f.Apply(c.w.out[:0], b, last && end)
		if err != nil {
			return fmt.Errorf("compact the batch at %d of %s: %w", b.BaseOffset(), c.l.tp, err)
		}
		c.result.bytesCopied += int64(len(b))
		c.result.recordsRead += int64(r.Records)
		c.result.recordsKept += int64(r.Kept)
		c.result.keyless += int64(r.Keyless)
		out.changed = out.changed || !r.Same
		if r.Batch == nil {
			return nil
		}
		c.w.keepBuffer(r.Batch)
		c.result.bytesWritten += int64(len(r.Batch))
		if e, ok := markers[b.LastOffset()]; ok && r.Marked {
			if err := out.aborted.restore(e); err != nil {
				return c.l.ioError("compact", err)
			}
		}
		if err := out.append(r.Batch); err != nil {
			return err
		}
		return c.w.throttle.take(c.ctx, len(r.Batch))
	})
}

// read calls visit for the batches of a segment from the one that holds an offset; end says that it is the last one. Batches are
// verified first: compaction must not put a new checksum on damage.
func (c *compaction) read(s *segment, from int64, visit func(b record.Batch, end bool) error) error {
	h, err := c.l.env.files.pin(&s.log, 0)
	if err != nil {
		return c.overtakenOr(err)
	}
	defer c.l.env.files.unpin(&s.log)
	_, size := s.bounds()
	pos := int64(0)
	if from > s.base {
		var ok bool
		if pos, ok, err = s.locate(h, from, size); err != nil || !ok {
			return c.overtakenOr(err)
		}
	}
	r := batchReader{h: h, name: s.name, pos: pos, limit: size, buf: c.w.in}
	defer func() { c.w.in = r.release(c.w.ioBytes) }()
	for {
		b, err := r.next(func(n int) error {
			c.result.bytesRead += int64(n)
			if err := c.stillValid(); err != nil {
				return err
			}
			return c.w.throttle.take(c.ctx, n)
		})
		if err != nil {
			return c.overtakenOr(err)
		}
		if b == nil {
			return nil
		}
		if err := visit(b, r.pos == r.limit); err != nil {
			return err
		}
	}
}

// stillValid tells whether the compaction should go on.
func (c *compaction) stillValid() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if err := c.l.writable(); err != nil {
		return err
	}
	if c.l.truncations() != c.cuts {
		return errOvertaken
	}
	return nil
}

// overtakenOr says why a read failed: the log was changed or closed meanwhile, or err.
func (c *compaction) overtakenOr(err error) error {
	if err == nil {
		return nil
	}
	if verr := c.stillValid(); verr != nil {
		return verr
	}
	if isNotExist(err) || errors.Is(err, ErrClosed) { // retention took the segment
		return errOvertaken
	}
	return err
}

// abortedByMarker returns the entries of the transaction index by the offset of the marker.
func (s *segment) abortedByMarker() (map[int64]abortedEntry, error) {
	if !s.aborted.has() {
		return nil, nil
	}
	out := make(map[int64]abortedEntry)
	err := s.aborted.read(0, func(e abortedEntry) bool {
		out[e.LastOffset] = e
		return true
	})
	return out, err
}

// lastBatches returns the last batch of every producer that the log remembers.
func (l *Log) lastBatches() map[int64]compact.LastBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[int64]compact.LastBatch, len(l.producers.entries))
	for id, e := range l.producers.entries {
		last := compact.LastBatch{Offset: noOffset, Epoch: e.epoch}
		if e.n > 0 {
			last.Offset = e.batches[e.n-1].lastOffset
		}
		out[id] = last
	}
	return out
}

// truncations returns how often the log has been truncated.
func (l *Log) truncations() int {
	l.flushMu.Lock()
	defer l.flushMu.Unlock()
	return l.cuts
}

// Cleaned returns the offset up to which the log was compacted, 0 if it never was.
func (l *Log) Cleaned() int64 { return l.cleaned.Load() }

// noteCleaned says that the log is compacted up to an offset. The checkpoint follows within a second.
func (l *Log) noteCleaned(end int64) {
	l.cleaned.Store(end)
	l.dir.cleanedChanged.Store(true)
}

// uncleanFrom says that what lies behind an offset will be something else. It is called before a truncation, which moves the
// checkpoint too.
func (l *Log) uncleanFrom(offset int64) {
	if l.cleaned.Load() > offset {
		l.noteCleaned(offset)
	}
}
