package record

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// xerial frames raw snappy blocks as the Java library does.
func xerial(blocks ...[]byte) []byte {
	out := append(bytes.Clone(xerialMagic), 0, 0, 0, 1, 0, 0, 0, 1)
	for _, b := range blocks {
		out = binary.BigEndian.AppendUint32(out, uint32(len(b)))
		out = append(out, b...)
	}
	return out
}

func snap(b []byte) []byte { return s2.EncodeSnappy(nil, b) }

func TestDecompressRoundTrip(t *testing.T) {
	d, c := NewDecompressor(Limits{}), NewCompressor()
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rand.New(rand.NewPCG(uint64(i), 2)).Uint32())
	}
	for _, src := range [][]byte{nil, {7}, bytes.Repeat([]byte("abc"), 200_000), noise} {
		for _, codec := range allCodecs {
			packed, err := c.Compress(nil, src, codec, DefaultLevel)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Decompress([]byte("pre"), packed, codec)
			if err != nil || string(got[:3]) != "pre" || !bytes.Equal(got[3:], src) {
				t.Errorf("%v of %d bytes does not come back: %v", codec, len(src), err)
			}
		}
	}
}

func TestSnappyFramings(t *testing.T) {
	a, b := bytes.Repeat([]byte("one "), 9000), bytes.Repeat([]byte("two "), 5000)
	both := append(bytes.Clone(a), b...)
	// 4 literal bytes, a copy of them, and a copy with offset 0: a repetition for s2, an error for snappy.
	extension := []byte{12, 3 << 2, 'a', 'b', 'c', 'd', 0x01, 0x04, 0x01, 0x00}
	if out, err := s2.Decode(nil, extension); err != nil || string(out) != "abcdabcdabcd" {
		t.Fatalf("not an extension: %q, %v", out, err)
	}
	tests := []struct {
		name string
		in   []byte
		want []byte
		ok   bool
	}{
		{"raw", snap(both), both, true},
		{"xerial", xerial(snap(a), snap(b)), both, true},
		{"xerial streams joined", append(xerial(snap(a)), xerial(snap(b))...), both, true},
		{"xerial without blocks", xerial(), nil, true},
		{"nothing at all", nil, nil, true},
		{"xerial header cut", xerial()[:12], nil, false},
		{"xerial length cut", xerial(snap(a))[:18], nil, false},
		{"xerial block cut", xerial(snap(a), snap(b))[:len(xerial(snap(a)))+10], nil, false},
		{"xerial block of length zero", xerial(nil), nil, false},
		{"xerial negative length", append(xerial(), 0xff, 0xff, 0xff, 0xff, 0), nil, false},
		{"raw cut", snap(a)[:20], nil, false},
		{"declares 4 GiB", []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0}, nil, false},
		{"declares 60 MiB", []byte{0x80, 0x80, 0x80, 0x1e, 0}, nil, false},
		{"s2 extension", extension, nil, false},
	}
	d := NewDecompressor(Limits{})
	for _, tt := range tests {
		got, err := d.Decompress(nil, tt.in, Snappy)
		if (err == nil) != tt.ok || tt.ok && !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		}
	}
}

func lz4Frame(t testing.TB, src []byte, options ...lz4.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	if err := w.Apply(options...); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// lz4WithFlags changes the flags and finds the header checksum that the library accepts with them.
func lz4WithFlags(t *testing.T, frame []byte, flags byte) []byte {
	t.Helper()
	for sum := range 256 {
		c := bytes.Clone(frame)
		c[4], c[6] = flags, byte(sum)
		if _, err := io.ReadAll(lz4.NewReader(bytes.NewReader(c))); err == nil {
			return c
		}
	}
	t.Fatal("no checksum fits")
	return nil
}

func TestLZ4Frames(t *testing.T) {
	src := bytes.Repeat([]byte("lz4 frame "), 30_000)
	plain := lz4Frame(t, src)
	spoil := func(in []byte, at int, x byte) []byte { c := bytes.Clone(in); c[at] ^= x; return c }
	small := lz4.BlockSizeOption(lz4.Block64Kb)
	tests := []struct {
		name string
		in   []byte
		ok   bool
	}{
		{"default", plain, true},
		{"small blocks", lz4Frame(t, src, small), true},
		{"block checksums", lz4Frame(t, src, small, lz4.BlockChecksumOption(true)), true},
		{"no checksum", lz4Frame(t, src, lz4.ChecksumOption(false)), true},
		{"with its size", lz4Frame(t, src, lz4.SizeOption(uint64(len(src)))), true},
		{"legacy", lz4Frame(t, src, lz4.LegacyOption(true)), false},
		{"empty", nil, false},
		{"cut in the header", plain[:6], false},
		{"cut in a block", plain[:len(plain)/2], false},
		{"cut before the checksum", plain[:len(plain)-4], false},
		{"bytes behind the frame", append(bytes.Clone(plain), 0), false},
		{"two frames", append(bytes.Clone(plain), plain...), false},
		{"skippable frame", append([]byte{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4}, plain...), false},
		{"dependent blocks", lz4WithFlags(t, plain, plain[4]&^lz4FlagIndependent), false},
		{"dictionary", spoil(plain, 4, lz4FlagDictionary), false},
		{"header checksum", spoil(plain, 6, 1), false},
		{"content checksum", spoil(plain, len(plain)-1, 1), false},
		{"a block's data", spoil(plain, 30, 0x55), false},
	}
	d := NewDecompressor(Limits{})
	for _, tt := range tests {
		got, err := d.Decompress(nil, tt.in, LZ4)
		if (err == nil) != tt.ok || tt.ok && !bytes.Equal(got, src) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		}
	}
}

// A declared size costs nothing until the bytes come.
func TestLyingSizesCostNoMemory(t *testing.T) {
	claim := appendVarlong(nil, 60<<20) // the length of a record that is not there
	payloads := map[Codec][]byte{Snappy: {0x80, 0x80, 0x80, 0x1e, 0}, None: claim}
	for _, codec := range []Codec{Gzip, LZ4, Zstd} {
		payloads[codec] = kgoCompress(t, codec, append(bytes.Clone(claim), make([]byte, streamWindow+8000)...))
	}
	for codec, payload := range payloads {
		d := NewDecompressor(Limits{})
		b := raw(codec, 1, payload)
		var read, validated error
		grown := alloc(func() {
			r := b.Records(d)
			for r.Next() {
			}
			read = r.Err()
			r.Close()
			_, validated = b.Validate(openCheck(), d)
		})
		if !errors.Is(read, ErrCorrupt) || !errors.Is(validated, ErrInvalidRecord) {
			t.Errorf("%v: %v, %v", codec, read, validated)
		}
		if grown > 24<<20 && !raceEnabled {
			t.Errorf("%v: a payload of %d bytes cost %d", codec, len(payload), grown)
		}
	}
}

// bombs expand to 20 MiB of zeros each.
func bombs(t testing.TB) map[Codec][]byte {
	t.Helper()
	const size = 20 << 20
	zeros := make([]byte, 1<<20)
	var gz, zs bytes.Buffer
	gw := gzip.NewWriter(&gz)
	zw, err := zstd.NewWriter(&zs, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	var lz bytes.Buffer
	lw := lz4.NewWriter(&lz)
	block := snap(zeros)
	var blocks [][]byte
	for range size / len(zeros) {
		for _, w := range []interface{ Write([]byte) (int, error) }{gw, zw, lw} {
			if _, err := w.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
		blocks = append(blocks, block)
	}
	for _, w := range []interface{ Close() error }{gw, zw, lw} {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[Codec][]byte{Gzip: gz.Bytes(), Zstd: zs.Bytes(), LZ4: lz.Bytes(), Snappy: xerial(blocks...)}
}

func TestBombs(t *testing.T) {
	for codec, bomb := range bombs(t) {
		d := NewDecompressor(Limits{MaxBytes: 8 << 20})
		if _, err := d.Decompress(nil, bomb, codec); !errors.Is(err, ErrBomb) {
			t.Errorf("%v: %v", codec, err)
		}
		// The walk must stop at once, and hold no more than a decoder's own buffers.
		b := raw(codec, 1, bomb)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := b.Validate(openCheck(), d)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrInvalidRecord) {
			t.Errorf("%v: Validate: %v", codec, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 20<<20 && !raceEnabled {
			t.Errorf("%v: Validate allocated %d bytes", codec, grown)
		}
	}
}

// A bomb that is a well-formed record up to the limit.
func TestBombInsideOneRecord(t *testing.T) {
	const size = 100 << 20
	record := appendVarlong(nil, size+12)
	record = append(record, 0, 0, 0, 1)
	record = appendVarlong(record, size)
	record = append(record, make([]byte, size)...)
	record = append(record, 0)
	packed, err := NewCompressor().Compress(nil, record, Zstd, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecompressor(Limits{})
	b := raw(Zstd, 1, packed)
	if _, err := b.Validate(openCheck(), d); !errors.Is(err, ErrBomb) || !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("Validate: %v", err)
	}
	r := b.Records(d)
	defer r.Close()
	if r.Next() || !errors.Is(r.Err(), ErrBomb) || errors.Is(r.Err(), ErrCorrupt) {
		t.Errorf("Records: %v", r.Err())
	}
}

func TestLimits(t *testing.T) {
	c := NewCompressor()
	zeros := make([]byte, 1<<20)
	packed, err := c.Compress(nil, zeros, Zstd, DefaultLevel)
	if err != nil {
		t.Fatal(err)
	}
	ratio := int64(len(zeros) / len(packed))
	tests := []struct {
		name   string
		limits Limits
		ok     bool
	}{
		{"defaults leave the first MiB free", Limits{}, true},
		{"exactly the bytes", Limits{MaxBytes: 1 << 20, FreeBytes: 1 << 20}, true},
		{"a byte too many", Limits{MaxBytes: 1<<20 - 1}, false},
		{"ratio within", Limits{FreeBytes: 1, MaxRatio: ratio + 1}, true},
		{"ratio above", Limits{FreeBytes: 1, MaxRatio: ratio - 1}, false},
	}
	for _, tt := range tests {
		_, err := NewDecompressor(tt.limits).Decompress(nil, packed, Zstd)
		if tt.ok != (err == nil) || err != nil && !errors.Is(err, ErrBomb) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestZstdWindow(t *testing.T) {
	frame := func(window int) []byte {
		var out bytes.Buffer
		w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if _, err := w.Write(bytes.Repeat([]byte("window "), 100_000)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if _, err := NewDecompressor(Limits{MaxRatio: 1 << 20}).Decompress(nil, frame(8<<20), Zstd); err != nil {
		t.Errorf("8 MiB: %v", err)
	}
	if _, err := NewDecompressor(Limits{MaxRatio: 1 << 20}).Decompress(nil, frame(16<<20), Zstd); !errors.Is(err, ErrBomb) {
		t.Errorf("16 MiB: %v", err)
	}
	if _, err := NewDecompressor(Limits{MaxRatio: 1 << 20, ZstdWindowBytes: 16 << 20}).Decompress(nil, frame(16<<20), Zstd); err != nil {
		t.Errorf("16 MiB where it is allowed: %v", err)
	}
}

func TestUnsupportedCodec(t *testing.T) {
	for _, c := range []Codec{-1, 5, 6, 7} {
		if _, err := NewDecompressor(Limits{}).Decompress(nil, nil, c); !errors.Is(err, ErrUnsupportedCodec) {
			t.Errorf("decompress %v: %v", c, err)
		}
		if _, err := NewCompressor().Compress(nil, nil, c, DefaultLevel); !errors.Is(err, ErrUnsupportedCodec) {
			t.Errorf("compress %v: %v", c, err)
		}
	}
}

// A decoder that met garbage must work for the next batch.
func TestDecoderIsUsableAfterGarbage(t *testing.T) {
	d, c := NewDecompressor(Limits{}), NewCompressor()
	src := bytes.Repeat([]byte("good "), 50_000)
	for _, codec := range allCodecs[1:] {
		packed, err := c.Compress(nil, src, codec, DefaultLevel)
		if err != nil {
			t.Fatal(err)
		}
		for cut := 0; cut < len(packed); cut += 1 + len(packed)/37 {
			broken := append(bytes.Clone(packed[:cut]), 0xa5, 0x5a)
			if out, err := d.Decompress(nil, broken, codec); err == nil && bytes.Equal(out, src) {
				t.Errorf("%v cut at %d passed", codec, cut)
			}
			if out, err := d.Decompress(nil, packed, codec); err != nil || !bytes.Equal(out, src) {
				t.Fatalf("%v after a cut at %d: %v", codec, cut, err)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	d, c := NewDecompressor(Limits{}), NewCompressor()
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 20 {
				codec := allCodecs[(worker+i)%len(allCodecs)]
				o := NewOptions(codec)
				b := NewBuilder(o)
				r := Record{Timestamp: testNow, Value: bytes.Repeat([]byte{byte(worker)}, 5000+i)}
				b.Append(&r)
				batch, err := b.Build(nil, c)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := batch.Validate(openCheck(), d); err != nil {
					t.Errorf("%v: %v", codec, err)
				}
				if got := readAll(t, batch, d); len(got) != 1 || !bytes.Equal(got[0].Value, r.Value) {
					t.Errorf("%v reads as something else", codec)
				}
			}
		})
	}
	wg.Wait()
}
