package logfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"moldau/broker/record"
)

// ErrTruncated means that the file ends inside a batch.
var ErrTruncated = errors.New("the file ends inside a batch")

// Located is a batch and where it begins in its file.
type Located struct {
	Position int64
	Batch    record.Batch // valid until the next batch is read
}

// Scan calls f for every batch of a segment file, in order. It ends at the
// first bytes that are no batch, with record.ErrCorrupt or ErrTruncated, and at
// the first error of f. end is the position behind the last whole batch.
// Checksums are not looked at.
func Scan(path string, f func(Located) error) (end int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	var buf []byte
	head := make([]byte, record.MinLen)
	for end < info.Size() {
		n, err := frame(file, head, end, info.Size())
		if err != nil {
			return end, err
		}
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		if _, err := file.ReadAt(buf, end); err != nil {
			return end, fmt.Errorf("position %d: %w", end, err)
		}
		batch, _, err := record.Next(buf)
		if err != nil {
			return end, fmt.Errorf("position %d: %w", end, err)
		}
		if err := f(Located{end, batch}); err != nil {
			return end, err
		}
		end += int64(n)
	}
	return end, nil
}

// frame reads the length of the batch at a position. A length that leads out of
// the file is not believed, so no memory is taken for it.
func frame(r io.ReaderAt, head []byte, at, size int64) (int, error) {
	n, err := r.ReadAt(head[:min(int64(len(head)), size-at)], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("position %d: %w", at, err)
	}
	length, _, err := record.Peek(head[:n])
	switch {
	case errors.Is(err, record.ErrShort) && at+int64(length) > size:
		return 0, fmt.Errorf("position %d: %w: it needs %d bytes, %d are there", at, ErrTruncated, length, size-at)
	case err != nil && !errors.Is(err, record.ErrShort):
		return 0, fmt.Errorf("position %d: %w", at, err)
	}
	return length, nil
}
