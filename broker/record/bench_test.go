package record

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchBatch holds 1,000 records of 100 bytes of something like JSON.
func benchBatch(b *testing.B, codec Codec) Batch {
	records := make([]Record, 1000)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range records {
		value := fmt.Sprintf(`{"id":%d,"user":"u%06d","amount":%d.%02d,"currency":"CZK","note":"order from the shop"}`,
			i, dice.IntN(1e6), dice.IntN(1000), dice.IntN(100))
		records[i] = Record{Timestamp: testNow + int64(i), Key: fmt.Appendf(nil, "u%06d", dice.IntN(1e6)), Value: []byte(value)}
	}
	return build(b, NewOptions(codec), records)
}

func BenchmarkValidate(b *testing.B) {
	for _, codec := range allCodecs {
		b.Run(codec.String(), func(b *testing.B) {
			d, c := NewDecompressor(Limits{}), openCheck()
			batch := benchBatch(b, codec)
			b.SetBytes(int64(benchBatch(b, None).Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := batch.Validate(c, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, codec := range []Codec{None, Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			d := NewDecompressor(Limits{})
			batch := benchBatch(b, codec)
			b.SetBytes(int64(benchBatch(b, None).Len()))
			b.ReportAllocs()
			for b.Loop() {
				r := batch.Records(d)
				for r.Next() {
				}
				if r.Err() != nil {
					b.Fatal(r.Err())
				}
				r.Close()
			}
		})
	}
}

func BenchmarkRecompress(b *testing.B) {
	for _, codec := range []Codec{Snappy, LZ4, Zstd} {
		b.Run("none-"+codec.String(), func(b *testing.B) {
			d, c := NewDecompressor(Limits{}), NewCompressor()
			batch := benchBatch(b, None)
			b.SetBytes(int64(batch.Len()))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				out, err := batch.Recompress(dst[:0], codec, DefaultLevel, d, c)
				if err != nil {
					b.Fatal(err)
				}
				dst = out
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	records := readAll(b, benchBatch(b, None), NewDecompressor(Limits{}))
	builder, c := NewBuilder(NewOptions(None)), NewCompressor()
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		builder.Reset(NewOptions(None))
		for i := range records {
			builder.Append(&records[i])
		}
		out, err := builder.Build(dst[:0], c)
		if err != nil {
			b.Fatal(err)
		}
		dst = out
	}
}
