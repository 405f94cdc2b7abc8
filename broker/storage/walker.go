package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// walkerBuffer is how much a walker reads at a time: a little more than one index interval.
const walkerBuffer = 4096 + 512

// walker steps over the batches of a segment file, reading only their headers.
type walker struct {
	h     vfs.File
	name  string
	pos   int64 // where the current batch begins
	limit int64 // no batch reaches beyond it
	size  int64 // length of the current batch, 0 before the first

	at  int64 // file position of buf
	n   int   // valid bytes of buf
	buf [walkerBuffer]byte
	hdr record.Batch // header of the current batch, valid until the next call of next
}

var walkers = sync.Pool{New: func() any { return new(walker) }}

// walk begins at pos, which must be the beginning of a batch. Give the walker back with done.
func walk(h vfs.File, name string, pos, limit int64) *walker {
	w := walkers.Get().(*walker)
	w.h, w.name, w.pos, w.limit, w.size, w.n, w.at = h, name, pos, limit, 0, 0, 0
	return w
}

func (w *walker) done() {
	w.h, w.hdr = nil, nil
	walkers.Put(w)
}

// next moves to the next batch. It returns false at the end, and an error that wraps ErrCorrupt where no batch can begin.
func (w *walker) next() (bool, error) {
	w.pos += w.size
	w.size = 0
	if w.pos >= w.limit {
		return false, nil
	}
	if w.limit-w.pos < record.HeaderLen {
		return false, w.corrupt("%d bytes left, too few for a batch", w.limit-w.pos)
	}
	if err := w.fill(); err != nil {
		return false, err
	}
	h := w.buf[w.pos-w.at:][:record.HeaderLen]
	size := int64(int32(binary.BigEndian.Uint32(h[8:]))) + record.PrefixLen //nolint:gosec // int32 on disk
	switch {
	case h[16] != record.Magic:
		return false, w.corrupt("magic %d", h[16])
	case size < record.HeaderLen || size > w.limit-w.pos:
		return false, w.corrupt("batch length %d with %d bytes left", size, w.limit-w.pos)
	}
	w.hdr, w.size = record.Batch(h), size
	if w.hdr.BaseOffset() < 0 || w.hdr.LastOffsetDelta() < 0 {
		return false, w.corrupt("offsets from %d with delta %d", w.hdr.BaseOffset(), w.hdr.LastOffsetDelta())
	}
	return true, nil
}

// fill makes sure that the buffer holds the header at pos.
func (w *walker) fill() error {
	if w.pos >= w.at && w.pos+record.HeaderLen <= w.at+int64(w.n) {
		return nil
	}
	want := int(min(int64(len(w.buf)), w.limit-w.pos))
	n, err := w.h.ReadAt(w.buf[:want], w.pos)
	w.at, w.n = w.pos, n
	if n < record.HeaderLen {
		if err == nil || errors.Is(err, io.EOF) {
			return w.corrupt("file ends %d bytes early", w.limit-w.pos-int64(n))
		}
		return fmt.Errorf("read %s at %d: %w", w.name, w.pos, err)
	}
	return nil
}

// batch reads the whole current batch into buf, grown if need be.
func (w *walker) batch(buf []byte) (record.Batch, error) {
	if int64(cap(buf)) < w.size {
		buf = make([]byte, w.size)
	}
	buf = buf[:w.size]
	if n, err := w.h.ReadAt(buf, w.pos); n < len(buf) {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, w.corrupt("file ends inside the batch")
		}
		return nil, fmt.Errorf("read %s at %d: %w", w.name, w.pos, err)
	}
	return record.Batch(buf), nil
}

// producer reads the producer fields of the current batch, and of a control batch the marker. buf is memory to use.
func (w *walker) producer(buf *[]byte) (producerAppend, error) {
	if !w.hdr.IsControl() {
		return producerOf(w.hdr), nil
	}
	batch, err := w.batch(*buf)
	if err != nil {
		return producerAppend{}, err
	}
	*buf = batch
	return producerOf(batch), nil
}

func (w *walker) corrupt(format string, args ...any) error {
	return fmt.Errorf("%s at %d: %s: %w", w.name, w.pos, fmt.Sprintf(format, args...), ErrCorrupt)
}
