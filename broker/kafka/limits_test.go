package kafka

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Large requests wait for each other rather than to be decoded side by side.
func TestDecodedRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var running, most atomic.Int32
		h := newHarness(t, nil, func(_ *conn, _ context.Context, r *request) reply {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			return &textReply{gate: gate, released: func() { running.Add(-1) }}
		})
		var peers []*peer
		for i := range 6 {
			p := h.dial()
			p.sendLater(frameOf(12, 0, int32(i), "test", make([]byte, 5<<20)))
			peers = append(peers, p)
		}
		synctest.Wait()
		if want := int32(maxDecoded / (decodedFactor * 5 << 20)); most.Load() != want {
			t.Errorf("%d requests of 5 MiB are decoded at the same time, want %d", most.Load(), want)
		}
		peers[5].Close() // one that waits in line
		close(gate)
		var wg sync.WaitGroup // whose turn comes first is not said, and who does not read holds up the others
		for _, p := range peers[:5] {
			wg.Go(func() {
				_, err := io.ReadFull(p.Conn, make([]byte, 8))
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, p := range peers[:5] {
			p.Close()
		}
		h.close()
		if used := h.srv.decoded.inUse(); used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
	})
}

func TestHandlersRunInBoundedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var running, most atomic.Int32
		h := newHarness(t, func(c *Config) { c.NumIOThreads, c.QueuedMax = 2, 3 }, func(_ *conn, _ context.Context, r *request) reply {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-gate
			running.Add(-1)
			return &textReply{text: string(r.body)}
		})
		var peers []*peer
		for range 10 {
			p := h.dial()
			p.ask(1, "x")
			peers = append(peers, p)
		}
		synctest.Wait()
		if n := h.srv.slots[dataPlane].waiting(); n != 3 {
			t.Errorf("%d requests are queued, want 3", n)
		}
		close(gate)
		for _, p := range peers {
			p.expect(1, "x")
			p.Close()
		}
		if most.Load() != 2 {
			t.Errorf("%d handlers ran at the same time, want 2", most.Load())
		}
		h.close()
	})
}

func TestConnectionLimits(t *testing.T) {
	for name, limit := range map[string]func(*Config){
		"max.connections":              func(c *Config) { c.MaxConnections = 2 },
		"max.connections.per.ip":       func(c *Config) { c.MaxConnectionsPerIP = 2 },
		"max.connection.creation.rate": func(c *Config) { c.MaxConnectionRate = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, limit, echo)
			// The rate is per second: begin just after one has begun.
			for h.srv.now()%time.Second > 500*time.Millisecond {
				runtime.Gosched()
			}
			a, b, c := h.dialTCP(), h.dialTCP(), h.dialTCP()
			c.expectClosed()
			for _, p := range []*peer{a, b} {
				p.ask(1, "x")
				p.expect(1, "x")
				p.Close()
			}
			c.Close()
			h.close()
			h.expectLog("connection refused", name)
		})
	}
}

// An idle connection must cost little: there may be thousands.
func TestIdleConnectionsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("opens two thousand connections")
	}
	const count = 2000
	h := newHarness(t, nil, echo)
	defer h.close()
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := memory()
	peers := make([]*peer, count)
	for i := range peers {
		peers[i] = h.dial()
		peers[i].ask(1, "x")
		peers[i].expect(1, "x")
	}
	per := (memory() - before) / count
	t.Logf("%d bytes per idle connection", per)
	if per > 32<<10 {
		t.Errorf("an idle connection holds %d bytes", per)
	}
	for _, p := range peers {
		p.Close()
	}
}
