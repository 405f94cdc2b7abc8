package record

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// DefaultLevel stands for Kafka's default level of whichever codec: gzip 6, lz4 9, zstd 3.
const DefaultLevel = math.MinInt32

// ErrLevel says that a compression level is outside the range of Kafka's configuration.
var ErrLevel = errors.New("compression level out of range")

// The levels of Kafka's compression.gzip.level, compression.lz4.level and compression.zstd.level (KIP-390).
const (
	gzipLevelLibrary = -1 // also a valid value of Kafka's: the library's default
	gzipLevelMin     = 1
	gzipLevelMax     = 9
	lz4LevelMin      = 1
	lz4LevelMax      = 17
	lz4LevelDefault  = 9
	zstdLevelMin     = -131072
	zstdLevelMax     = 22
	zstdLevelDefault = 3
)

// encoderWindow is the zstd window: what decoding our batches costs a consumer in memory.
const encoderWindow = 1 << 20

// Compressor compresses payloads. It keeps encoder state for reuse and may be used concurrently: make one per process.
type Compressor struct {
	gzip [gzipLevelMax + 1]sync.Pool              // of *gzip.Writer, by level, 0 for the library's default
	lz4  [len(lz4Levels)]sync.Pool                // of *lz4.Writer, by index into lz4Levels
	zstd [zstd.SpeedBestCompression + 1]sync.Pool // of *zstd.Encoder, by the library's level
}

// lz4Levels are the library's levels; the first is the fast algorithm, the others the high-compression one.
var lz4Levels = [...]lz4.CompressionLevel{
	lz4.Fast, lz4.Level1, lz4.Level2, lz4.Level3, lz4.Level4, lz4.Level5, lz4.Level6, lz4.Level7, lz4.Level8, lz4.Level9,
}

// NewCompressor returns a Compressor.
func NewCompressor() *Compressor { return new(Compressor) }

// CheckLevel tells whether level is one of Kafka's for the codec. None and Snappy have no levels and accept any.
func CheckLevel(c Codec, level int) error {
	ok := true
	switch {
	case level == DefaultLevel:
	case c == Gzip:
		ok = level == gzipLevelLibrary || level >= gzipLevelMin && level <= gzipLevelMax
	case c == LZ4:
		ok = level >= lz4LevelMin && level <= lz4LevelMax
	case c == Zstd:
		ok = level >= zstdLevelMin && level <= zstdLevelMax
	}
	if !ok {
		return fmt.Errorf("%w: %s %d", ErrLevel, c, level)
	}
	return nil
}

// Compress appends the compressed src to dst. Snappy is written as one raw block, lz4 as one frame of independent 64 KiB blocks, both of
// which every client reads. Errors: ErrUnsupportedCodec, ErrLevel.
func (c *Compressor) Compress(dst, src []byte, codec Codec, level int) ([]byte, error) {
	if err := CheckLevel(codec, level); err != nil {
		return dst, err
	}
	switch codec {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return c.compressGzip(dst, src, level)
	case Snappy:
		return compressSnappy(dst, src), nil
	case LZ4:
		return c.compressLZ4(dst, src, level)
	case Zstd:
		return c.compressZstd(dst, src, level)
	}
	return dst, fmt.Errorf("%w: id %d", ErrUnsupportedCodec, int8(codec))
}

func (c *Compressor) compressGzip(dst, src []byte, level int) ([]byte, error) {
	if level == DefaultLevel || level == gzipLevelLibrary {
		level = 0
	}
	pool := &c.gzip[level]
	w, ok := pool.Get().(*gzip.Writer)
	if !ok {
		libraryLevel := level
		if level == 0 {
			libraryLevel = gzip.DefaultCompression
		}
		var err error
		if w, err = gzip.NewWriterLevel(nil, libraryLevel); err != nil {
			return dst, fmt.Errorf("gzip: %w", err)
		}
	}
	defer pool.Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	if _, err := w.Write(src); err != nil {
		return dst, fmt.Errorf("gzip: %w", err)
	}
	if err := w.Close(); err != nil {
		return dst, fmt.Errorf("gzip: %w", err)
	}
	w.Reset(nil)
	return out.Bytes(), nil
}

func compressSnappy(dst, src []byte) []byte {
	need := s2.MaxEncodedLen(len(src))
	dst = grow(dst, need)
	block := s2.EncodeSnappy(dst[len(dst):len(dst)+need], src)
	return dst[:len(dst)+len(block)]
}

// lz4Index maps Kafka's levels to ours as Kafka does: its default is the fast algorithm, all others are the high-compression one.
func lz4Index(level int) int {
	if level == DefaultLevel || level == lz4LevelDefault {
		return 0
	}
	slowest := len(lz4Levels) - 1
	return (level*slowest + lz4LevelMax - 1) / lz4LevelMax
}

func (c *Compressor) compressLZ4(dst, src []byte, level int) ([]byte, error) {
	index := lz4Index(level)
	pool := &c.lz4[index]
	w, ok := pool.Get().(*lz4.Writer)
	if !ok {
		w = lz4.NewWriter(nil)
		err := w.Apply(lz4.CompressionLevelOption(lz4Levels[index]), lz4.BlockSizeOption(lz4.Block64Kb))
		if err != nil {
			return dst, fmt.Errorf("lz4: %w", err)
		}
	}
	defer pool.Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	if _, err := w.Write(src); err != nil {
		return dst, fmt.Errorf("lz4: %w", err)
	}
	if err := w.Close(); err != nil {
		return dst, fmt.Errorf("lz4: %w", err)
	}
	w.Reset(nil)
	return out.Bytes(), nil
}

func (c *Compressor) compressZstd(dst, src []byte, level int) ([]byte, error) {
	if level == DefaultLevel {
		level = zstdLevelDefault
	}
	speed := zstd.EncoderLevelFromZstd(level)
	pool := &c.zstd[speed]
	w, ok := pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		w, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithWindowSize(encoderWindow),
			zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
		if err != nil {
			return dst, fmt.Errorf("zstd: %w", err)
		}
	}
	defer pool.Put(w)
	return w.EncodeAll(src, dst), nil
}

// grow makes room for n bytes after dst without changing its length.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	grown := make([]byte, len(dst), len(dst)+n)
	copy(grown, dst)
	return grown
}
