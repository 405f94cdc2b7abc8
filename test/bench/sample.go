package bench

import (
	"fmt"
	"slices"
	"time"
)

// Sample is one measurement of one broker.
type Sample struct {
	Records int
	Wall    time.Duration
	// Broker is the processor time that the broker used meanwhile.
	Broker time.Duration
}

// Rate is records per second of wall time.
func (s Sample) Rate() float64 { return float64(s.Records) / s.Wall.Seconds() }

// PerRecord is the broker's processor time per record in microseconds.
func (s Sample) PerRecord() float64 {
	return float64(s.Broker.Nanoseconds()) / 1e3 / float64(s.Records)
}

// Spread is the median and the extremes of a figure over repeated samples.
type Spread struct{ Min, Median, Max float64 }

// Summarize answers the spread of a figure over samples.
func Summarize(samples []Sample, figure func(Sample) float64) Spread {
	if len(samples) == 0 {
		return Spread{}
	}
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = figure(s)
	}
	return SpreadOf(v)
}

// SpreadOf answers the spread of values, which it sorts. There must be one at least.
func SpreadOf(v []float64) Spread {
	slices.Sort(v)
	return Spread{v[0], v[len(v)/2], v[len(v)-1]}
}

// String is "median (min to max)".
func (s Spread) String() string {
	if s.Median >= 1000 {
		return fmt.Sprintf("%.0f (%.0f to %.0f)", s.Median, s.Min, s.Max)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", s.Median, s.Min, s.Max)
}
