package record

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAccessorsAgreeWithKmsg(t *testing.T) {
	head := kmsg.RecordBatch{
		FirstOffset: 1 << 40, PartitionLeaderEpoch: 77, Attributes: attrTransactional | attrTimestampType,
		FirstTimestamp: testNow, MaxTimestamp: testNow + 9, ProducerID: 1 << 33, ProducerEpoch: 12, FirstSequence: math.MaxInt32 - 1,
	}
	raw := oracle(t, Zstd, head, someRecords())
	b, rest, err := Next(append(raw, 1, 2, 3))
	if err != nil || !bytes.Equal(rest, []byte{1, 2, 3}) {
		t.Fatalf("rest %v, error %v", rest, err)
	}
	var want kmsg.RecordBatch
	if err := want.ReadFrom(b); err != nil {
		t.Fatal(err)
	}
	got := kmsg.RecordBatch{
		FirstOffset: b.BaseOffset(), Length: int32(b.Len() - PrefixLen), PartitionLeaderEpoch: b.PartitionLeaderEpoch(), Magic: b.Magic(),
		CRC: int32(b.CRC()), Attributes: b.Attributes(), LastOffsetDelta: b.LastOffsetDelta(), FirstTimestamp: b.BaseTimestamp(),
		MaxTimestamp: b.MaxTimestamp(), ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), FirstSequence: b.BaseSequence(),
		NumRecords: b.Count(), Records: b.Payload(),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if b.Codec() != Zstd || b.TimestampType() != LogAppendTime || !b.IsTransactional() || b.IsControl() || b.HasDeleteHorizon() || !b.HasProducerID() {
		t.Errorf("attributes %b are misread", b.Attributes())
	}
	if b.LastOffset() != 1<<40+4 || b.NextOffset() != 1<<40+5 {
		t.Errorf("last offset %d, next %d", b.LastOffset(), b.NextOffset())
	}
	if b.LastSequence() != 2 {
		t.Errorf("last sequence %d, want 2: it wraps to 0 after the greatest int32", b.LastSequence())
	}
}

func TestSequenceOfNonIdempotentBatch(t *testing.T) {
	b := build(t, NewOptions(None), someRecords())
	if b.LastSequence() != NoSequence || b.HasProducerID() {
		t.Errorf("last sequence %d, has producer %v", b.LastSequence(), b.HasProducerID())
	}
}

func TestMutatorsKeepTheChecksumRight(t *testing.T) {
	b := build(t, NewOptions(Gzip), someRecords())
	crc := b.CRC()
	b.SetBaseOffset(123456789012)
	b.SetPartitionLeaderEpoch(9)
	if b.BaseOffset() != 123456789012 || b.PartitionLeaderEpoch() != 9 || b.CRC() != crc || b.Verify() != nil {
		t.Errorf("offset %d, epoch %d, checksum changed: %v", b.BaseOffset(), b.PartitionLeaderEpoch(), b.CRC() != crc)
	}
	b.SetMaxTimestampAppend(testNow + 1)
	if b.TimestampType() != LogAppendTime || b.MaxTimestamp() != testNow+1 || b.CRC() == crc || b.Verify() != nil {
		t.Errorf("%v %d: %v", b.TimestampType(), b.MaxTimestamp(), b.Verify())
	}
	b.SetMaxTimestamp(CreateTime, testNow+1)
	if b.TimestampType() != CreateTime || b.Verify() != nil {
		t.Errorf("the same time of another type: %v, %v", b.TimestampType(), b.Verify())
	}
	b.SetMaxTimestamp(CreateTime, testNow+500)
	if b.TimestampType() != CreateTime || b.Codec() != Gzip || b.CRC() != crc {
		t.Errorf("going back did not restore the batch: %b", b.Attributes())
	}
}

func TestPeekAndNext(t *testing.T) {
	valid := []byte(build(t, NewOptions(None), someRecords()[:2]))
	edit := func(at int, with ...byte) []byte {
		c := bytes.Clone(valid)
		copy(c[at:], with)
		return c
	}
	tests := []struct {
		name    string
		in      []byte
		n       int
		magic   int8
		peek    error
		nextErr error
	}{
		{"whole", valid, len(valid), 2, nil, nil},
		{"followed by more", append(bytes.Clone(valid), 0, 0), len(valid), 2, nil, nil},
		{"empty", nil, MinLen, 0, ErrShort, ErrShort},
		{"magic not there yet", valid[:16], MinLen, 0, ErrShort, ErrShort},
		{"ends inside", valid[:len(valid)-1], len(valid), 2, ErrShort, ErrShort},
		{"magic 0", edit(16, 0), len(valid), 0, nil, ErrUnsupportedMagic},
		{"magic 1", edit(16, 1), len(valid), 1, nil, ErrUnsupportedMagic},
		{"magic 3", edit(16, 3), 0, 3, ErrCorrupt, ErrCorrupt},
		{"magic -1", edit(16, 0xff), 0, -1, ErrCorrupt, ErrCorrupt},
		{"negative length", edit(8, 0xff, 0xff, 0xff, 0xff), 0, 2, ErrCorrupt, ErrCorrupt},
		{"length zero", edit(8, 0, 0, 0, 0), 0, 2, ErrCorrupt, ErrCorrupt},
		{"length below the header", edit(8, 0, 0, 0, 48), 0, 2, ErrCorrupt, ErrCorrupt},
		{"longest length", edit(8, 0x7f, 0xff, 0xff, 0xff), math.MaxInt32 + 12, 2, ErrShort, ErrShort},
		{"zeros, as after a crash", make([]byte, 100), 0, 0, ErrCorrupt, ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, magic, err := Peek(tt.in)
			if n != tt.n || magic != tt.magic || !errors.Is(err, tt.peek) {
				t.Errorf("Peek = %d, %d, %v; want %d, %d, %v", n, magic, err, tt.n, tt.magic, tt.peek)
			}
			b, rest, err := Next(tt.in)
			if !errors.Is(err, tt.nextErr) {
				t.Errorf("Next error %v, want %v", err, tt.nextErr)
			}
			if err == nil && (len(b) != tt.n || len(b)+len(rest) != len(tt.in) || cap(b) != len(b)) {
				t.Errorf("Next cut %d of %d, capacity %d", len(b), len(tt.in), cap(b))
			}
			if err != nil && (b != nil || len(rest) != len(tt.in)) {
				t.Error("Next moved on after an error")
			}
		})
	}
}

func TestVerify(t *testing.T) {
	valid := build(t, NewOptions(LZ4), someRecords())
	spoil := func(change func(b Batch), seal bool) error {
		b := Batch(bytes.Clone(valid))
		change(b)
		if seal {
			reseal(b)
		}
		return b.Verify()
	}
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"valid", valid.Verify(), nil},
		{"flipped bit in the records", spoil(func(b Batch) { b[len(b)-1] ^= 4 }, false), ErrCorrupt},
		{"flipped bit in the header", spoil(func(b Batch) { b[offCount] ^= 4 }, false), ErrCorrupt},
		{"codec 5", spoil(func(b Batch) { b[offAttributes+1] = 5 }, true), ErrUnsupportedCodec},
		{"negative count", spoil(func(b Batch) { b[offCount] = 0x80 }, true), ErrCorrupt},
		{"negative last delta", spoil(func(b Batch) { b[offLastDelta] = 0x80 }, true), ErrCorrupt},
		{"negative offset", spoil(func(b Batch) { b.SetBaseOffset(-1) }, false), ErrCorrupt},
		{"offset overflows", spoil(func(b Batch) { b.SetBaseOffset(math.MaxInt64) }, false), ErrCorrupt},
	}
	for _, tt := range tests {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.err, tt.want)
		}
	}
}

func TestCodecNames(t *testing.T) {
	for _, c := range allCodecs {
		got, err := ParseCodec(c.String())
		if got != c || err != nil {
			t.Errorf("%v read back as %v, %v", c, got, err)
		}
	}
	if _, err := ParseCodec("producer"); !errors.Is(err, ErrUnsupportedCodec) {
		t.Errorf("producer: %v", err)
	}
	if Codec(5).Valid() || Codec(-1).Valid() || Codec(7).String() != "unknown(7)" {
		t.Error("a codec that does not exist passes for one")
	}
}
