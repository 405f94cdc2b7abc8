package coordinator

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"moldau/broker/record"
)

// run runs a test in a bubble of fake time, with a runtime that is closed at its end.
func run(t *testing.T, test func(t *testing.T, f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		defer f.Close()
		test(t, f)
	})
}

func TestAnswerWaitsForCommit(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		log.manual = true
		f.Elect(0, 1, log)
		put := f.put(0, "a", "1")
		synctest.Wait()
		waits(t, put)
		get := f.get(0, "a") // it would tell of what may still be lost
		synctest.Wait()
		waits(t, get)
		log.commit()
		synctest.Wait()
		want(t, put, "done", nil)
		want(t, get, "1", nil)
		now := Ask(f.Runtime, 0, func(_ *Turn, _ *notes, r *Reply[string]) { r.SendNow("alive") })
		synctest.Wait()
		want(t, now, "alive", nil)
	})
}

func TestOperationsShareABatch(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		synctest.Wait()
		block := make(chan struct{})
		f.Do(0, func(*Turn, *notes) { <-block }, func(error) {})
		var replies []*Reply[string]
		for i := range 10 {
			replies = append(replies, f.put(0, fmt.Sprint("k", i), "v"))
		}
		close(block)
		synctest.Wait()
		for _, r := range replies {
			want(t, r, "done", nil)
		}
		if log.appends > 2 || len(log.batches()) > 2 {
			t.Fatalf("%d appends of %d batches for ten operations", log.appends, len(log.batches()))
		}
	})
}

// The fake log takes batches of 1,000 bytes.
func TestLargeTurnsAreSplit(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		r := Ask(f.Runtime, 0, func(t *Turn, _ *notes, reply *Reply[string]) {
			for i := range 20 {
				t.Append([]byte(fmt.Sprint(i)), []byte(strings.Repeat("x", 200)))
			}
			reply.Send(t, "done")
		})
		synctest.Wait()
		want(t, r, "done", nil)
		for _, b := range log.batches() {
			if b.Len() > log.BatchBytesMax() {
				t.Errorf("a batch of %d bytes", b.Len())
			}
		}
		if log.appends != 1 {
			t.Errorf("%d appends", log.appends)
		}
	})
}

func TestRestartReplays(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		f.put(0, "a", "1")
		f.put(0, "b", "2")
		f.Do(0, func(t *Turn, _ *notes) { t.Append([]byte("a"), nil) }, func(error) {})
		p := Producer{ID: 7, Epoch: 1}
		f.Do(0, func(t *Turn, _ *notes) {
			t.AppendAs(p, []byte("c"), []byte("3"))
			t.AppendAs(Producer{ID: 8}, []byte("d"), []byte("4"))
			t.End(Marker{Producer: p, CoordinatorEpoch: 5, Commit: true})
			t.End(Marker{Producer: Producer{ID: 8}, CoordinatorEpoch: 5})
		}, func(error) {})
		synctest.Wait()
		f.Elect(0, 2, log)
		synctest.Wait()
		for key, value := range map[string]string{"a": "", "b": "2", "c": "3", "d": ""} {
			r := f.get(0, key)
			synctest.Wait()
			want(t, r, value, nil)
		}
		var transactional, control int
		for _, b := range log.batches() {
			if b.IsTransactional() && !b.IsControl() {
				transactional++
			}
			if b.IsControl() {
				control++
				if b.ProducerID() != 7 && b.ProducerID() != 8 || b.BaseSequence() != record.NoSequence {
					t.Errorf("a marker of producer %d", b.ProducerID())
				}
			}
		}
		if transactional != 2 || control != 2 {
			t.Errorf("%d transactional batches, %d markers", transactional, control)
		}
	})
}

// What a shard asks for when it starts is done although nobody else comes: the markers of decided transactions.
func TestStartNeedsNoOther(t *testing.T) {
	for _, committed := range []bool{true, false} {
		run(t, func(t *testing.T, f *fixture) {
			log := newFakeLog(t)
			f.Elect(0, 1, log)
			f.put(0, "a", "1")
			synctest.Wait()
			if log.manual = !committed; log.manual {
				f.put(0, "b", "2")
				synctest.Wait()
			}
			var got []error
			f.onStart = func(err error) { got = append(got, err) }
			f.Elect(0, 2, log)
			synctest.Wait()
			if log.manual {
				if len(got) != 0 {
					t.Fatalf("called before everything is committed: %v", got)
				}
				log.commit()
				synctest.Wait()
			}
			if len(got) != 1 || got[0] != nil {
				t.Errorf("everything is committed (from the start: %v), and Start hears %v", committed, got)
			}
		})
	}
}

func TestLoadingAnswers(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		f.put(0, "a", "1")
		synctest.Wait()
		gate := make(chan struct{})
		log.readGate = gate
		f.Elect(0, 2, log)
		synctest.Wait()
		want(t, f.get(0, "a"), "", ErrLoading)
		want(t, f.get(1, "a"), "", ErrNotCoordinator)
		if f.Loading() != 1 {
			t.Errorf("%d partitions are loading", f.Loading())
		}
		close(gate)
		synctest.Wait()
		r := f.get(0, "a")
		synctest.Wait()
		want(t, r, "1", nil)
	})
}

// At most LoadParallel partitions are read at the same time, and all are in the end.
func TestLoadingIsBounded(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		for p := range int32(5) {
			log := newFakeLog(t)
			f.Elect(p, 1, log)
			f.put(p, "a", "1")
			synctest.Wait()
			log.readGate = gate
			f.Elect(p, 2, log)
		}
		synctest.Wait()
		if len(f.loads) != 2 {
			t.Fatalf("%d partitions are read", len(f.loads))
		}
		close(gate)
		synctest.Wait()
		if f.Loading() != 0 {
			t.Errorf("%d partitions are still loading", f.Loading())
		}
	})
}

// What was read at the log's end need not be committed: a crash could still take it back, so nobody is told of it.
func TestNoAnswerBeforeTheLoadedEndIsCommitted(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		log.manual = true
		f.Elect(0, 1, log)
		f.put(0, "a", "1")
		synctest.Wait()
		f.Elect(0, 2, log)
		synctest.Wait()
		r := f.get(0, "a")
		synctest.Wait()
		waits(t, r)
		log.commit()
		synctest.Wait()
		want(t, r, "1", nil)
	})
}

func TestLossOfLeadership(t *testing.T) {
	t.Run("resign", func(t *testing.T) {
		run(t, func(t *testing.T, f *fixture) {
			log := newFakeLog(t)
			log.manual = true
			f.Elect(0, 3, log)
			put := f.put(0, "a", "1")
			synctest.Wait()
			f.Resign(0, 2) // of an older epoch
			synctest.Wait()
			waits(t, put)
			f.Resign(0, 3)
			synctest.Wait()
			want(t, put, "", ErrNotCoordinator)
			want(t, f.get(0, "a"), "", ErrNotCoordinator)
		})
	})
	t.Run("commit fails", func(t *testing.T) {
		run(t, func(t *testing.T, f *fixture) {
			log := newFakeLog(t)
			log.manual = true
			f.Elect(0, 1, log)
			put := f.put(0, "a", "1")
			synctest.Wait()
			log.lose()
			synctest.Wait()
			want(t, put, "", ErrNotCoordinator)
			want(t, f.get(0, "a"), "", ErrNotCoordinator)
		})
	})
	// The log was led by another node in between: the state is of no worth (KAFKA-20634).
	t.Run("append in a newer epoch", func(t *testing.T) {
		run(t, func(t *testing.T, f *fixture) {
			log := newFakeLog(t)
			f.Elect(0, 1, log)
			synctest.Wait()
			log.mu.Lock()
			log.epoch = 2
			log.mu.Unlock()
			put := f.put(0, "a", "1")
			synctest.Wait()
			want(t, put, "", ErrNotCoordinator)
			if n := len(log.batches()); n != 0 {
				t.Errorf("%d batches were appended", n)
			}
			f.Elect(0, 2, log)
			put = f.put(0, "a", "2")
			synctest.Wait()
			want(t, put, "done", nil)
		})
	})
}

func TestAnswersTimeOut(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		log.manual = true
		f.Elect(0, 1, log)
		put := f.put(0, "a", "1")
		pass(4 * time.Second)
		late := f.put(0, "b", "2")
		synctest.Wait()
		waits(t, put)
		pass(time.Second + time.Millisecond)
		synctest.Wait()
		want(t, put, "", ErrTimedOut)
		waits(t, late)
		log.commit()
		synctest.Wait()
		want(t, late, "done", nil)
		get := f.get(0, "a") // it was committed after all
		synctest.Wait()
		want(t, get, "1", nil)
	})
}

// After a failed append the shard is ahead of its log: it is loaded anew.
func TestFailedAppendReloads(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		first := f.put(0, "a", "1")
		synctest.Wait()
		want(t, first, "done", nil)
		var shard *notes
		waiting := NewReply[string]()
		f.Do(0, func(_ *Turn, n *notes) { shard = n; n.waiting = append(n.waiting, waiting) }, func(error) {})
		synctest.Wait()
		log.mu.Lock()
		log.failNext = errors.New("no space")
		log.mu.Unlock()
		failed := f.put(0, "a", "2")
		synctest.Wait()
		want(t, failed, "", ErrNotAvailable)
		want(t, waiting, "", ErrNotAvailable)
		if !errors.Is(shard.stopped, ErrNotAvailable) {
			t.Errorf("the shard was stopped with %v", shard.stopped)
		}
		want(t, f.get(0, "a"), "", ErrLoading)
		pass(2 * time.Second)
		get := f.get(0, "a")
		synctest.Wait()
		want(t, get, "1", nil)
	})
}

func TestPanicCostsAReload(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		f.put(0, "a", "1")
		synctest.Wait()
		bad := f.put(0, "boom", "")
		behind := f.put(0, "b", "2")
		synctest.Wait()
		want(t, bad, "", ErrNotAvailable)
		if !behind.Settled() {
			t.Fatal("the operation behind it was not answered")
		}
		pass(2 * time.Second)
		get := f.get(0, "a")
		synctest.Wait()
		want(t, get, "1", nil)
	})
}

func TestUnreadableLogIsTriedAgain(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		f.put(0, "a", "1")
		synctest.Wait()
		log.mu.Lock()
		log.readError = errors.New("disk")
		log.mu.Unlock()
		f.Elect(0, 2, log)
		pass(3 * time.Second)
		synctest.Wait()
		want(t, f.get(0, "a"), "", ErrLoading)
		log.mu.Lock()
		log.readError = nil
		log.mu.Unlock()
		pass(2 * time.Second)
		get := f.get(0, "a")
		synctest.Wait()
		want(t, get, "1", nil)
	})
}

func TestDeadlines(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		log := newFakeLog(t)
		f.Elect(0, 1, log)
		f.Do(0, func(t *Turn, n *notes) { n.deadline = t.Now.Add(time.Minute) }, func(error) {})
		pass(59 * time.Second)
		synctest.Wait()
		if n := len(log.batches()); n != 0 {
			t.Fatalf("%d batches before the deadline", n)
		}
		pass(time.Second)
		synctest.Wait()
		get := f.get(0, "expired")
		synctest.Wait()
		want(t, get, "yes", nil)
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		log := newFakeLog(t)
		log.manual = true
		f.Elect(0, 1, log)
		put := f.put(0, "a", "1")
		synctest.Wait()
		f.Close()
		want(t, put, "", ErrNotCoordinator)
		f.Elect(0, 2, log)
		want(t, f.get(0, "a"), "", ErrNotCoordinator)
		f.Close()
	})
}

// The numbers are those of Java's Utils.abs(id.hashCode()) % 50.
func TestPartitionFor(t *testing.T) {
	for id, want := range map[string]int32{"": 0, "g1": 42, "console-consumer-1": 24, "größe": 7, "😀": 49} {
		if got := PartitionFor(id, 50); got != want {
			t.Errorf("%q: partition %d, want %d", id, got, want)
		}
	}
}
