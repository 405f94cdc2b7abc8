package bench

import (
	"testing"
	"time"
)

func TestSummarize(t *testing.T) {
	samples := []Sample{
		{Records: 100, Wall: time.Second, Broker: 300 * time.Microsecond},
		{Records: 100, Wall: 2 * time.Second, Broker: 100 * time.Microsecond},
		{Records: 100, Wall: 4 * time.Second, Broker: 200 * time.Microsecond},
	}
	if got, want := Summarize(samples, Sample.Rate), (Spread{25, 50, 100}); got != want {
		t.Errorf("rate %v, want %v", got, want)
	}
	if got, want := Summarize(samples, Sample.PerRecord), (Spread{1, 2, 3}); got != want {
		t.Errorf("CPU per record %v, want %v", got, want)
	}
}
