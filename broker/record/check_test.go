package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestValidateAcceptsEveryCodec(t *testing.T) {
	d := NewDecompressor(Limits{})
	for _, codec := range allCodecs {
		b := Batch(oracle(t, codec, plainHead(), someRecords()))
		kept := bytes.Clone(b)
		sum, err := b.Validate(openCheck(), d)
		if err != nil {
			t.Fatalf("%v: %v", codec, err)
		}
		if want := (Summary{MaxTimestamp: testNow + 500, MaxTimestampDelta: 1}); sum != want {
			t.Errorf("%v: %+v, want %+v", codec, sum, want)
		}
		if !bytes.Equal(b, kept) {
			t.Errorf("%v: Validate changed the batch", codec)
		}
	}
}

// header spoils one header field of a batch that is otherwise valid, and makes length and checksum right again.
func header(t *testing.T, change func(b Batch)) Batch {
	t.Helper()
	b := build(t, NewOptions(None), someRecords())
	change(b)
	return reseal(b)
}

func TestValidateHeader(t *testing.T) {
	be := binary.BigEndian
	producer := func(id int64, epoch int16, sequence int32) func(Batch) {
		return func(b Batch) {
			be.PutUint64(b[offProducerID:], uint64(id))
			be.PutUint16(b[offProducerEpoch:], uint16(epoch))
			be.PutUint32(b[offBaseSequence:], uint32(sequence))
		}
	}
	attribute := func(bits byte) func(Batch) { return func(b Batch) { b[offAttributes+1] |= bits } }
	tests := []struct {
		name     string
		batch    Batch
		client   error
		internal error
	}{
		{"idempotent", header(t, producer(0, 0, 0)), nil, nil},
		{"base offset", header(t, func(b Batch) { b.SetBaseOffset(5) }), ErrInvalidRecord, nil},
		{"count too small", header(t, func(b Batch) { be.PutUint32(b[offCount:], 4) }), ErrInvalidRecord, ErrInvalidRecord},
		{"count too great", header(t, func(b Batch) { be.PutUint32(b[offCount:], 6) }), ErrInvalidRecord, ErrInvalidRecord},
		{"count and delta too great", header(t, func(b Batch) {
			be.PutUint32(b[offCount:], math.MaxInt32)
			be.PutUint32(b[offLastDelta:], math.MaxInt32-1)
		}), ErrInvalidRecord, ErrInvalidRecord},
		{"no records", header(t, func(b Batch) { be.PutUint32(b[offCount:], 0); be.PutUint32(b[offLastDelta:], math.MaxUint32) }), ErrInvalidRecord, ErrInvalidRecord},
		{"negative count", header(t, func(b Batch) { be.PutUint32(b[offCount:], 1<<31) }), ErrInvalidRecord, ErrInvalidRecord},
		{"last delta", header(t, func(b Batch) { be.PutUint32(b[offLastDelta:], 7) }), ErrInvalidRecord, nil},
		{"control", header(t, attribute(attrControl)), ErrInvalidRecord, nil},
		{"delete horizon", header(t, attribute(attrDeleteHorizon)), ErrInvalidRecord, nil},
		{"log append time", header(t, attribute(attrTimestampType)), ErrInvalidTimestamp, nil},
		{"codec 5", header(t, attribute(5)), ErrUnsupportedCodec, ErrUnsupportedCodec},
		{"transactional without producer", header(t, attribute(attrTransactional)), ErrInvalidRecord, nil},
		{"producer without sequence", header(t, producer(5, 0, -1)), ErrInvalidRecord, nil},
		{"producer without epoch", header(t, producer(5, -1, 0)), ErrInvalidRecord, nil},
		{"producer id -2", header(t, producer(-2, 0, 0)), ErrInvalidRecord, nil},
		{"wrong checksum", func() Batch { b := header(t, func(Batch) {}); b[17] ^= 1; return b }(), ErrCorrupt, ErrCorrupt},
		{"magic 1", header(t, func(b Batch) { b[offMagic] = 1 }), ErrUnsupportedMagic, ErrUnsupportedMagic},
		{"magic 0", header(t, func(b Batch) { b[offMagic] = 0 }), ErrUnsupportedMagic, ErrUnsupportedMagic},
		{"magic 7", header(t, func(b Batch) { b[offMagic] = 7 }), ErrCorrupt, ErrCorrupt},
		{"cut", header(t, func(Batch) {})[:80], ErrCorrupt, ErrCorrupt},
		{"only a few bytes", header(t, func(Batch) {})[:10], ErrCorrupt, ErrCorrupt},
		{"two batches", append(header(t, func(Batch) {}), header(t, func(Batch) {})...), ErrCorrupt, ErrCorrupt},
	}
	d := NewDecompressor(Limits{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "two batches" {
				// The length field was made for the first: what follows it is too much.
				reseal(tt.batch[:len(tt.batch)/2])
			}
			if _, err := tt.batch.Validate(openCheck(), d); !errors.Is(err, tt.client) {
				t.Errorf("from a client: %v, want %v", err, tt.client)
			}
			internal := openCheck()
			internal.Internal = true
			if _, err := tt.batch.Validate(internal, d); !errors.Is(err, tt.internal) {
				t.Errorf("internal: %v, want %v", err, tt.internal)
			}
		})
	}
}

// raw wraps hand-made record bytes in a valid header.
func raw(codec Codec, count int32, payload []byte) Batch {
	head := plainHead()
	head.Magic, head.Attributes, head.NumRecords, head.LastOffsetDelta, head.Records = 2, int16(codec), count, count-1, payload
	return reseal(head.AppendTo(nil))
}

func TestValidateRecordFraming(t *testing.T) {
	// A record is: length, attributes, timestamp delta, offset delta, key length, key, value length, value, header count. All
	// integers are zigzag: 2 is 1, 1 is -1, 0x7f is -64.
	ok := []byte{12, 0, 0, 0, 1, 1, 0}
	tests := []struct {
		name  string
		bytes []byte
		count int32
		valid bool
	}{
		{"least record", ok, 1, true},
		{"two records", append(bytes.Clone(ok), 12, 0, 0, 2, 1, 1, 0), 2, true},
		{"overlong integers", []byte{26, 0, 0x80, 0, 0x80, 0, 0x81, 0, 0x81, 0, 0x80, 0x80, 0x80, 0}, 1, true},
		{"key and value", []byte{18, 0, 0, 0, 2, 'k', 4, 'v', 'v', 0}, 1, true},
		{"header", []byte{20, 0, 0, 0, 1, 1, 2, 2, 'h', 2, 'v'}, 1, true},
		{"header with a null value", []byte{18, 0, 0, 0, 1, 1, 2, 2, 'h', 1}, 1, true},
		{"header with an empty key", []byte{16, 0, 0, 0, 1, 1, 2, 0, 1}, 1, true},
		{"empty", nil, 1, false},
		{"length zero", []byte{0}, 1, false},
		{"length negative", []byte{1, 0, 0, 0, 1, 1, 0}, 1, false},
		{"length too small", []byte{10, 0, 0, 0, 1, 1, 0}, 1, false},
		{"length one too great", []byte{14, 0, 0, 0, 1, 1, 0}, 1, false},
		{"length one too great, bytes there", []byte{14, 0, 0, 0, 1, 1, 0, 0}, 1, false},
		{"length greatest", []byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 1, 1, 0}, 1, false},
		{"length of six bytes", []byte{0x8c, 0x80, 0x80, 0x80, 0x80, 0, 0, 0, 0, 1, 1, 0}, 1, false},
		{"length of 33 bits", []byte{0x8c, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 1, 1, 0}, 1, false},
		{"timestamp of eleven bytes", []byte{32, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0, 1, 1, 0}, 1, false},
		{"timestamp of 65 bits", []byte{30, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 0, 1, 1, 0}, 1, false},
		{"timestamp of ten bytes", []byte{30, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0, 1, 1, 0}, 1, true},
		{"bytes after the last record", append(bytes.Clone(ok), 0), 1, false},
		{"record after the last record", append(bytes.Clone(ok), 12, 0, 0, 2, 1, 1, 0), 1, false},
		{"offset delta not rising", append(bytes.Clone(ok), ok...), 2, false},
		{"offset delta skipping", append(bytes.Clone(ok), 12, 0, 0, 4, 1, 1, 0), 2, false},
		{"offset delta not from zero", []byte{12, 0, 0, 2, 1, 1, 0}, 1, false},
		{"offset delta negative", []byte{12, 0, 0, 1, 1, 1, 0}, 1, false},
		{"key length -2", []byte{12, 0, 0, 0, 3, 1, 0}, 1, false},
		{"key past the record", []byte{12, 0, 0, 0, 10, 1, 0}, 1, false},
		{"key past the record, into the next", append([]byte{12, 0, 0, 0, 10, 1, 0}, 12, 0, 0, 2, 1, 1, 0), 2, false},
		{"value length -2", []byte{12, 0, 0, 0, 1, 3, 0}, 1, false},
		{"value past the record", []byte{12, 0, 0, 0, 1, 2, 0}, 1, false},
		{"header count negative", []byte{12, 0, 0, 0, 1, 1, 1}, 1, false},
		{"header count too great", []byte{16, 0, 0, 0, 1, 1, 6, 0, 1}, 1, false},
		{"header count greatest", []byte{20, 0, 0, 0, 1, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f}, 1, false},
		{"header key null", []byte{16, 0, 0, 0, 1, 1, 2, 1, 1}, 1, false},
		{"header key past the record", []byte{16, 0, 0, 0, 1, 1, 2, 8, 1}, 1, false},
		{"header value past the record", []byte{16, 0, 0, 0, 1, 1, 2, 0, 2}, 1, false},
		{"headers end the record early", []byte{18, 0, 0, 0, 1, 1, 2, 0, 1, 0}, 1, false},
	}
	d := NewDecompressor(Limits{})
	for _, tt := range tests {
		for _, codec := range allCodecs {
			t.Run(tt.name+"/"+codec.String(), func(t *testing.T) {
				payload := kgoCompress(t, codec, tt.bytes)
				b := raw(codec, tt.count, payload)
				_, err := b.Validate(openCheck(), d)
				if tt.valid != (err == nil) || err != nil && !errors.Is(err, ErrInvalidRecord) {
					t.Errorf("valid %v, error %v", tt.valid, err)
				}
				// The reader checks the same but for contiguous offsets.
				if r := b.Records(d); !strings.HasPrefix(tt.name, "offset delta") {
					for r.Next() {
					}
					if got := r.Err(); tt.valid != (got == nil) || got != nil && !errors.Is(got, ErrCorrupt) {
						t.Errorf("the reader says %v", got)
					}
					r.Close()
				}
			})
		}
	}
}

func TestValidateSizeIsThatOfTheCompressedBatch(t *testing.T) {
	d := NewDecompressor(Limits{})
	records := []Record{{Timestamp: testNow, Value: make([]byte, 500_000)}}
	plain, packed := build(t, NewOptions(None), records), build(t, NewOptions(Zstd), records)
	c := openCheck()
	c.MaxBytes = packed.Len()
	if _, err := packed.Validate(c, d); err != nil {
		t.Errorf("a batch exactly at the limit: %v", err)
	}
	c.MaxBytes--
	if _, err := packed.Validate(c, d); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte over the limit: %v", err)
	}
	if _, err := plain.Validate(c, d); !errors.Is(err, ErrTooLarge) {
		t.Errorf("uncompressed: %v", err)
	}
}

func TestValidateCompactedTopicNeedsKeys(t *testing.T) {
	c := openCheck()
	c.Compacted = true
	for _, codec := range allCodecs {
		_, err := build(t, NewOptions(codec), []Record{
			{Key: []byte("a")}, {Value: []byte("no key")}, {Key: []byte{}}, {},
		}).Validate(c, NewDecompressor(Limits{}))
		var invalid *InvalidRecordError
		if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalidRecord) || errors.Is(err, ErrInvalidTimestamp) {
			t.Fatalf("%v: %v", codec, err)
		}
		if len(invalid.Records) != 2 || invalid.Records[0].Index != 1 || invalid.Records[1].Index != 3 {
			t.Errorf("%v: records %+v, want 1 and 3", codec, invalid.Records)
		}
	}
}

func TestValidateTimestampBounds(t *testing.T) {
	d := NewDecompressor(Limits{})
	c := &Check{Now: testNow, BeforeMaxMs: 1000, AfterMaxMs: 50}
	records := []Record{
		{Timestamp: testNow},
		{Timestamp: testNow - 1000},
		{Timestamp: testNow + 50},
		{Timestamp: NoTimestamp},
		{Timestamp: testNow - 1001},
		{Timestamp: testNow + 51},
		{Timestamp: math.MinInt64},
		{Timestamp: math.MaxInt64},
		{Timestamp: -2},
	}
	_, err := build(t, NewOptions(LZ4), records).Validate(c, d)
	var invalid *InvalidRecordError
	if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalidTimestamp) {
		t.Fatal(err)
	}
	var at []int32
	for _, r := range invalid.Records {
		at = append(at, r.Index)
	}
	if fmt.Sprint(at) != "[4 5 6 7 8]" {
		t.Errorf("records %v, want 4 to 8", at)
	}
	if want := fmt.Sprintf("Timestamp %d of message with offset 4 is out of range. The timestamp should be within [%d, %d]",
		testNow-1001, testNow-1000, testNow+50); invalid.Records[0].Message != want {
		t.Errorf("message %q", invalid.Records[0].Message)
	}
	c.TimestampType = LogAppendTime
	if _, err := build(t, NewOptions(LZ4), records).Validate(c, d); err != nil {
		t.Errorf("bounds held against a topic of LogAppendTime: %v", err)
	}
	if _, err := build(t, NewOptions(None), records).Validate(openCheck(), d); err != nil {
		t.Errorf("no bounds, and yet %v", err)
	}
}

func TestValidateBoundsItsRecordErrors(t *testing.T) {
	records := make([]Record, 3*MaxRecordErrors)
	c := openCheck()
	c.Compacted = true
	_, err := build(t, NewOptions(Zstd), records).Validate(c, NewDecompressor(Limits{}))
	var invalid *InvalidRecordError
	if !errors.As(err, &invalid) || len(invalid.Records) != MaxRecordErrors || !strings.Contains(invalid.Message, "3000") {
		t.Errorf("%v", err)
	}
}

func TestAdmit(t *testing.T) {
	d := NewDecompressor(Limits{})
	lying := func() Batch {
		head := plainHead()
		head.MaxTimestamp = testNow + 1e9
		return oracle(t, Snappy, head, someRecords())
	}
	b := lying()
	if sum, err := b.Admit(openCheck(), d); err != nil || sum.MaxTimestamp != testNow+500 || b.MaxTimestamp() != testNow+500 || b.Verify() != nil {
		t.Errorf("the maximum timestamp stays %d, summary %+v, %v", b.MaxTimestamp(), sum, err)
	}
	b = lying()
	c := openCheck()
	c.TimestampType = LogAppendTime
	sum, err := b.Admit(c, d)
	if err != nil || sum.MaxTimestamp != testNow || b.MaxTimestamp() != testNow || b.TimestampType() != LogAppendTime || b.Verify() != nil {
		t.Errorf("log append time: %v %d, summary %+v, %v", b.TimestampType(), b.MaxTimestamp(), sum, err)
	}
	b = lying()
	kept := bytes.Clone(b)
	c = openCheck()
	c.Compacted = true
	if _, err := b.Admit(c, d); err == nil || !bytes.Equal(b, kept) {
		t.Errorf("refused with %v, changed %v", err, !bytes.Equal(b, kept))
	}
}

func TestHeaderOnlyDoesNotLookAtRecords(t *testing.T) {
	c := openCheck()
	b := raw(Zstd, 3, []byte("certainly no zstd frame"))
	if _, err := b.Validate(c, NewDecompressor(Limits{})); !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("with records: %v", err)
	}
	c.HeaderOnly = true
	if sum, err := b.Validate(c, NewDecompressor(Limits{})); err != nil || sum.MaxTimestamp != testNow || sum.MaxTimestampDelta != 2 {
		t.Errorf("header only: %+v, %v", sum, err)
	}
}

// An uncompressed batch costs no allocation, a compressed one none that grows with the batch.
func TestValidateAllocations(t *testing.T) {
	d := NewDecompressor(Limits{})
	c := openCheck()
	limit := map[Codec]float64{None: 0, Snappy: 0, Gzip: 8, LZ4: 8, Zstd: 8}
	for _, codec := range allCodecs {
		records := make([]Record, 2000)
		for i := range records {
			records[i] = Record{Timestamp: testNow, Key: []byte("key"), Value: bytes.Repeat([]byte{byte(i)}, 100), Headers: []Header{{Key: []byte("h")}}}
		}
		b := build(t, NewOptions(codec), records)
		got := testing.AllocsPerRun(50, func() {
			if _, err := b.Admit(c, d); err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := b.OffsetForTimestamp(testNow, 1999, d); err != nil {
				t.Fatal(err)
			}
			r := b.Records(d)
			for r.Next() {
			}
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			r.Close()
		})
		if got > limit[codec] && !raceEnabled {
			t.Errorf("%v: %v allocations, at most %v expected", codec, got, limit[codec])
		}
		t.Logf("%v: %v allocations", codec, got)
	}
}
