package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// inlineBuffer is the size of the read buffer that every connection owns. Frames that fit execute in it.
	inlineBuffer = 4 << 10
	// firstChunk is what a larger frame gets to begin with; growth is the factor by which it grows each time the peer has
	// filled what it got. So a peer makes us hold no more than growth times what it sent.
	firstChunk = smallestBuffer << 4 // 72 KiB
	growth     = 16
	// minHeader is the least a request has after its size: key, version and correlation id.
	minHeader = 8
)

var (
	// errSilent ends a connection without a line in the log: the peer went away, or we are closing.
	errSilent = errors.New("the connection ended")
	// errFrame says that a peer sent something that is no frame, or one that it may not send.
	errFrame = errors.New("bad frame")
)

// frame is one request as it came, without its size. It is given back once its handler has returned.
type frame struct {
	body    []byte
	loan    *buffer // nil if body lies in the connection's own buffer
	charged int     // bytes taken from the budget
}

// frameReader cuts a connection into frames. It belongs to the connection's reading goroutine; progress is what others may
// look at.
type frameReader struct {
	src      io.Reader
	in       []byte
	r, w     int // what is buffered: in[r:w]
	frames   int // how many frames were read
	progress *progress
	buffers  *buffers
	budget   *budget
	now      func() time.Duration
	limits   func(key int16) int // the permitted size of a frame, by its API key
	maxSize  func() int          // the permitted size of any frame
	patience time.Duration       // how long a started frame waits for memory
	done     <-chan struct{}
}

// next reads one frame. The peer may take its time before the first byte; from then on progress shows how it goes.
func (f *frameReader) next() (frame, error) {
	defer f.progress.endFrame()
	if err := f.fillTo(4); err != nil {
		return frame{}, err
	}
	size := int(int32(binary.BigEndian.Uint32(f.in[f.r:])))
	if err := f.checkSize(size); err != nil {
		return frame{}, err
	}
	if 4+size <= len(f.in) {
		if err := f.fillTo(4 + size); err != nil {
			return frame{}, err
		}
		body := f.in[f.r+4 : f.r+4+size : f.r+4+size]
		f.r += 4 + size
		f.frames++
		return frame{body: body}, nil
	}
	if err := f.fillTo(4 + minHeader); err != nil {
		return frame{}, err
	}
	key := int16(binary.BigEndian.Uint16(f.in[f.r+4:]))
	if limit := f.limits(key); size > limit {
		return frame{}, fmt.Errorf("%w: a %s request of %d bytes, the limit is %d", errFrame, kmsg.NameForKey(key), size, limit)
	}
	f.frames++
	return f.large(size)
}

// checkSize judges the size that a peer declared, before anything is allocated for it.
func (f *frameReader) checkSize(size int) error {
	limit := f.maxSize()
	if size >= minHeader && size <= limit {
		return nil
	}
	if f.frames == 0 && (size < 0 || size > limit) {
		return fmt.Errorf("%w: %s", errFrame, sniff(f.in[f.r:f.w]))
	}
	return fmt.Errorf("%w: declared size %d, permitted are %d to %d", errFrame, size, minHeader, limit)
}

// buffered tells whether a whole frame is here already.
func (f *frameReader) buffered() bool {
	have := f.w - f.r
	return have >= 4 && have-4 >= int(binary.BigEndian.Uint32(f.in[f.r:]))
}

// fillTo reads until n bytes are buffered; n is at most the size of the buffer.
func (f *frameReader) fillTo(n int) error {
	for f.w-f.r < n {
		if f.r == f.w {
			f.r, f.w = 0, 0
		} else {
			f.progress.beginFrame(f.now(), f.w-f.r)
			if f.r+n > len(f.in) {
				f.w = copy(f.in, f.in[f.r:f.w])
				f.r = 0
			}
		}
		got, err := f.src.Read(f.in[f.w:])
		f.w += got
		if err != nil && f.w-f.r < n {
			return peerGone(err, f.w-f.r)
		}
	}
	return nil
}

// large reads a frame that doesn't fit the connection's own buffer.
func (f *frameReader) large(size int) (fr frame, err error) {
	defer func() {
		if err != nil {
			f.release(fr)
			fr = frame{}
		}
	}()
	if err = f.grow(&fr, min(size, firstChunk), nil); err != nil {
		return fr, err
	}
	body := append(fr.loan.b, f.in[f.r+4:f.w]...)
	f.r, f.w = 0, 0
	f.progress.beginFrame(f.now(), len(body))
	for len(body) < size {
		if len(body) == cap(body) {
			fr.loan.b = body
			if err = f.grow(&fr, min(size, growth*cap(body)), time.After); err != nil {
				return fr, err
			}
			body = fr.loan.b
		}
		got, readErr := f.src.Read(body[len(body):min(cap(body), size)])
		body = body[:len(body)+got]
		f.progress.received(len(body), cap(body))
		if readErr != nil && len(body) < size {
			return fr, peerGone(readErr, len(body))
		}
	}
	fr.loan.b, fr.body = body, body
	return fr, nil
}

// grow gives a frame a buffer for n bytes and moves what it has. Once a frame is begun it waits for memory only so long
// (after), because others may wait for the memory that it holds.
func (f *frameReader) grow(fr *frame, n int, after func(time.Duration) <-chan time.Time) error {
	bigger := f.buffers.get(n)
	charge := cap(bigger.b)
	place := f.budget.take(charge)
	if place != nil {
		began := f.now()
		var late <-chan time.Time
		if after != nil {
			late = after(f.patience)
		}
		f.progress.pause()
		var err error
		select {
		case <-f.budget.ready(place):
		case <-f.done:
			err = errSilent
		case <-late:
			err = fmt.Errorf("%w: no memory for %d more bytes within %v (queued.max.request.bytes)", errFrame, n, f.patience)
		}
		if err != nil {
			if f.budget.giveUp(place) {
				f.budget.put(charge)
			}
			f.buffers.put(bigger)
			return err
		}
		f.progress.resume(f.now() - began)
	}
	if fr.loan != nil {
		bigger.b = append(bigger.b, fr.loan.b...)
		f.release(*fr)
	}
	fr.loan, fr.charged = bigger, charge
	return nil
}

// release gives a frame's memory back.
func (f *frameReader) release(fr frame) {
	if fr.loan == nil {
		return
	}
	f.buffers.put(fr.loan)
	f.budget.put(fr.charged)
}

// peerGone says how a read ended, for the debug log: nothing is wrong with a peer that goes away.
func peerGone(err error, partial int) error {
	if partial == 0 {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return fmt.Errorf("%w within a frame, after %d bytes: %w", errSilent, partial, err)
}
