package storage

import (
	"errors"
	"fmt"
	"math"
	"os"

	"moldau/broker/record"
)

// AppendOrigin says where a batch comes from; it decides which checks of producer state apply.
type AppendOrigin int8

const (
	// OriginClient is a produce request: epochs and sequence numbers are checked, and that transactions are the coordinator's.
	OriginClient AppendOrigin = iota
	// OriginCoordinator is a coordinator: only epochs are checked, of producers and, in markers, of the coordinator.
	OriginCoordinator
)

// admission is what decides which checks of producer state apply.
type admission struct {
	origin  AppendOrigin
	guard   Guard // of a client's transactional batch
	version int16 // of the protocol that markers follow
}

// AppendInfo is the result of an append.
type AppendInfo struct {
	// BaseOffset and LastOffset are the offsets of the first and the last record. For a duplicate they are those of the original.
	BaseOffset int64
	LastOffset int64
	// LogStartOffset is the log start offset at the time.
	LogStartOffset int64
	// LogAppendTime is the time that the broker gave the records in ms, -1 if they have their producers' times.
	LogAppendTime int64
	// Duplicate says that the batch had been appended before; nothing was written.
	Duplicate bool
	// End is the offset after the batch: the high watermark must reach it before the append is safe.
	End int64
}

// run is a sequence of batches about to be written, as their headers tell.
type run struct {
	first, last int64 // offsets
	maxMs       int64 // largest timestamp
	appendMs    int64 // LogAppendTime, -1 if the producer's time holds
	epoch       int32 // leader epoch of the last batch
	version     int16 // of the protocol that markers follow
}

// Append appends whole, validated v2 batches. They are changed in place: base offset and leader epoch, which the CRC does not cover.
// The bytes are not kept.
//
// Batches of idempotent producers are checked against producer state: ErrOutOfOrderSequence, ErrInvalidProducerEpoch, or a Duplicate.
// From clients each append may hold one such batch only, which Kafka's protocol demands of them anyway.
//
// On ErrNoSpace, as on every other error, nothing was appended.
//
// A transactional batch from a client is taken while its producer's transaction is open; see AppendVerified for the first one.
func (l *Log) Append(b []byte, leaderEpoch int32, origin AppendOrigin) (AppendInfo, error) {
	return l.append(b, leaderEpoch, admission{origin: origin})
}

// AppendVerified appends a client's transactional batch after the transaction coordinator has confirmed that the producer's transaction
// has this partition. guard is what BeginVerification returned before the coordinator was asked. ErrInvalidTxnState if the confirmation is
// not good any more.
func (l *Log) AppendVerified(b []byte, leaderEpoch int32, guard Guard) (AppendInfo, error) {
	return l.append(b, leaderEpoch, admission{origin: OriginClient, guard: guard})
}

// AppendMarker appends the marker that ends a producer's transaction. version is the version of the protocol that the transaction
// follows. ErrInvalidProducerEpoch and ErrCoordinatorFenced say that the marker comes too late: there is nothing to end.
func (l *Log) AppendMarker(b []byte, leaderEpoch int32, version int16) (AppendInfo, error) {
	return l.append(b, leaderEpoch, admission{origin: OriginCoordinator, version: version})
}

func (l *Log) append(b []byte, leaderEpoch int32, a admission) (AppendInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return AppendInfo{}, fmt.Errorf("append to %s: %w", l.tp, err)
	}
	r, dup, err := l.prepare(b, leaderEpoch, a)
	if err != nil {
		return AppendInfo{}, fmt.Errorf("append to %s at %d: %w", l.tp, l.end.Load(), err)
	}
	if dup != nil {
		return AppendInfo{
			BaseOffset: dup.baseOffset, LastOffset: dup.lastOffset, End: dup.lastOffset + 1,
			LogStartOffset: l.start.Load(), LogAppendTime: l.duplicateTime(r, dup), Duplicate: true,
		}, nil
	}
	if err := l.assign(leaderEpoch, r.first); err != nil {
		return AppendInfo{}, err
	}
	if err := l.write(b, r); err != nil {
		return AppendInfo{}, err
	}
	return AppendInfo{
		BaseOffset: r.first, LastOffset: r.last, End: r.last + 1, LogStartOffset: l.start.Load(), LogAppendTime: r.appendMs,
	}, nil
}

// AppendFollower appends batches that a leader sent: offsets, epochs and sequences are kept as they are. The first offset must not lie
// before the end of the log. The bytes are not kept.
func (l *Log) AppendFollower(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return fmt.Errorf("append to %s: %w", l.tp, err)
	}
	r, err := l.follow(b)
	if err != nil {
		return fmt.Errorf("append to %s at %d: %w", l.tp, l.end.Load(), err)
	}
	return l.write(b, r)
}

// duplicateTime is the LogAppendTime of a duplicate's original: the largest timestamp of a batch, if the topic keeps the broker's time.
func (l *Log) duplicateTime(r run, dup *producerBatch) int64 {
	if r.appendMs < 0 {
		return record.NoTimestamp
	}
	return dup.timestamp
}

// prepare checks the batches and gives them offsets and leader epoch. A duplicate ends it.
func (l *Log) prepare(b []byte, leaderEpoch int32, a admission) (r run, dup *producerBatch, err error) {
	next := l.end.Load()
	r = run{first: next, last: next - 1, maxMs: -1, appendMs: -1, epoch: leaderEpoch, version: a.version}
	for rest := b; len(rest) > 0; {
		var batch record.Batch
		if batch, rest, err = record.Next(rest); err != nil {
			return r, nil, err
		}
		r.maxMs = max(r.maxMs, batch.MaxTimestamp())
		if batch.TimestampType() == record.LogAppendTime {
			r.appendMs = batch.MaxTimestamp()
		}
		if batch.HasProducerID() {
			if a.origin == OriginClient && len(batch) != len(b) {
				return r, nil, fmt.Errorf("several batches in one append of producer %d: %w", batch.ProducerID(), record.ErrInvalidRecord)
			}
			if dup, err = l.checkProducer(batch, a); dup != nil || err != nil {
				return r, dup, err
			}
		}
		batch.SetBaseOffset(next)
		batch.SetPartitionLeaderEpoch(leaderEpoch)
		next += int64(batch.LastOffsetDelta()) + 1
	}
	if len(b) == 0 {
		return r, nil, fmt.Errorf("no batches to append: %w", record.ErrShort)
	}
	r.last = next - 1
	return r, nil, nil
}

// follow checks that a leader's batches continue the log, and notes their epochs.
func (l *Log) follow(b []byte) (r run, err error) {
	next := l.end.Load()
	r = run{first: -1, maxMs: -1, appendMs: -1}
	for rest := b; len(rest) > 0; {
		var batch record.Batch
		if batch, rest, err = record.Next(rest); err != nil {
			return r, err
		}
		if batch.BaseOffset() < next {
			return r, fmt.Errorf("batch at %d overlaps the log: %w", batch.BaseOffset(), ErrOffsetOutOfRange)
		}
		if r.first < 0 {
			r.first = batch.BaseOffset()
		}
		next = batch.NextOffset()
		r.maxMs = max(r.maxMs, batch.MaxTimestamp())
		if err := l.assign(batch.PartitionLeaderEpoch(), batch.BaseOffset()); err != nil {
			return r, err
		}
	}
	if r.first < 0 {
		return r, fmt.Errorf("no batches to append: %w", record.ErrShort)
	}
	r.last = next - 1
	return r, nil
}

// checkProducer checks one batch of an idempotent producer. A batch that doesn't follow the last one may prove a duplicate when the
// producer's older batches are known only to the log.
func (l *Log) checkProducer(batch record.Batch, how admission) (*producerBatch, error) {
	a := producerOf(batch)
	a.version = how.version
	if how.origin != OriginClient {
		return nil, errors.Join(l.producers.checkEpoch(a), l.producers.checkMarker(a))
	}
	dup, isDup := l.producers.find(a)
	if !isDup && l.producers.mayKnow(a) {
		if err := l.completeProducers(); err != nil {
			return nil, err
		}
		dup, isDup = l.producers.find(a)
	}
	if isDup {
		return &dup, nil
	}
	if a.transactional {
		if err := l.checkVerified(a, how.guard); err != nil {
			return nil, err
		}
	} else if err := l.producers.checkTransaction(a); err != nil {
		return nil, err
	}
	_, _, err := l.producers.check(a)
	return nil, err
}

// producerOf reads a batch's producer fields, and the marker of a whole control batch.
func producerOf(batch record.Batch) producerAppend {
	a := producerAppend{
		id: batch.ProducerID(), epoch: batch.ProducerEpoch(), transactional: batch.IsTransactional(), control: batch.IsControl(),
		baseSeq: batch.BaseSequence(), lastSeq: batch.LastSequence(),
		baseOffset: batch.BaseOffset(), lastOffset: batch.LastOffset(), timestamp: batch.MaxTimestamp(),
	}
	if a.control {
		if m, ok := batch.EndMarker(); ok {
			a.marker = &m
		}
	}
	return a
}

// write writes the run into the active segment with one call, rolling first where need be, and enters it into indexes and producer
// state. The caller holds mu.
func (l *Log) write(b []byte, r run) error {
	cfg, now := l.cfg.Load(), l.env.nowMs()
	if err := l.dir.admit(len(b)); err != nil {
		return fmt.Errorf("append to %s: %w", l.tp, err)
	}
	s, err := l.room(len(b), r, cfg, now)
	if err != nil {
		return err
	}
	if err := l.pinActive(s); err != nil {
		return l.ioError("append to", err)
	}
	pos := s.size // only the holder of mu changes it
	if s.w.trim {
		if err := l.trimActive(s); err != nil {
			return err
		}
	}
	if err := l.indexAborts(s, b); err != nil {
		return err
	}
	if _, err := s.w.h.WriteAt(b, pos); err != nil {
		s.w.trim = s.w.h.Truncate(pos) != nil // a partly written batch is cut back
		l.unindexAborts(s)
		return l.ioError("append to", err)
	}
	l.enter(s, b, pos, cfg.IndexIntervalBytes, r.version)
	l.snapBytes += int64(len(b))
	s.publish(r.last+1, pos+int64(len(b)), now)
	l.end.Store(r.last + 1)
	l.wantFlush(l.env.o.Durability == Strict || l.flushesBy(r.last+1, cfg))
	return nil
}

// flushesBy tells whether flush.messages asks for a flush of a log that ends at end.
func (l *Log) flushesBy(end int64, cfg *Config) bool {
	return cfg.FlushMessages < math.MaxInt64 && end-l.FlushedEnd() >= cfg.FlushMessages
}

// enter notes batches that were written at pos in the indexes and in producer state.
func (l *Log) enter(s *segment, b []byte, pos, interval int64, version int16) {
	for rest := b; len(rest) > 0; {
		batch, tail, err := record.Next(rest)
		if err != nil {
			return // prepare and follow have walked the same bytes
		}
		rest = tail
		s.note(batchMeta{last: batch.LastOffset(), maxMs: batch.MaxTimestamp(), pos: pos, size: int64(len(batch))}, interval)
		pos += int64(len(batch))
		if batch.HasProducerID() {
			a := producerOf(batch)
			a.version = version
			l.applyProducer(a)
		}
	}
}

// applyProducer notes what a batch that was appended does to producers and transactions. The caller holds mu.
func (l *Log) applyProducer(a producerAppend) {
	did := l.producers.apply(a, l.env.nowMs())
	if did.began {
		l.txns.begin(a.baseOffset, a.id)
	}
	if did.ended {
		l.txns.end(did.txn)
	}
	if v, ok := l.verifications[a.id]; ok && a.transactional && a.overtakes(v.epoch) {
		delete(l.verifications, a.id)
	}
}

// room returns the segment to append to, a new one if the active one is to be rolled.
func (l *Log) room(n int, r run, cfg *Config, nowMs int64) (*segment, error) {
	if int64(n) > cfg.SegmentBytes {
		return nil, fmt.Errorf("append %d bytes to %s with segments of %d: %w", n, l.tp, cfg.SegmentBytes, ErrTooLarge)
	}
	s := l.active()
	if err := l.loadFirstTimestamp(s); err != nil {
		return nil, l.readError("append to", err)
	}
	reason := rollReason(rollState{
		base: s.base, size: s.size, firstMs: s.w.firstMs, createdMs: s.w.createdMs, jitterMs: s.w.jitterMs,
		offsetFull: s.index.full(cfg.SegmentIndexBytes), timeFull: s.times.full(cfg.SegmentIndexBytes),
		appendBytes: int64(n), appendLast: r.last, appendMaxMs: r.maxMs, nowMs: nowMs,
		segmentBytes: cfg.SegmentBytes, segmentMs: cfg.rollMs(),
	})
	if reason == "" {
		return s, nil
	}
	base := l.end.Load()
	if r.last-base > math.MaxInt32 {
		base = r.first // a leader's batch far behind a gap that compaction left
	}
	if base == s.base {
		return nil, fmt.Errorf("append offsets %d to %d to %s: %w", base, r.last, l.tp, ErrTooLarge)
	}
	return l.roll(base)
}

// loadFirstTimestamp reads the first batch's timestamp of a segment that was found at start.
func (l *Log) loadFirstTimestamp(s *segment) error {
	if s.w.firstKnown || s.size == 0 {
		return nil
	}
	h, err := l.env.files.pin(&s.log, 0)
	if err != nil {
		return err
	}
	defer l.env.files.unpin(&s.log)
	w := walk(h, s.name, 0, s.size)
	defer w.done()
	ok, err := w.next()
	if err != nil {
		return err
	}
	if ok {
		s.w.firstMs, s.w.firstKnown = w.hdr.MaxTimestamp(), true
	}
	return nil
}

// trimActive cuts off what a failed write left behind the last batch.
func (l *Log) trimActive(s *segment) error {
	if err := l.pinActive(s); err != nil {
		return l.ioError("trim", err)
	}
	if err := s.w.h.Truncate(s.size); err != nil {
		return l.ioError("trim", err)
	}
	if err := s.aborted.trim(); err != nil {
		return l.ioError("trim", err)
	}
	s.w.trim = false
	return nil
}

// pinActive opens the active segment's file and keeps it open until it is flushed.
func (l *Log) pinActive(s *segment) error {
	if s.w.h != nil {
		return nil
	}
	h, err := l.env.files.pin(&s.log, os.O_CREATE)
	if err != nil {
		return err
	}
	s.w.h = h
	l.dirty = append(l.dirty, dirtyFile{f: &s.log})
	return nil
}
