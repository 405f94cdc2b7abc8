package storage

import (
	"errors"
	"fmt"
	"io"

	"moldau/internal/vfs"
)

// Slice is a run of whole record batches in one segment file. The file stays open until Release, even when the log is deleted
// meanwhile. A Slice may be used by one goroutine at a time; the zero Slice is empty. Copies share one pin: release exactly one.
type Slice struct {
	cache *fileCache
	f     *file
	h     vfs.File
	off   int64
	n     int
	next  int64
}

// Len returns the number of bytes.
func (s Slice) Len() int { return s.n }

// Next returns an offset behind all records of the slice.
func (s Slice) Next() int64 { return s.next }

// Bytes reads the batches into new memory, which is the caller's.
func (s Slice) Bytes() ([]byte, error) { return s.AppendTo(nil) }

// AppendTo reads the batches with one call and appends them to dst.
func (s Slice) AppendTo(dst []byte) ([]byte, error) {
	if s.n == 0 {
		return dst, nil
	}
	have := len(dst)
	if cap(dst)-have < s.n {
		grown := make([]byte, have, have+s.n)
		copy(grown, dst)
		dst = grown
	}
	if _, err := s.ReadAt(dst[have:have+s.n], 0); err != nil {
		return dst[:have], err
	}
	return dst[:have+s.n], nil
}

// ReadAt reads len(p) bytes from off on, counted from the beginning of the slice. It returns io.EOF where the slice ends before p is
// full, and an error that wraps ErrCorrupt where the file ends inside the slice: the log was truncated.
func (s Slice) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(s.n) {
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > int64(s.n)-off {
		p, end = p[:int64(s.n)-off], io.EOF
	}
	n, err := s.h.ReadAt(p, s.off+off)
	if n == len(p) {
		return n, end
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s ends inside a slice at %d: %w", s.f.path, s.off+off+int64(n), ErrCorrupt)
	}
	return n, err
}

// File returns the file region, for sendfile. The file is valid until Release; f is nil for an empty slice.
func (s Slice) File() (f vfs.File, off int64, n int) { return s.h, s.off, s.n }

// Release gives the file back. The slice is empty then; releasing an empty slice does nothing.
func (s *Slice) Release() {
	if s.f != nil {
		s.cache.unpin(s.f)
	}
	*s = Slice{}
}
