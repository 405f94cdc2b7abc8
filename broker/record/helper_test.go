package record

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const testNow = 1_700_000_000_000

var allCodecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

// openCheck accepts whatever is well formed.
func openCheck() *Check {
	return &Check{Now: testNow, BeforeMaxMs: math.MaxInt64, AfterMaxMs: math.MaxInt64}
}

// oracle encodes a batch with franz-go's message package and compressor, that is without any code of this package.
func oracle(t testing.TB, codec Codec, head kmsg.RecordBatch, records []Record) []byte {
	t.Helper()
	var payload []byte
	for i, r := range records {
		k := kmsg.Record{TimestampDelta64: r.Timestamp - head.FirstTimestamp, OffsetDelta: int32(i), Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			k.Headers = append(k.Headers, kmsg.Header{Key: string(h.Key), Value: h.Value})
		}
		k.Length = int32(len(k.AppendTo(nil)) - 1) // the length of a zero length field is 1
		payload = k.AppendTo(payload)
	}
	head.Magic = 2
	head.NumRecords = int32(len(records))
	head.LastOffsetDelta = head.NumRecords - 1
	head.Attributes |= int16(codec)
	head.Records = kgoCompress(t, codec, payload)
	return reseal(head.AppendTo(nil))
}

// reseal sets length and checksum, so that a test can spoil other fields.
func reseal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

func kgoCompress(t testing.TB, codec Codec, src []byte) []byte {
	t.Helper()
	codecs := map[Codec]kgo.CompressionCodec{
		Gzip: kgo.GzipCompression(), Snappy: kgo.SnappyCompression(), LZ4: kgo.Lz4Compression(), Zstd: kgo.ZstdCompression(),
	}
	if codec == None {
		return src
	}
	c, err := kgo.DefaultCompressor(codecs[codec])
	if err != nil {
		t.Fatal(err)
	}
	out, used := c.Compress(new(bytes.Buffer), src)
	if used != kgo.CompressionCodecType(codec) {
		t.Fatalf("compressed with %v, want %v", used, codec)
	}
	return bytes.Clone(out)
}

func plainHead() kmsg.RecordBatch {
	return kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, FirstTimestamp: testNow, MaxTimestamp: testNow,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
	}
}

// someRecords is a mix of nulls, empties, headers, a record longer than the walk's window, and times out of order.
func someRecords() []Record {
	long := make([]byte, 3*streamWindow+7)
	for i := range long {
		long[i] = byte(rand.New(rand.NewPCG(uint64(i/100), 1)).Uint32())
	}
	return []Record{
		{Offset: 0, Timestamp: testNow, Key: []byte("k"), Value: []byte("v")},
		{Offset: 1, Timestamp: testNow + 500, Key: []byte{}, Value: nil},
		{Offset: 2, Timestamp: testNow - 1000, Key: nil, Value: []byte{}, Headers: []Header{
			{Key: []byte("trace"), Value: []byte("0af7651916cd43dd")}, {Key: []byte(""), Value: nil}, {Key: []byte("e"), Value: []byte{}},
		}},
		{Offset: 3, Timestamp: testNow + 500, Key: []byte("long"), Value: long, Headers: []Header{{Key: []byte("h"), Value: long[:70_000]}}},
		{Offset: 4, Timestamp: testNow + 20, Key: []byte("end"), Value: []byte("fin")},
	}
}

func build(t testing.TB, o Options, records []Record) Batch {
	t.Helper()
	b := NewBuilder(o)
	for i := range records {
		b.Append(&records[i])
	}
	batch, err := b.Build(nil, NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func readAll(t testing.TB, b Batch, d *Decompressor) []Record {
	t.Helper()
	r := b.Records(d)
	defer r.Close()
	var out []Record
	for r.Next() {
		out = append(out, cloneRecord(r.Record()))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func cloneRecord(r *Record) Record {
	c := *r
	c.Key, c.Value, c.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), nil
	for _, h := range r.Headers {
		c.Headers = append(c.Headers, Header{Key: bytes.Clone(h.Key), Value: bytes.Clone(h.Value)})
	}
	return c
}
