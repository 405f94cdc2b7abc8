package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Decompressor expands payloads within limits. It keeps decoder state for reuse and may be used concurrently: make one per process.
type Decompressor struct {
	limits  Limits
	streams [Zstd + 1]sync.Pool // of *stream, by codec
	readers sync.Pool           // of *Reader
	buffers sync.Pool           // of *[]byte
}

// NewDecompressor returns a Decompressor with the given limits.
func NewDecompressor(l Limits) *Decompressor {
	return &Decompressor{limits: l.withDefaults()}
}

// Permits tells whether a payload of a codec and so many bytes may expand to the others: whether Decompress would take it.
func (d *Decompressor) Permits(c Codec, payload, expanded int) bool {
	return c == None || int64(expanded) <= d.limits.allowance(payload)
}

// Decompress appends the expanded src to dst and returns the result, which shares no memory with src. dst grows with what src really
// holds, not with what it declares. ErrBomb where src expands past the limits; ErrUnsupportedCodec; any other error means that src is
// not valid for the codec. On error the result is dst, unchanged.
func (d *Decompressor) Decompress(dst, src []byte, c Codec) ([]byte, error) {
	if c == None {
		return append(dst, src...), nil
	}
	s, err := d.open(src, c)
	if err != nil {
		return dst, err
	}
	defer d.release(s)
	out, err := s.appendAll(dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// stream expands one payload piece by piece and stops at its allowance.
type stream struct {
	codec  Codec
	in     bytes.Reader
	from   io.Reader // the decoder below that reads in
	gzip   *gzip.Reader
	snappy *snappyReader
	lz4    *lz4.Reader
	zstd   *zstd.Decoder
	left   int64  // how many more bytes may come
	buf    []byte // window of a source, kept between uses
}

// streamWindow is the buffer through which records are walked.
const streamWindow = 32 << 10

// keptBuffer is the largest buffer that a pool keeps; rarer, larger ones go to the garbage collector.
const keptBuffer = 1 << 20

// open takes a stream from the pool. Give it back with release.
func (d *Decompressor) open(src []byte, c Codec) (*stream, error) {
	if c <= None || !c.Valid() {
		return nil, fmt.Errorf("%w: id %d", ErrUnsupportedCodec, int8(c))
	}
	s, ok := d.streams[c].Get().(*stream)
	if !ok {
		s = &stream{codec: c, buf: make([]byte, streamWindow)}
	}
	s.in.Reset(src)
	s.left = d.limits.allowance(len(src))
	if err := s.start(src, d.limits); err != nil {
		d.release(s)
		return nil, fmt.Errorf("%s payload: %w", c, err)
	}
	return s, nil
}

// start points the codec's decoder, made on first use, at the input.
func (s *stream) start(src []byte, l Limits) (err error) {
	switch s.codec {
	case Gzip:
		if s.gzip == nil {
			s.gzip = new(gzip.Reader)
		}
		s.from = s.gzip
		return s.gzip.Reset(&s.in)
	case Snappy:
		if s.snappy == nil {
			s.snappy = new(snappyReader)
		}
		s.from = s.snappy
		return s.snappy.reset(src, s.left)
	case LZ4:
		if err := checkLZ4Frame(src); err != nil {
			return err
		}
		if s.lz4 == nil {
			s.lz4 = lz4.NewReader(&s.in)
		}
		s.lz4.Reset(&s.in)
		s.from = s.lz4
		return nil
	default:
		if s.zstd == nil {
			s.zstd, err = newZstdDecoder(l)
			if err != nil {
				return err
			}
		}
		s.from = s.zstd
		return s.zstd.Reset(&s.in)
	}
}

// newZstdDecoder makes a decoder that works in the caller's goroutine only.
func newZstdDecoder(l Limits) (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(l.ZstdWindowBytes)),
		zstd.WithDecoderMaxMemory(uint64(max(l.ZstdWindowBytes, l.MaxBytes))))
}

// Read implements io.Reader: ErrBomb once the allowance is spent and more bytes come.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.left -= int64(n)
	if s.left < 0 {
		return 0, fmt.Errorf("%s payload of %d bytes: %w", s.codec, s.in.Size(), ErrBomb)
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return n, fmt.Errorf("%s payload: %w: window is too long", s.codec, ErrBomb)
	case errors.Is(err, ErrBomb):
		return n, err
	}
	return n, fmt.Errorf("%s payload: %w", s.codec, err)
}

// appendAll reads to the end. dst doubles at most, so that memory follows the bytes that come.
func (s *stream) appendAll(dst []byte) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := s.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return nil, err
		}
	}
}

// release lets go of the payload and puts the stream back.
func (d *Decompressor) release(s *stream) {
	s.in.Reset(nil)
	if s.snappy != nil {
		s.snappy.release()
	}
	if s.zstd != nil && s.zstd.Reset(nil) != nil {
		return
	}
	if cap(s.buf) > keptBuffer {
		s.buf = make([]byte, streamWindow)
	}
	d.streams[s.codec].Put(s)
}

// buffer lends an empty buffer. Give it back, grown or not, with putBuffer.
func (d *Decompressor) buffer() *[]byte {
	if b, ok := d.buffers.Get().(*[]byte); ok {
		*b = (*b)[:0]
		return b
	}
	return new([]byte)
}

func (d *Decompressor) putBuffer(b *[]byte) {
	if cap(*b) <= keptBuffer {
		d.buffers.Put(b)
	}
}
