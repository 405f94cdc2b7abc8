package serde

import (
	"testing"

	"moldau/registry/format"
	"moldau/registry/format/protobuf"
)

// benchmark runs both directions with a value.
func benchmark(b *testing.B, c codec, value string) {
	m := whatever(b, c)
	payload, err := m.encode(nil, []byte(value))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		var dst []byte
		for b.Loop() {
			if dst, err = m.encode(dst[:0], []byte(value)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		var dst []byte
		for b.Loop() {
			if dst, err = m.decode(dst[:0], payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}

const benchValue = `{"id":"order-17","customer":"c-4711","status":2,"total":129.5,"items":[{"sku":"a1","count":1},{"sku":"b2","count":3},{"sku":"c3","count":2}]}`

func BenchmarkAvro(b *testing.B) {
	benchmark(b, avroOf(b, `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"customer","type":"string"},
	 {"name":"status","type":"int"},{"name":"total","type":"double"},
	 {"name":"items","type":{"type":"array","items":{"type":"record","name":"Item","fields":[{"name":"sku","type":"string"},{"name":"count","type":"int"}]}}}]}`), benchValue)
}

func BenchmarkProtobuf(b *testing.B) {
	s, err := protobuf.New(format.DefaultLimits()).Parse(b.Context(), format.Source{Text: `syntax = "proto3"; message Order {
	 string id = 1; string customer = 2; int32 status = 3; double total = 4; repeated Item items = 5; } message Item { string sku = 1; int32 count = 2; }`})
	if err != nil {
		b.Fatal(err)
	}
	c, err := newCodec(s)
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, c, benchValue)
}
