package storage

import "slices"

// epochEntry says that batches from start on carry epoch, until the next entry's start.
type epochEntry struct {
	epoch int32
	start int64
}

// UndefinedEpoch and UndefinedOffset answer EndOffsetForEpoch where nothing is known.
const (
	UndefinedEpoch  int32 = -1
	UndefinedOffset int64 = -1
)

// epochCache is the history of leader epochs of a log: which leader wrote from which offset on. It is pure; the Log keeps the file
// leader-epoch-checkpoint equal to it. Entries rise in epoch, and in start except that an epoch without records may share its start
// with nobody: a later assignment at the same start replaces it (Kafka's LeaderEpochFileCache).
type epochCache struct {
	entries []epochEntry
}

// latest returns the newest epoch, UndefinedEpoch if there is none.
func (c *epochCache) latest() int32 {
	if len(c.entries) == 0 {
		return UndefinedEpoch
	}
	return c.entries[len(c.entries)-1].epoch
}

// assign notes that epoch begins at start, and tells whether that changed anything. Entries that contradict it (same or newer epoch,
// same or later start) are dropped: the newest statement wins.
func (c *epochCache) assign(epoch int32, start int64) bool {
	if epoch < 0 || start < 0 {
		return false
	}
	if n := len(c.entries); n > 0 {
		last := c.entries[n-1]
		if last.epoch == epoch && start >= last.start {
			return false
		}
	}
	n := len(c.entries)
	for n > 0 && (c.entries[n-1].epoch >= epoch || c.entries[n-1].start >= start) {
		n--
	}
	c.entries = append(c.entries[:n], epochEntry{epoch, start})
	return true
}

// endOffset answers OffsetForLeaderEpoch (KIP-279): the largest epoch <= the asked one that this log knows, and the offset at which
// it ends. end is the log end offset. An epoch below all known ones is answered with itself and the start of the first one; one above
// all known ones, with nothing.
func (c *epochCache) endOffset(epoch int32, end int64) (int32, int64) {
	if epoch == UndefinedEpoch || len(c.entries) == 0 || epoch > c.latest() {
		return UndefinedEpoch, UndefinedOffset
	}
	if epoch == c.latest() {
		return epoch, end
	}
	next, _ := slices.BinarySearchFunc(c.entries, epoch+1, func(e epochEntry, t int32) int { return int(int64(e.epoch) - int64(t)) })
	if next == 0 {
		return epoch, c.entries[0].start
	}
	return c.entries[next-1].epoch, c.entries[next].start
}

// epochAt returns the epoch of the batch at offset, UndefinedEpoch if unknown.
func (c *epochCache) epochAt(offset int64) int32 {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].start <= offset {
			return c.entries[i].epoch
		}
	}
	return UndefinedEpoch
}

// truncateEnd drops epochs that begin at end or later. It is called even when the log itself needs no truncation: an epoch that got
// no records may sit at the very end (KAFKA-10706).
func (c *epochCache) truncateEnd(end int64) bool {
	n := len(c.entries)
	for n > 0 && c.entries[n-1].start >= end {
		n--
	}
	changed := n != len(c.entries)
	c.entries = c.entries[:n]
	return changed
}

// truncateStart drops epochs that end at start or before, and moves the first remaining one up to start.
func (c *epochCache) truncateStart(start int64) bool {
	n := 0
	for n < len(c.entries) && c.entries[n].start <= start {
		n++
	}
	if n == 0 || n == 1 && c.entries[0].start == start {
		return false
	}
	kept := c.entries[n-1].epoch
	c.entries = slices.Delete(c.entries, 0, n-1)
	c.entries[0] = epochEntry{kept, start}
	return true
}
