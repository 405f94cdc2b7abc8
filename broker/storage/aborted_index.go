package storage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync/atomic"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// abortedEntryLen is the size of an entry of the transaction index, which is Kafka's, big-endian:
//
//	version int16 = 0 | producer id int64 | first offset int64 | last offset int64 | last stable offset int64
//
// The last offset is the marker's; entries rise in it. The last stable offset is the one at the time of the marker: whoever reads
// below it needs no later entry.
const abortedEntryLen = 2 + 4*8 // 34

// abortedEntry is one entry.
type abortedEntry struct {
	AbortedTxn
	stable int64
}

func encodeAborted(e abortedEntry) (b [abortedEntryLen]byte) {
	be := binary.BigEndian
	be.PutUint64(b[2:], uint64(e.ProducerID))   //nolint:gosec // two's complement on disk
	be.PutUint64(b[10:], uint64(e.FirstOffset)) //nolint:gosec // as above
	be.PutUint64(b[18:], uint64(e.LastOffset))  //nolint:gosec // as above
	be.PutUint64(b[26:], uint64(e.stable))      //nolint:gosec // as above
	return b
}

func decodeAborted(b []byte) (e abortedEntry, ok bool) {
	be := binary.BigEndian
	e.ProducerID, e.FirstOffset = int64(be.Uint64(b[2:])), int64(be.Uint64(b[10:])) //nolint:gosec // two's complement on disk
	e.LastOffset, e.stable = int64(be.Uint64(b[18:])), int64(be.Uint64(b[26:]))     //nolint:gosec // as above
	return e, be.Uint16(b) == 0 && e.FirstOffset >= 0 && e.FirstOffset <= e.LastOffset
}

// abortedIndex names the aborted transactions whose markers lie in a segment. Most segments have none, and no file. Unlike other
// indexes it is not a shortcut: without it, readers would take what was aborted for committed. So an entry is written before its
// marker, and flushed with it.
type abortedIndex struct {
	cache  *fileCache
	file   *file
	exists atomic.Bool  // there is a file, maybe without entries
	count  atomic.Int32 // entries; the holder of Log.mu changes it, after the file

	// These belong to the holder of Log.mu.
	h     vfs.File // pinned while there is something to flush, else nil
	saved int32    // entries before the append under way
}

// adopt takes a file that was found as it is.
func (x *abortedIndex) adopt(size int64) {
	x.exists.Store(true)
	x.count.Store(int32(min(size/abortedEntryLen, math.MaxInt32))) //nolint:gosec // bounded
}

// has tells whether there are entries.
func (x *abortedIndex) has() bool { return x.count.Load() > 0 }

// append writes an entry.
func (x *abortedIndex) append(e abortedEntry, h vfs.File) error {
	b := encodeAborted(e)
	n := x.count.Load()
	if _, err := h.WriteAt(b[:], int64(n)*abortedEntryLen); err != nil {
		return fmt.Errorf("write %s: %w", x.file.path, err)
	}
	x.count.Store(n + 1)
	return nil
}

// restore writes an entry outside of an append.
func (x *abortedIndex) restore(e abortedEntry) error {
	h, err := x.cache.pin(x.file, os.O_CREATE)
	if err != nil {
		return err
	}
	defer x.cache.unpin(x.file)
	x.exists.Store(true)
	return x.append(e, h)
}

// rewrite replaces all entries. Bytes that were right before are not changed, so that a crash leaves nothing worse behind.
func (x *abortedIndex) rewrite(data []byte) error {
	if len(data) == 0 && !x.exists.Load() {
		return nil
	}
	h, err := x.cache.pin(x.file, os.O_CREATE)
	if err != nil {
		return err
	}
	defer x.cache.unpin(x.file)
	x.exists.Store(true)
	if len(data) > 0 {
		if _, err := h.WriteAt(data, 0); err != nil {
			return fmt.Errorf("write %s: %w", x.file.path, err)
		}
	}
	if err := h.Truncate(int64(len(data))); err != nil {
		return err
	}
	x.count.Store(int32(len(data) / abortedEntryLen)) //nolint:gosec // a file of that size would be absurd
	return h.Sync()
}

// read calls visit for the entries from number i on, until it returns false.
func (x *abortedIndex) read(i int, visit func(abortedEntry) bool) error {
	broken := -1
	err := x.scan(i, func(e abortedEntry, ok bool) bool {
		if !ok {
			broken = i
			return false
		}
		i++
		return visit(e)
	})
	if err == nil && broken >= 0 {
		err = fmt.Errorf("%s has a broken entry %d: %w", x.file.path, broken, ErrCorrupt)
	}
	return err
}

// scan does the same and shows broken entries too.
func (x *abortedIndex) scan(i int, visit func(e abortedEntry, ok bool) bool) error {
	n := int(x.count.Load())
	if i >= n {
		return nil
	}
	h, err := x.cache.pin(x.file, 0)
	if err != nil {
		return err
	}
	defer x.cache.unpin(x.file)
	var buf [128 * abortedEntryLen]byte
	for i < n {
		block := buf[:min(len(buf), (n-i)*abortedEntryLen)]
		if _, err := h.ReadAt(block, int64(i)*abortedEntryLen); err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s is shorter than its %d entries: %w", x.file.path, n, ErrCorrupt)
			}
			return err
		}
		for ; len(block) > 0; block = block[abortedEntryLen:] {
			if !visit(decodeAborted(block)) {
				return nil
			}
			i++
		}
	}
	return nil
}

// seek returns the number of the first entry whose last offset is at least from.
func (x *abortedIndex) seek(from int64) (int, error) {
	lo, hi := 0, int(x.count.Load())
	for lo < hi {
		mid, last := int(uint(lo+hi)>>1), int64(0) //nolint:gosec // both are counts
		if err := x.read(mid, func(e abortedEntry) bool {
			last = e.LastOffset
			return false
		}); err != nil {
			return 0, err
		}
		if last < from {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// cut keeps the entries of a segment that begins at base whose last offset is below end. What follows them may be anything that a crash
// left. ErrCorrupt says that something is wrong among those to keep.
func (x *abortedIndex) cut(base, end int64) error {
	keep, prev, doubt, disorder := 0, base-1, false, false
	err := x.scan(0, func(e abortedEntry, ok bool) bool {
		switch plausible := ok && e.LastOffset > prev && e.LastOffset < end; {
		case !plausible:
			doubt = true
		case doubt:
			disorder = true
		default:
			keep, prev = keep+1, e.LastOffset
		}
		return !disorder
	})
	switch {
	case err != nil:
		return err
	case disorder:
		return fmt.Errorf("%s has entries in disorder: %w", x.file.path, ErrCorrupt)
	case keep == int(x.count.Load()):
		return nil
	}
	h, err := x.cache.pin(x.file, 0)
	if err != nil {
		return err
	}
	defer x.cache.unpin(x.file)
	x.count.Store(int32(keep)) //nolint:gosec // less than it was
	if err := h.Truncate(int64(keep) * abortedEntryLen); err != nil {
		return err
	}
	return h.Sync() // entries that are gone must not come back beside what is appended next
}

// trim cuts the file to its entries.
func (x *abortedIndex) trim() error {
	if !x.exists.Load() {
		return nil
	}
	h, err := x.cache.pin(x.file, 0)
	if err != nil {
		return err
	}
	defer x.cache.unpin(x.file)
	return h.Truncate(int64(x.count.Load()) * abortedEntryLen)
}

// noteAborted writes an entry into the transaction index of segment s, to be flushed with the marker that is about to be written.
// The caller holds mu.
func (l *Log) noteAborted(s *segment, e abortedEntry) error {
	x := &s.aborted
	if x.h == nil {
		h, err := l.env.files.pin(x.file, os.O_CREATE)
		if err != nil {
			return l.ioError("index an aborted transaction of", err)
		}
		x.h = h
		l.dirty = append(l.dirty, dirtyFile{f: x.file})
		l.dirDirty = l.dirDirty || !x.exists.Load()
		x.exists.Store(true)
	}
	if err := x.append(e, x.h); err != nil {
		return l.ioError("index an aborted transaction of", err)
	}
	return nil
}

// indexAborts writes the entries of the transactions that batches about to be written to s will abort. On error nothing has changed.
// The caller holds mu.
func (l *Log) indexAborts(s *segment, b []byte) error {
	s.aborted.saved = s.aborted.count.Load()
	for _, e := range l.abortsIn(b) {
		if err := l.noteAborted(s, e); err != nil {
			l.unindexAborts(s)
			return err
		}
	}
	return nil
}

// unindexAborts takes back what the last indexAborts has written.
func (l *Log) unindexAborts(s *segment) {
	x := &s.aborted
	if x.count.Load() == x.saved && !s.w.trim {
		return
	}
	x.count.Store(x.saved)
	s.w.trim = x.trim() != nil || s.w.trim
}

// holdsControl tells whether any of the batches is a control batch.
func holdsControl(b []byte) bool {
	for rest := b; len(rest) > 0; {
		batch, tail, err := record.Next(rest)
		if err != nil {
			return false // prepare and follow have walked the same bytes
		}
		if batch.IsControl() {
			return true
		}
		rest = tail
	}
	return false
}

// abortsIn returns entries for the transactions that batches will abort, which have their offsets already.
func (l *Log) abortsIn(b []byte) []abortedEntry {
	if !holdsControl(b) {
		return nil
	}
	var out []abortedEntry
	begun, ended := map[int64]int64{}, map[int64]bool{}
	for rest := b; len(rest) > 0; {
		batch, tail, err := record.Next(rest)
		if err != nil {
			break // prepare and follow have walked the same bytes
		}
		rest = tail
		if !batch.IsTransactional() {
			continue
		}
		a := producerOf(batch)
		first, open := begun[a.id]
		if e := l.producers.entries[a.id]; !open && !ended[a.id] && e != nil && e.txnFirstOffset != noOffset {
			first, open = e.txnFirstOffset, true
		}
		switch {
		case !a.control && !open:
			begun[a.id] = a.baseOffset
		case a.marker != nil && open:
			delete(begun, a.id)
			ended[a.id] = true
			if !a.marker.Commit {
				out = append(out, l.abortEntry(a, first, begun, ended))
			}
		}
	}
	return out
}

// abortEntry is the entry of a transaction that begins at first and that marker a aborts. begun and ended are what other batches of the
// same append do.
func (l *Log) abortEntry(a producerAppend, first int64, begun map[int64]int64, ended map[int64]bool) abortedEntry {
	e := abortedEntry{AbortedTxn{a.id, first, a.baseOffset}, l.txns.firstOpenBut(ended)}
	for _, other := range begun {
		e.stable = min(e.stable, other)
	}
	e.stable = min(e.stable, e.LastOffset+1)
	return e
}

// Aborted returns the aborted transactions that a reader of committed transactions needs to know for the batches between two offsets,
// by first offset. to must not lie above what FirstUnstable permits.
//
// ErrOffsetOutOfRange says that the log start offset has passed from, and that entries may be missing.
func (l *Log) Aborted(from, to int64) ([]AbortedTxn, error) {
	out, err := l.collectAborted(from, to)
	if errors.Is(err, ErrCorrupt) {
		if err = l.repairAborted(from); err == nil {
			out, err = l.collectAborted(from, to)
		}
	}
	if start := l.start.Load(); from < start { // it moves before segments go
		return nil, fmt.Errorf("look for aborted transactions in %s at %d, log starts at %d: %w", l.tp, from, start, ErrOffsetOutOfRange)
	}
	if err != nil {
		return nil, l.readError("look for aborted transactions in", err)
	}
	slices.SortFunc(out, func(a, b AbortedTxn) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	return out, nil
}

func (l *Log) collectAborted(from, to int64) (out []AbortedTxn, err error) {
	segs := l.segments()
	for _, s := range segs[segmentFor(segs, from):] {
		if !s.aborted.has() {
			continue
		}
		i, err := s.aborted.seek(from)
		if err != nil {
			return nil, err
		}
		more := true
		err = s.aborted.read(i, func(e abortedEntry) bool {
			if e.FirstOffset < to {
				out = append(out, e.AbortedTxn)
			}
			more = e.stable < to
			return more
		})
		if err != nil || !more {
			return out, err
		}
	}
	return out, nil
}

// repairAborted makes the transaction indexes anew that may be needed from an offset on.
func (l *Log) repairAborted(from int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	segs := l.segments()
	l.env.logger.Warn("rebuilding transaction indexes", "partition", l.tp.String(), "from", from)
	return l.rebuildAborted(segs, segmentFor(segs, from), len(segs), l.snapshots)
}
