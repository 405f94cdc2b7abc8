package kafka

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A connection's requests execute in their order and are answered in their order, also when a later one is done earlier.
func TestAnswersKeepTheOrderOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var mu sync.Mutex
		var executed []string
		var released atomic.Int32
		h := newHarness(t, nil, func(_ *conn, _ context.Context, r *request) reply {
			mu.Lock()
			defer mu.Unlock()
			text := string(r.body)
			executed = append(executed, text)
			rep := &textReply{text: text, released: func() { released.Add(1) }}
			if text == "parked" {
				rep.gate = gate
			}
			return rep
		})
		p := h.dial()
		p.ask(1, "first")
		p.expect(1, "first")
		p.ask(2, "parked")
		p.ask(3, "third")
		p.ask(4, "fourth")
		synctest.Wait()
		mu.Lock()
		if want := []string{"first", "parked", "third", "fourth"}; !slices.Equal(executed, want) {
			t.Errorf("executed %v while an answer waits, want %v", executed, want)
		}
		mu.Unlock()
		if n := released.Load(); n != 1 {
			t.Errorf("%d replies are released, want 1", n)
		}
		close(gate)
		p.expect(2, "parked")
		p.expect(3, "third")
		p.expect(4, "fourth")
		p.ask(5, "fifth")
		p.expect(5, "fifth")
		p.Close()
		h.close()
		if n := released.Load(); n != 5 {
			t.Errorf("%d of 5 replies were released", n)
		}
	})
}

// Requests whose answers may be large are not executed ahead, so that no more than one per connection piles up.
func TestOnlyProduceIsExecutedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var executed atomic.Int32
		h := newHarness(t, nil, func(_ *conn, _ context.Context, r *request) reply {
			executed.Add(1)
			rep := &textReply{text: string(r.body)}
			if rep.text == "parked" {
				rep.gate = gate
			}
			return rep
		})
		p := h.dial()
		p.ask(1, "parked")
		p.ask(2, "ahead")
		if _, err := p.Write(frameOf(12, 0, 3, "test", []byte("not ahead"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := executed.Load(); n != 2 {
			t.Errorf("%d requests were executed, want 2", n)
		}
		close(gate)
		p.expect(1, "parked")
		p.expect(2, "ahead")
		p.expect(3, "not ahead")
		p.Close()
		h.close()
	})
}

func TestReadAheadIsBounded(t *testing.T) {
	for name, limit := range map[string]func(*Config){
		"by count": func(c *Config) { c.ReadAheadRequests = 3 },
		"by bytes": func(c *Config) { c.ReadAheadBytes = 3 * (10 + 4 + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				var executed atomic.Int32
				h := newHarness(t, limit, func(_ *conn, _ context.Context, r *request) reply {
					executed.Add(1)
					return &textReply{text: string(r.body), gate: gate}
				})
				p := h.dial()
				for i := range int32(20) {
					p.askLater(i, "x")
				}
				synctest.Wait()
				// One answer is waited for, three more are ahead of it.
				if n := executed.Load(); n != 4 {
					t.Errorf("%d requests were executed ahead, want 4", n)
				}
				close(gate)
				for i := range int32(20) {
					p.expect(i, "x")
				}
				p.Close()
				h.close()
			})
		})
	}
}

func TestPeerThatGoesAwayEndsItsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		h := newHarness(t, nil, func(*conn, context.Context, *request) reply {
			return &textReply{gate: make(chan struct{}), released: func() { released.Add(1) }}
		})
		p := h.dial()
		p.ask(1, "")
		p.ask(2, "")
		p.Close()
		synctest.Wait()
		if n := released.Load(); n != 2 {
			t.Errorf("%d of 2 parked replies were released", n)
		}
		h.close()
	})
}

func TestCloseLetsWaitingAnswersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, func(*conn, context.Context, *request) reply {
			return &textReply{gate: make(chan struct{})}
		})
		p := h.dial()
		idle := h.dial()
		p.ask(1, "")
		go h.close()
		p.expect(1, "interrupted")
		p.expectClosed()
		idle.expectClosed()
		synctest.Wait()
	})
}

// A peer that doesn't read its answer can't hold the server back for longer than it is told.
func TestCloseDoesNotWaitForPeersForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, echo)
		p := h.dial()
		p.ask(1, "unread")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		if err := h.srv.Close(ctx); err == nil {
			t.Error("Close says that all ended well")
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("Close took %v", took)
		}
		p.Close()
	})
}

// Answers that are owed go out before the connection closes.
func TestHangUpKeepsEarlierAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h := newHarness(t, nil, func(_ *conn, _ context.Context, r *request) reply {
			if string(r.body) == "bad" {
				return hangUp(errMalformed)
			}
			return &textReply{text: string(r.body), gate: gate}
		})
		p := h.dial()
		p.ask(1, "good")
		p.ask(2, "bad")
		synctest.Wait()
		close(gate)
		p.expect(1, "good")
		p.expectClosed()
		h.close()
	})
}
