package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// mend deals with a log that is whole only up to position pos of segment i, which is offset r.end. If that lies before the recovery
// point, bytes that were on disk are gone or changed: the log becomes read-only and nothing is touched. Otherwise the rest was in
// doubt anyway and is cut off; if there are whole batches in it, they are moved to .cut files.
func (r *recovery) mend(i int, pos int64, cause error) error {
	keep, tail := i+1, pos
	if r.segs[i].base > r.end { // what should come before it is missing
		keep, tail = i, r.segs[i-1].size
	}
	rest := r.segs[keep:]
	r.segs = r.segs[:keep]
	last := r.segs[keep-1]
	damaged, err := r.damage(last, tail, rest)
	if err != nil {
		return err
	}
	if damaged {
		last.size, last.next = tail, r.end
		return r.damaged("%v; offsets from %d on were on disk and are not served", cause, r.end)
	}
	if err := r.cutTail(last, tail); err != nil {
		return err
	}
	last.size, last.next = tail, r.end
	if err := r.cutIndexes(last); err != nil {
		return err
	}
	last.largest, last.largestKnown = last.w.largest, true
	for _, s := range rest {
		if err := r.cutSegment(s); err != nil {
			return err
		}
	}
	if err := r.l.env.o.FS.SyncDir(r.l.path); err != nil {
		return err
	}
	r.report(cause)
	return nil
}

// damage tells whether what is wrong is damage and not an unfinished append: it lies before the recovery point or, where that is
// unknown, there are whole batches behind it.
func (r *recovery) damage(last *segment, tail int64, rest []*segment) (bool, error) {
	if r.end < r.found.point {
		return true, nil
	}
	if !r.found.lost {
		return false, nil
	}
	ok, err := r.holdsBatch(last, tail)
	for i := 0; i < len(rest) && !ok && err == nil; i++ {
		ok, err = r.holdsBatch(rest[i], 0)
	}
	return ok, err
}

// holdsBatch tells whether a segment holds a whole batch behind position from.
func (r *recovery) holdsBatch(s *segment, from int64) (bool, error) {
	h, err := r.l.env.files.pin(&s.log, 0)
	if err != nil {
		return false, err
	}
	defer r.l.env.files.unpin(&s.log)
	return holdsBatch(h, from, s.size, r.end)
}

// report tells the operator what was cut.
func (r *recovery) report(cause error) {
	rep := &r.l.recovery
	moved := int64(0)
	for _, name := range rep.Moved {
		if info, err := r.l.env.o.FS.Stat(name); err == nil {
			moved += info.Size()
		}
	}
	r.l.env.o.Metrics.RecoveryCut(r.l.tp, rep.Cut, moved)
	if len(rep.Moved) > 0 {
		r.l.env.logger.Error("recovery found whole batches behind a bad one and moved them", "partition", r.l.tp.String(),
			"end", r.end, "cut", rep.Cut, "moved", rep.Moved, "cause", cause)
		return
	}
	if rep.Cut > 0 {
		r.l.env.logger.Warn("recovery cut an unfinished append", "partition", r.l.tp.String(), "end", r.end, "cut", rep.Cut, "cause", cause)
	}
}

// cutTail shortens a segment to size. Whole batches behind are copied to a .cut file first.
func (r *recovery) cutTail(s *segment, size int64) error {
	if size == s.size {
		return nil
	}
	h, err := r.l.env.files.pin(&s.log, 0)
	if err != nil {
		return err
	}
	defer r.l.env.files.unpin(&s.log)
	whole, err := holdsBatch(h, size, s.size, r.end)
	if err != nil {
		return err
	}
	if whole {
		if err := r.copyOut(h, s.base, size, s.size); err != nil {
			return err
		}
	}
	r.l.recovery.Cut += s.size - size
	if err := h.Truncate(size); err != nil {
		return err
	}
	return h.Sync()
}

// cutIndexes rebuilds the indexes of the segment that ends the log, if they have entries for batches that are gone.
func (r *recovery) cutIndexes(s *segment) error {
	last, some, err := s.index.lookup(math.MaxInt64)
	if err != nil {
		return err
	}
	if (!some || last.offset < r.end) && s.w.lastTime.offset < r.end {
		return nil
	}
	if err := r.dropProof(s.base); err != nil {
		return err
	}
	return r.l.rebuildIndexes(s, false)
}

// cutSegment takes a whole segment out of the log: renamed if it holds whole batches, else removed.
func (r *recovery) cutSegment(s *segment) error {
	fsys := r.l.env.o.FS
	whole, err := r.holdsBatch(s, 0)
	if err != nil {
		return err
	}
	s.drop()
	if whole {
		to, err := r.cutName(s.base)
		if err != nil {
			return err
		}
		if err := fsys.Rename(s.log.path, to); err != nil {
			return err
		}
		r.l.recovery.Moved = append(r.l.recovery.Moved, to)
	} else if err := fsys.Remove(s.log.path); err != nil {
		return err
	}
	r.l.recovery.Cut += s.size
	return removeAll(fsys, s.index.current().path, s.times.current().path, s.aborted.file.path)
}

// cutName returns an unused name for a .cut file.
func (r *recovery) cutName(base int64) (string, error) {
	name := segmentPath(r.l.path, base, cutSuffix)
	for n := 0; ; n++ {
		to := name
		if n > 0 {
			to += "." + strconv.Itoa(n)
		}
		_, err := r.l.env.o.FS.Stat(to)
		if errors.Is(err, fs.ErrNotExist) {
			return to, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// copyOut copies bytes from..to of a segment file to a .cut file and makes it durable.
func (r *recovery) copyOut(h vfs.File, base, from, to int64) (err error) {
	name, err := r.cutName(base)
	if err != nil {
		return err
	}
	out, err := r.l.env.o.FS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buf := make([]byte, min(1<<20, to-from))
	for pos := from; pos < to; {
		n, err := h.ReadAt(buf[:min(int64(len(buf)), to-pos)], pos)
		if n == 0 {
			return fmt.Errorf("read %s at %d: %w", h.Name(), pos, err)
		}
		if _, err := out.WriteAt(buf[:n], pos-from); err != nil {
			return err
		}
		pos += int64(n)
	}
	if err := out.Sync(); err != nil {
		return err
	}
	r.l.recovery.Moved = append(r.l.recovery.Moved, name)
	return r.l.env.o.FS.SyncDir(r.l.path)
}

// removeAll removes files that may be missing.
func removeAll(fsys vfs.FS, names ...string) error {
	for _, name := range names {
		if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// searchBytes bounds the bytes that holdsBatch puts through checksums, as a multiple of what it searches: contents that look like many
// batch headers must not make recovery slow. Past it, the answer is yes, which is the safe one.
const searchBytes = 4

// holdsBatch tells whether a whole batch with a good checksum and an offset >= after begins anywhere between from and to. A torn batch
// hides where the next one begins, so every position is looked at.
func holdsBatch(h vfs.File, from, to, after int64) (bool, error) {
	const window = 1 << 20
	buf := make([]byte, min(window, max(to-from, 0)))
	budget := searchBytes*(to-from) + window
	for at := from; to-at >= record.HeaderLen; {
		n, err := h.ReadAt(buf[:min(int64(len(buf)), to-at)], at)
		if n < record.HeaderLen {
			if err == nil || errors.Is(err, io.EOF) {
				return false, nil
			}
			return false, fmt.Errorf("read %s at %d: %w", h.Name(), at, err)
		}
		for i := 0; i+record.HeaderLen <= n; i++ {
			// The magic is the byte to look for: nearly all positions are passed over here.
			skip := bytes.IndexByte(buf[i+16:n], record.Magic)
			if skip < 0 || i+skip+record.HeaderLen > n {
				break
			}
			i += skip
			size := plausible(buf[i:i+record.HeaderLen], to-at-int64(i), after)
			if size == 0 {
				continue
			}
			if budget -= size; budget < 0 {
				return true, nil
			}
			ok, err := checksumHolds(h, at+int64(i), size)
			if ok || err != nil {
				return ok, err
			}
		}
		at += int64(n - record.HeaderLen + 1)
	}
	return false, nil
}

// plausible returns the length of the batch that may begin with the header h, 0 if none can.
func plausible(h []byte, room, after int64) int64 {
	size := int64(int32(binary.BigEndian.Uint32(h[8:]))) + record.PrefixLen //nolint:gosec // int32 on disk
	b := record.Batch(h)
	if h[16] != record.Magic || size < record.HeaderLen || size > room || b.BaseOffset() < after || b.LastOffsetDelta() < 0 || b.Count() < 0 {
		return 0
	}
	return size
}

// crcFrom is where the part of a batch begins that its checksum covers, crcAt where the checksum is.
const (
	crcAt   = 17
	crcFrom = 21
)

// checksumHolds compares a batch's checksum with its bytes, in pieces of bounded size.
func checksumHolds(h vfs.File, pos, size int64) (bool, error) {
	buf := make([]byte, min(size, 64<<10))
	var want, sum uint32
	for off := int64(0); off < size; {
		n, err := h.ReadAt(buf[:min(int64(len(buf)), size-off)], pos+off)
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				return false, nil
			}
			return false, fmt.Errorf("read %s at %d: %w", h.Name(), pos+off, err)
		}
		piece := buf[:n]
		if off == 0 {
			if n < record.HeaderLen {
				return false, nil
			}
			want, piece = binary.BigEndian.Uint32(piece[crcAt:]), piece[crcFrom:]
		}
		sum = crc32.Update(sum, castagnoli, piece)
		off += int64(n)
	}
	return sum == want, nil
}

// verifyWhole is the size up to which a batch is read as a whole to be verified.
const verifyWhole = 1 << 20

// verify checks the current batch's checksum and header. It returns buf, possibly grown, for the next call.
func (w *walker) verify(buf []byte) ([]byte, error) {
	if w.size > verifyWhole {
		ok, err := checksumHolds(w.h, w.pos, w.size)
		if err == nil && !ok {
			err = w.corrupt("bad checksum")
		}
		return buf, err
	}
	batch, err := w.batch(buf)
	if err != nil {
		return buf, err
	}
	if err := batch.Verify(); err != nil {
		return batch, w.corrupt("%v", err)
	}
	return batch, nil
}
