package load

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestBucketsCoverEverything(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 127, 128, 129, 255, 256, 1000, time.Microsecond, time.Millisecond, time.Second, time.Hour, longest} {
		d = min(d, longest)
		b := bucket(d)
		if b < 0 || b >= buckets {
			t.Fatalf("%d ns is in bucket %d of %d", d, b, buckets)
		}
		if c := ceiling(b); c < d || float64(c-d) > float64(d)/subCount {
			t.Errorf("%d ns is counted as %d", d, c)
		}
	}
	for b := 1; b < buckets; b++ {
		if bucket(ceiling(b)) != b || bucket(ceiling(b-1)+1) != b {
			t.Fatalf("bucket %d does not begin behind bucket %d", b, b-1)
		}
	}
}

// TestQuantiles compares with sorting, within the resolution.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	all := make([]time.Duration, 10_001)
	for i := range all {
		all[i] = time.Duration(r.ExpFloat64() * float64(time.Millisecond))
		h.Add(all[i])
	}
	slices.Sort(all)
	s := h.Summary()
	for _, q := range []struct {
		got  time.Duration
		rank int
	}{{s.P50, 5001}, {s.P95, 9501}, {s.P99, 9901}, {s.P999, 9991}, {s.Max, 10_001}} {
		want := all[q.rank-1]
		if q.got < want || float64(q.got-want) > float64(want)/subCount+1 {
			t.Errorf("rank %d: got %v, want %v", q.rank, q.got, want)
		}
	}
	if s.Count != uint64(len(all)) {
		t.Errorf("count is %d", s.Count)
	}
}

func TestEmptyAndOutOfRange(t *testing.T) {
	var h Histogram
	if s := h.Summary(); s != (Summary{}) {
		t.Errorf("empty: %+v", s)
	}
	h.Add(-time.Second)
	h.Add(time.Duration(1<<63 - 1))
	if s := h.Summary(); s.Count != 2 || s.P50 != 0 || s.Max != longest {
		t.Errorf("%+v", s)
	}
}

// TestPacerKeepsThePace: a stall must not move the times at which later
// records are due, or the load would be a closed loop.
func TestPacerKeepsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := NewPacer(start, 100)
		for n := range 50 {
			due, err := p.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := start.Add(time.Duration(n) * 10 * time.Millisecond); !due.Equal(want) {
				t.Fatalf("record %d is due at %v, want %v", n, due.Sub(start), want.Sub(start))
			}
			if n == 10 {
				<-time.After(200 * time.Millisecond) // the stall
			}
		}
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("the stall was not made up for: %v", took)
		}
	})
}

func TestPacerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := NewPacer(time.Now(), 0.1)
		if _, err := p.Next(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Next(ctx); err == nil {
			t.Error("no error")
		}
	})
}
