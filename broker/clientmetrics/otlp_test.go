package clientmetrics

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The builders write what OTLP's proto files say, field by field.

func field(num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), body)
}

func fixed(num protowire.Number, bits uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, num, protowire.Fixed64Type), bits)
}

func varint(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// payload is a MetricsData message with a gauge, a sum and a histogram.
func payload() []byte {
	attribute := field(7, join(field(1, []byte("client_id")), field(2, field(1, []byte("app")))))
	gauge := join(field(1, []byte("org.apache.kafka.producer.connection.count")), field(2, []byte("doc")),
		field(5, field(1, join(attribute, fixed(3, 77), fixed(4, math.Float64bits(2.5))))))
	sum := join(field(1, []byte("org.apache.kafka.producer.record.sends")),
		field(7, join(field(1, join(fixed(2, 70), fixed(3, 78), fixed(6, 41))), field(1, join(fixed(3, 79), fixed(6, 42))), varint(2, 1), varint(3, 1))))
	histogram := join(field(1, []byte("h")),
		field(9, join(field(1, join(fixed(3, 80), fixed(4, 9), fixed(5, math.Float64bits(1.5)), field(6, make([]byte, 16)))), varint(2, 2))))
	resource := field(1, field(1, join(field(1, []byte("k")), field(2, field(1, []byte("v"))))))
	scope := field(1, field(1, []byte("scope")))
	return field(1, join(resource, field(2, join(scope, field(2, gauge), field(2, sum))), field(2, field(2, histogram))))
}

func TestParseOTLP(t *testing.T) {
	got, err := ParseOTLP(payload())
	if err != nil {
		t.Fatal(err)
	}
	want := []Metric{
		{Name: "org.apache.kafka.producer.connection.count", Kind: Gauge, Points: []Point{{TimeUnixNano: 77, Value: 2.5}}},
		{Name: "org.apache.kafka.producer.record.sends", Kind: Sum, Delta: true, Points: []Point{{TimeUnixNano: 78, Value: 41}, {TimeUnixNano: 79, Value: 42}}},
		{Name: "h", Kind: Histogram, Points: []Point{{TimeUnixNano: 80, Value: 1.5, Count: 9}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseOTLPRefuses(t *testing.T) {
	metric := func(m []byte) []byte { return field(1, field(2, field(2, m))) }
	point := field(1, nil)
	var many []byte
	for range maxMetrics + 1 {
		many = append(many, point...)
	}
	for name, b := range map[string][]byte{
		"text":                 []byte("hello"),
		"truncated":            payload()[:20],
		"no name":              metric(field(5, nil)),
		"truncated data point": metric(join(field(1, []byte("m")), field(5, field(1, []byte{0x19, 1})))),
		"too many points":      metric(join(field(1, []byte("m")), field(5, many))),
		"endless varint":       metric(join(field(1, []byte("m")), field(7, []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}))),
	} {
		if _, err := ParseOTLP(b); !errors.Is(err, ErrInvalidPayload) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := ParseOTLP(nil); err != nil || got != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
}

func FuzzParseOTLP(f *testing.F) {
	f.Add(payload())
	f.Add([]byte("hello"))
	f.Add(payload()[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		metrics, err := ParseOTLP(b)
		if err != nil && !errors.Is(err, ErrInvalidPayload) {
			t.Fatal(err)
		}
		if err == nil && len(metrics) > len(b) {
			t.Fatalf("%d metrics of %d bytes", len(metrics), len(b))
		}
	})
}
