package record

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The bytes of an uncompressed batch have one canonical form, so ours must be kmsg's.
func TestBuilderWritesWhatKmsgWrites(t *testing.T) {
	records := someRecords()
	head := kmsg.RecordBatch{
		FirstOffset: 42, PartitionLeaderEpoch: 3, Attributes: attrTransactional, FirstTimestamp: testNow, MaxTimestamp: testNow + 500,
		ProducerID: 9, ProducerEpoch: 1, FirstSequence: 100,
	}
	want := oracle(t, None, head, records)
	got := build(t, Options{
		BaseOffset: 42, PartitionLeaderEpoch: 3, Transactional: true, ProducerID: 9, ProducerEpoch: 1, BaseSequence: 100, Level: DefaultLevel,
	}, records)
	if !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got[:100], want[:100])
	}
}

// Other clients must read what we compress, and we what they compress.
func TestCodecInterop(t *testing.T) {
	d := NewDecompressor(Limits{})
	records := someRecords()
	for _, codec := range allCodecs {
		ours := build(t, NewOptions(codec), records)
		payload, err := kgo.DefaultDecompressor().Decompress(ours.Payload(), kgo.CompressionCodecType(codec))
		if err != nil {
			t.Fatalf("%v: %v", codec, err)
		}
		if want := build(t, NewOptions(None), records).Payload(); !bytes.Equal(payload, want) {
			t.Errorf("%v: franz-go expands our payload to something else", codec)
		}
		theirs, _, err := Next(oracle(t, codec, plainHead(), records))
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, theirs, d); !reflect.DeepEqual(got, records) {
			t.Errorf("%v: franz-go's batch reads as %.300v", codec, got)
		}
		if got := readAll(t, ours, d); !reflect.DeepEqual(got, records) {
			t.Errorf("%v: our own batch reads as %.300v", codec, got)
		}
	}
}

func TestBuilderWithGaps(t *testing.T) {
	o := NewOptions(Snappy)
	o.BaseOffset = 1000
	b := NewBuilder(o)
	want := []Record{
		{Offset: 1003, Timestamp: testNow, Key: []byte("a")},
		{Offset: 1010, Timestamp: testNow - 5, Key: []byte("b")},
	}
	b.AppendAt(&want[0])
	b.AppendAt(&want[1])
	b.PadTo(1020)
	batch, err := b.Build(nil, NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	if batch.LastOffset() != 1020 || batch.Count() != 2 || batch.BaseTimestamp() != testNow || batch.MaxTimestamp() != testNow {
		t.Errorf("last offset %d, %d records, timestamps %d to %d", batch.LastOffset(), batch.Count(), batch.BaseTimestamp(), batch.MaxTimestamp())
	}
	if got := readAll(t, batch, NewDecompressor(Limits{})); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestBuilderLogAppendTime(t *testing.T) {
	o := NewOptions(None)
	o.TimestampType, o.AppendTime = LogAppendTime, testNow+77
	b := build(t, o, someRecords())
	if b.TimestampType() != LogAppendTime || b.MaxTimestamp() != testNow+77 {
		t.Errorf("%v %d", b.TimestampType(), b.MaxTimestamp())
	}
	for _, r := range readAll(t, b, NewDecompressor(Limits{})) {
		if r.Timestamp != testNow+77 {
			t.Errorf("record %d has timestamp %d", r.Offset, r.Timestamp)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	r := Record{Timestamp: testNow}
	at := func(offset int64) *Record { return &Record{Offset: offset, Timestamp: testNow} }
	tests := map[string]func(b *Builder){
		"no records":              func(*Builder) {},
		"offset repeated":         func(b *Builder) { b.AppendAt(at(5)); b.AppendAt(at(5)); b.Append(&r) },
		"offset before the base":  func(b *Builder) { b.AppendAt(at(-1)) },
		"offset too far":          func(b *Builder) { b.AppendAt(at(math.MaxInt32 + 1)) },
		"end before the last one": func(b *Builder) { b.AppendAt(at(5)); b.PadTo(4) },
		"end too far":             func(b *Builder) { b.Append(&r); b.PadTo(math.MaxInt32 + 1) },
	}
	for name, fill := range tests {
		b := NewBuilder(NewOptions(None))
		fill(b)
		if _, err := b.Build(nil, NewCompressor()); !errors.Is(err, ErrUnbuildable) {
			t.Errorf("%s: %v", name, err)
		}
		b.Reset(NewOptions(None))
		b.Append(&r)
		if _, err := b.Build(nil, NewCompressor()); err != nil {
			t.Errorf("%s: after Reset: %v", name, err)
		}
	}
}

func TestBuildAppends(t *testing.T) {
	b := NewBuilder(NewOptions(Zstd))
	r := Record{Timestamp: testNow, Value: []byte("v")}
	b.Append(&r)
	if b.Count() != 1 || b.Size() <= HeaderLen {
		t.Errorf("count %d, size %d", b.Count(), b.Size())
	}
	first, err := b.Build([]byte("before"), NewCompressor())
	if err != nil || first.Verify() != nil {
		t.Fatal(err, first.Verify())
	}
	again, err := b.Build(nil, NewCompressor())
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("building twice gave two batches: %v", err)
	}
}

func TestRecompress(t *testing.T) {
	d, c := NewDecompressor(Limits{}), NewCompressor()
	records := someRecords()
	for _, from := range allCodecs {
		for _, to := range allCodecs {
			o := NewOptions(from)
			o.BaseOffset, o.PartitionLeaderEpoch, o.Transactional = 7, 2, true
			o.ProducerID, o.ProducerEpoch, o.BaseSequence = 4711, 3, 20
			before := build(t, o, records)
			kept := bytes.Clone(before)
			after, err := before.Recompress([]byte("xyz"), to, DefaultLevel, d, c)
			if err != nil {
				t.Fatalf("%v to %v: %v", from, to, err)
			}
			o.Codec = to
			if want := build(t, o, records); !bytes.Equal(after, want) {
				t.Errorf("%v to %v differs from the batch built so", from, to)
			}
			if !bytes.Equal(before, kept) {
				t.Errorf("%v to %v changed its input", from, to)
			}
		}
	}
}

func TestRecompressErrors(t *testing.T) {
	d, c := NewDecompressor(Limits{MaxBytes: 1000}), NewCompressor()
	b := build(t, NewOptions(Gzip), someRecords())
	if _, err := b.Recompress(nil, Zstd, DefaultLevel, d, c); !errors.Is(err, ErrBomb) {
		t.Errorf("past the limit: %v", err)
	}
	d = NewDecompressor(Limits{})
	if _, err := b.Recompress(nil, Codec(6), DefaultLevel, d, c); !errors.Is(err, ErrUnsupportedCodec) {
		t.Errorf("codec 6: %v", err)
	}
	if _, err := b.Recompress(nil, Gzip, 10, d, c); !errors.Is(err, ErrLevel) {
		t.Errorf("level 10: %v", err)
	}
}

func TestLevels(t *testing.T) {
	c, d := NewCompressor(), NewDecompressor(Limits{})
	src := bytes.Repeat([]byte("the river flows under the bridge of stone; "), 5000)
	levels := map[Codec][]int{
		None: {5}, Snappy: {5},
		Gzip: {DefaultLevel, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		LZ4:  {DefaultLevel, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
		Zstd: {DefaultLevel, -131072, -1, 0, 1, 3, 6, 10, 22},
	}
	for codec, list := range levels {
		for _, level := range list {
			out, err := c.Compress([]byte("pre"), src, codec, level)
			if err != nil {
				t.Fatalf("%v level %d: %v", codec, level, err)
			}
			back, err := d.Decompress(nil, out[3:], codec)
			if err != nil || !bytes.Equal(back, src) || string(out[:3]) != "pre" {
				t.Errorf("%v level %d does not come back: %v", codec, level, err)
			}
		}
	}
	for codec, list := range map[Codec][]int{Gzip: {-2, 0, 10}, LZ4: {-1, 0, 18}, Zstd: {-131073, 23}} {
		for _, level := range list {
			if _, err := c.Compress(nil, src, codec, level); !errors.Is(err, ErrLevel) {
				t.Errorf("%v level %d: %v", codec, level, err)
			}
		}
	}
}

// The default level of lz4 is the fast algorithm; the levels around it rise to the slowest.
func TestLZ4LevelMapping(t *testing.T) {
	want := map[int]int{DefaultLevel: 0, 9: 0, 1: 1, 2: 2, 8: 5, 10: 6, 16: 9, 17: 9}
	for level, index := range want {
		if got := lz4Index(level); got != index {
			t.Errorf("level %d maps to %d, want %d", level, got, index)
		}
	}
}
