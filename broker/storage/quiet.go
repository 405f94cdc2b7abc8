package storage

import "time"

// A log that nobody writes to any more gets a last snapshot, so that a start after a crash finds nothing to read in it.
const (
	quietAfter = 10 * time.Second // how long the end must have stood still
	quietBytes = 256 << 10        // batches behind the last snapshot that make a new one worth its writes
	quietBatch = 100              // snapshots at a time: others wait for the same flush
)

// rest takes snapshots of quiet logs. The keeper calls it every quietAfter.
func (d *logDir) rest() {
	if d.offlineErr() != nil {
		return
	}
	taken := 0
	for _, l := range d.list() {
		if taken == quietBatch {
			return
		}
		if l.rest() {
			taken++
		}
	}
}

// rest takes a snapshot if the log's end is where the last call saw it. Only the keeper calls it, which must not wait for mu: retention
// and truncation hold it while they wait for the keeper.
func (l *Log) rest() bool {
	if end := l.end.Load(); end != l.restedAt {
		l.restedAt = end
		return false
	}
	if !l.mu.TryLock() {
		return false // not quiet, then; the next call sees
	}
	defer l.mu.Unlock()
	if l.gone || l.Err() != nil || l.snapBytes < quietBytes {
		return false
	}
	l.proveEnd(l.active())
	l.wantFlush(true)
	return true
}

// proveEnd has index entries and a snapshot written with the next flush, so that recovery need not read what lies before the end. The
// caller holds mu.
func (l *Log) proveEnd(active *segment) {
	l.saveIndexes(active, (*segment).flushIndexes)
	l.snapshot(l.end.Load())
}
