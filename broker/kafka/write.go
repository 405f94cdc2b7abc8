package kafka

import (
	"errors"
	"fmt"
	"io"
)

const (
	// smallRecords are read into memory and written together with the bytes around them; larger ones are sent from the
	// file where that is possible.
	smallRecords = 32 << 10
	// writePiece is how many bytes one write hands over at most, so that a slow peer that does read is told from one that
	// does not.
	writePiece = 1 << 20
	// copyPiece is how many bytes of a file are copied at a time where they cannot be sent directly.
	copyPiece = 64 << 10
)

var (
	// errRecords says that records of an answer could not be read once its head was sent. The connection must go, since its
	// framing is broken.
	errRecords = errors.New("the records of an answer cannot be read")
	// errShortFile says that a segment held fewer bytes than the answer had promised.
	errShortFile = errors.New("a log segment is shorter than its records")
)

// fileSender sends bytes of a file without copying them through this process.
type fileSender interface {
	// sendFile sends n bytes of fd from off; it calls moved after each piece.
	sendFile(fd uintptr, off int64, n int, moved func()) error
}

// write sends what was gathered. Only the goroutine that sends calls it.
func (c *conn) write(o *response) error {
	began := c.srv.now()
	c.progress.beginWrite(began)
	defer c.progress.endWrite()
	var err error
	if len(o.segments) == 0 {
		err = c.writeBytes(o.bytes)
	} else {
		err = c.writeSegments(o)
	}
	c.srv.metrics.wrote(o.size(), c.srv.now()-began)
	return err
}

// moved notes that the peer has taken something.
func (c *conn) moved() { c.progress.beginWrite(c.srv.now()) }

func (c *conn) writeBytes(b []byte) error {
	for len(b) > writePiece {
		if _, err := c.nc.Write(b[:writePiece]); err != nil {
			return err
		}
		b = b[writePiece:]
		c.moved()
	}
	_, err := c.nc.Write(b)
	return err
}

// writeSegments interleaves bytes and records. What is small is copied together into few writes.
func (c *conn) writeSegments(o *response) error {
	gather := c.srv.buffers.get(copyPiece)
	defer func() { c.srv.buffers.put(gather) }()
	done := 0
	for _, s := range o.segments {
		gather.b = append(gather.b, o.bytes[done:s.at]...)
		done = s.at
		if err := c.writeRecords(gather, s.records); err != nil {
			return err
		}
	}
	gather.b = append(gather.b, o.bytes[done:]...)
	return c.writeBytes(gather.b)
}

// writeRecords writes records after what is in gather; small ones may stay there.
func (c *conn) writeRecords(gather *buffer, r records) error {
	n := r.Len()
	if n > smallRecords && c.file != nil {
		if f, off, length := r.File(); f != nil {
			if fd, ok := f.Fd(); ok {
				if err := c.flushGathered(gather); err != nil {
					return err
				}
				return c.file.sendFile(fd, off, length, c.moved)
			}
		}
	}
	for at := 0; at < n; {
		if len(gather.b) >= copyPiece {
			if err := c.flushGathered(gather); err != nil {
				return err
			}
		}
		piece := min(n-at, copyPiece)
		var err error
		if gather.b, err = appendRecords(gather.b, r, at, piece); err != nil {
			return err
		}
		at += piece
	}
	return nil
}

func (c *conn) flushGathered(gather *buffer) error {
	if len(gather.b) == 0 {
		return nil
	}
	err := c.writeBytes(gather.b)
	gather.b = gather.b[:0]
	c.moved()
	return err
}

// appendRecords appends n bytes of records, from an offset within them.
func appendRecords(dst []byte, r records, at, n int) ([]byte, error) {
	start := len(dst)
	dst = append(dst, make([]byte, n)...)
	got, err := r.ReadAt(dst[start:], int64(at))
	if got == n {
		return dst, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = errShortFile
	}
	return dst[:start], fmt.Errorf("%w: %d bytes at %d: %w", errRecords, n, at, err)
}
