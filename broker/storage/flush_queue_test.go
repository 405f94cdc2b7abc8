package storage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestFlushQueue holds the queue against a map from log to the time when it is due, which is what it stands for.
func TestFlushQueue(t *testing.T) {
	const most = 10 * time.Second
	rnd := rand.New(rand.NewPCG(1, 2))
	logs := make([]*Log, 40)
	for i := range logs {
		logs[i] = &Log{}
	}
	var q flushQueue
	model := map[*Log]time.Time{}
	start := time.Unix(1_000_000, 0)
	now := start
	earliest := func() (at time.Time, any bool) {
		for _, due := range model {
			if !any || due.Before(at) {
				at, any = due, true
			}
		}
		return at, any
	}
	for step := range 20_000 {
		switch rnd.IntN(10) {
		case 0, 1: // later
			l, at := logs[rnd.IntN(len(logs))], now.Add(time.Duration(1+rnd.IntN(12_000))*time.Millisecond)
			before, any := earliest()
			_, there := model[l]
			if !there {
				model[l] = at
			}
			if first := q.push(l, at); first && (there || any && before.Before(at)) || !first && !there && (!any || at.Before(before)) {
				t.Fatalf("step %d: push due in %v says first=%t, the earliest was due in %v", step, at.Sub(now), first, before.Sub(now))
			}
		case 2: // at once
			l := logs[rnd.IntN(len(logs))]
			due, there := model[l]
			model[l] = time.Time{}
			if first := q.push(l, time.Time{}); first && there && due.IsZero() {
				t.Fatalf("step %d: a log that was due already is the first", step)
			}
		case 3:
			if rnd.IntN(20) == 0 {
				q.hurry()
				for l := range model {
					model[l] = time.Time{}
				}
			}
		default:
			now = now.Add(time.Duration(rnd.IntN(300)) * time.Millisecond)
			checkTake(t, &q, model, now, most)
		}
		if q.len() != len(model) {
			t.Fatalf("step %d: %d logs wait, not %d", step, q.len(), len(model))
		}
	}
}

// checkTake takes what is due from the queue and from the model.
func checkTake(t *testing.T, q *flushQueue, model map[*Log]time.Time, now time.Time, most time.Duration) {
	t.Helper()
	got, wait := q.take(nil, now, most)
	wantWait := most
	for l, at := range model {
		if left := at.Sub(now); !at.IsZero() && left > 0 {
			wantWait = min(wantWait, left)
			continue
		}
		i := slices.Index(got, l)
		if i < 0 {
			t.Fatalf("a log that was due at %v was not taken at %v", at, now)
		}
		got = slices.Delete(got, i, i+1)
		delete(model, l)
	}
	if len(got) > 0 || wait != wantWait {
		t.Fatalf("%d logs were taken that were not due, the next one is due in %v, not %v", len(got), wait, wantWait)
	}
}

// BenchmarkFlushQueue puts one more log into a queue in which many wait, and looks for what is due, as the flusher does.
func BenchmarkFlushQueue(b *testing.B) {
	for _, waiting := range []int{6, 1_000, 10_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			var q flushQueue
			now := time.Unix(1_000_000, 0)
			for i := range waiting {
				q.push(&Log{}, now.Add(time.Hour+time.Duration(i)))
			}
			l := &Log{}
			var due []*Log
			b.ReportAllocs()
			for b.Loop() {
				q.push(l, now)
				due, _ = q.take(due[:0], now, relaxedFlushEvery)
			}
			if len(due) != 1 || due[0] != l {
				b.Fatalf("%d logs are due", len(due))
			}
		})
	}
}
