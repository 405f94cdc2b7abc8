package clientmetrics

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind is the kind of an OTLP metric.
type Kind uint8

// The kinds that clients send; others are OtherKind.
const (
	OtherKind Kind = iota
	Gauge
	Sum
	Histogram
)

// Metric is one metric that a client pushed.
type Metric struct {
	Name string
	Kind Kind
	// Delta says that the points of a sum count since the last push, not since the client's start.
	Delta  bool
	Points []Point
}

// Point is one data point of a metric.
type Point struct {
	// TimeUnixNano is the time of the measurement.
	TimeUnixNano uint64
	// Value is the value of a gauge or sum, or the sum of a histogram.
	Value float64
	// Count is the number of values in a histogram, else 0.
	Count uint64
}

// maxMetrics bounds the metrics and the data points of one push.
const maxMetrics = 100_000

// ParseOTLP reads a MetricsData message of OTLP version 1. Fields that aren't needed are skipped. The error is an
// ErrInvalidPayload.
func ParseOTLP(b []byte) ([]Metric, error) {
	p := parser{}
	p.each(b, map[protowire.Number]func([]byte){1: p.resource}) // resource_metrics
	if p.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidPayload, p.err)
	}
	return p.metrics, nil
}

// parser walks a MetricsData message. After an error it reads nothing more.
type parser struct {
	metrics []Metric
	points  int
	err     error
}

// each calls the function of every length-delimited field of a message that has one.
func (p *parser) each(b []byte, fields map[protowire.Number]func([]byte)) {
	for len(b) > 0 && p.err == nil {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			p.err = protowire.ParseError(n)
			return
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			p.err = protowire.ParseError(n)
			return
		}
		if f := fields[num]; f != nil && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			f(v)
		}
		b = b[n:]
	}
}

// resource reads a ResourceMetrics message.
func (p *parser) resource(b []byte) {
	p.each(b, map[protowire.Number]func([]byte){2: p.scope}) // scope_metrics
}

// scope reads a ScopeMetrics message.
func (p *parser) scope(b []byte) {
	p.each(b, map[protowire.Number]func([]byte){2: p.metric}) // metrics
}

// metric reads a Metric message.
func (p *parser) metric(b []byte) {
	if len(p.metrics) >= maxMetrics {
		p.err = fmt.Errorf("more than %d metrics", maxMetrics)
		return
	}
	var m Metric
	data := func(k Kind) func([]byte) {
		return func(b []byte) {
			m.Kind = k
			p.data(&m, b)
		}
	}
	p.each(b, map[protowire.Number]func([]byte){
		1: func(b []byte) { m.Name = string(b) },
		5: data(Gauge), 7: data(Sum), 9: data(Histogram), 10: data(OtherKind), 11: data(OtherKind),
	})
	if p.err == nil && m.Name == "" {
		p.err = fmt.Errorf("a metric without a name")
	}
	p.metrics = append(p.metrics, m)
}

// data reads a Gauge, Sum or Histogram message.
func (p *parser) data(m *Metric, b []byte) {
	if m.Kind == OtherKind {
		return
	}
	p.scalars(b, func(num protowire.Number, bits uint64) {
		if num == 2 { // aggregation_temporality
			m.Delta = bits == 1
		}
	})
	p.each(b, map[protowire.Number]func([]byte){1: func(b []byte) { p.point(m, b) }})
}

// point reads a NumberDataPoint or HistogramDataPoint message.
func (p *parser) point(m *Metric, b []byte) {
	if p.points++; p.points > maxMetrics {
		p.err = fmt.Errorf("more than %d data points", maxMetrics)
		return
	}
	var pt Point
	p.scalars(b, func(num protowire.Number, bits uint64) {
		switch {
		case num == 3:
			pt.TimeUnixNano = bits
		case num == 4 && m.Kind == Histogram:
			pt.Count = bits
		case num == 5 && m.Kind == Histogram, num == 4 && m.Kind != Histogram:
			pt.Value = math.Float64frombits(bits)
		case num == 6 && m.Kind != Histogram:
			pt.Value = float64(int64(bits))
		}
	})
	m.Points = append(m.Points, pt)
}

// scalars calls f for every varint and fixed-size field of a message.
func (p *parser) scalars(b []byte, f func(protowire.Number, uint64)) {
	for len(b) > 0 && p.err == nil {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			p.err = protowire.ParseError(n)
			return
		}
		b = b[n:]
		var bits uint64
		switch typ {
		case protowire.VarintType:
			bits, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			bits, n = protowire.ConsumeFixed64(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
			num = 0
		}
		if n < 0 {
			p.err = protowire.ParseError(n)
			return
		}
		if num != 0 {
			f(num, bits)
		}
		b = b[n:]
	}
}
