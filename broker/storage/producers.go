package storage

import (
	"cmp"
	"slices"
	"time"
)

// ProducerState is what a log knows of an idempotent producer, for DescribeProducers.
type ProducerState struct {
	ProducerID            int64
	ProducerEpoch         int16
	LastSequence          int32 // -1 if there is none in this epoch
	LastTimestamp         int64 // of its last batch in ms
	CoordinatorEpoch      int32 // -1 if no transaction ever ended
	CurrentTxnFirstOffset int64 // -1 if no transaction is open
}

// Producers returns the producers that the log remembers, by id.
func (l *Log) Producers() []ProducerState {
	l.mu.Lock()
	out := make([]ProducerState, 0, len(l.producers.entries))
	for _, e := range l.producers.entries {
		out = append(out, ProducerState{
			ProducerID: e.id, ProducerEpoch: e.epoch, LastSequence: e.lastSequence(), LastTimestamp: e.lastTimestamp,
			CoordinatorEpoch: e.coordinatorEpoch, CurrentTxnFirstOffset: e.txnFirstOffset,
		})
	}
	l.mu.Unlock()
	slices.SortFunc(out, func(a, b ProducerState) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return out
}

// ExpireProducers forgets producers that wrote nothing for ttl and have no transaction open, and returns how many. Time counts from when this process last heard of
// a producer, not by its records' timestamps, which may be old.
func (l *Log) ExpireProducers(now time.Time, ttl time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expireVerifications(now.UnixMilli(), ttl.Milliseconds())
	return l.producers.expire(now.UnixMilli(), ttl.Milliseconds())
}

// completeBytes bounds how much of the log is read to find batches that a snapshot doesn't keep.
const completeBytes = 256 << 20

// completeProducers looks for the last batches of producers of which only the last one is known, because their state came from a
// snapshot. It is done when a batch seems out of order, at most once for each producer: it may be a duplicate from before a restart.
// The caller holds mu.
func (l *Log) completeProducers() error {
	want := make(map[int64]int16)
	for id, e := range l.producers.entries {
		if e.partial {
			want[id] = e.epoch
		}
	}
	found := make(map[int64][]producerBatch)
	segs := l.segments()
	budget := int64(completeBytes)
	for i := len(segs) - 1; i >= 0 && budget > 0; i-- {
		size, err := l.collectBatches(segs[i], want, found)
		if err != nil {
			return l.readError("search for duplicates in", err)
		}
		budget -= size
	}
	for id := range want {
		l.producers.complete(id, found[id])
	}
	return nil
}

// collectBatches puts the batches that a segment holds of the wanted producers in front of those found in later segments.
func (l *Log) collectBatches(s *segment, want map[int64]int16, found map[int64][]producerBatch) (size int64, err error) {
	here := make(map[int64][]producerBatch)
	_, err = l.walkSegment(s, s.base, func(w *walker) bool {
		size += w.size
		a := producerOf(w.hdr)
		if epoch, ok := want[a.id]; ok && epoch == a.epoch && !a.control {
			b := append(here[a.id], producerBatch{a.baseOffset, a.lastOffset, a.timestamp, a.baseSeq, a.lastSeq})
			here[a.id] = b[max(0, len(b)-producerBatches):]
		}
		return true
	})
	for id, b := range here {
		b = append(b, found[id]...)
		found[id] = b[max(0, len(b)-producerBatches):]
	}
	return size, err
}
