package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// batchReader reads whole batches of a segment file one after the other, many with one call.
type batchReader struct {
	h     vfs.File
	name  string
	pos   int64 // where the next batch begins
	limit int64 // where the last one ends

	buf  []byte // buf[r:w] was read and not yet returned
	r, w int
}

// next returns the next batch, verified and valid until the next call, or nil at the end. It calls reading before each read from the
// file, with the number of bytes.
func (b *batchReader) next(reading func(n int) error) (record.Batch, error) {
	if b.pos >= b.limit {
		return nil, nil
	}
	if b.limit-b.pos < record.HeaderLen {
		return nil, b.corrupt("%d bytes left, too few for a batch", b.limit-b.pos)
	}
	if err := b.fill(record.HeaderLen, reading); err != nil {
		return nil, err
	}
	h := b.buf[b.r:b.w]
	size := int64(int32(binary.BigEndian.Uint32(h[8:]))) + record.PrefixLen //nolint:gosec // int32 on disk
	if h[16] != record.Magic || size < record.HeaderLen || size > b.limit-b.pos {
		return nil, b.corrupt("magic %d and batch length %d with %d bytes left", h[16], size, b.limit-b.pos)
	}
	if err := b.fill(int(size), reading); err != nil {
		return nil, err
	}
	batch := record.Batch(b.buf[b.r : b.r+int(size)])
	if err := batch.Verify(); err != nil {
		return nil, b.corrupt("%v", err)
	}
	b.r += int(size)
	b.pos += size
	return batch, nil
}

// fill makes sure that n bytes are in the buffer.
func (b *batchReader) fill(n int, reading func(n int) error) error {
	if b.w-b.r >= n {
		return nil
	}
	if cap(b.buf) < n {
		grown := make([]byte, n)
		b.w = copy(grown, b.buf[b.r:b.w])
		b.buf = grown
	} else {
		b.w = copy(b.buf, b.buf[b.r:b.w])
	}
	b.r = 0
	b.buf = b.buf[:cap(b.buf)]
	at := b.pos + int64(b.w)
	want := b.buf[b.w:min(int64(len(b.buf)), int64(b.w)+b.limit-at)]
	if err := reading(len(want)); err != nil {
		return err
	}
	got, err := b.h.ReadAt(want, at)
	b.w += got
	if b.w >= n {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return b.corrupt("file ends inside a batch")
	}
	return fmt.Errorf("read %s at %d: %w", b.name, at, err)
}

// release gives the buffer back, a new one if it grew far beyond size.
func (b *batchReader) release(size int) []byte {
	if cap(b.buf) > 4*size {
		return make([]byte, size)
	}
	return b.buf
}

func (b *batchReader) corrupt(format string, args ...any) error {
	return fmt.Errorf("%s at %d: %s: %w", b.name, b.pos, fmt.Sprintf(format, args...), ErrCorrupt)
}
