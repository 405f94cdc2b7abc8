package kafka

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestRequestsAreAnswered(t *testing.T) {
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	for i := range int32(10) {
		p.ask(i, fmt.Sprint("request ", i))
		p.expect(i, fmt.Sprint("request ", i))
	}
	for _, size := range []int{4000, 4096, 5000, 64 << 10, 64<<10 + 1, 1 << 20, 3 << 20} {
		body := strings.Repeat("x", size)
		p.askLater(1, body)
		p.expect(1, body)
	}
	if used := h.srv.budget.inUse(); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
}

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
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
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

func TestUnknownAPIVersionsIsAnsweredInVersionZero(t *testing.T) {
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	for _, version := range []int16{6, 99, -1} {
		if _, err := p.Write(frameOf(18, version, 7, "new-client", []byte{0, 3, 'a', 'b'})); err != nil {
			t.Fatal(err)
		}
		correlation, body := p.read()
		resp := kmsg.NewPtrApiVersionsResponse()
		if err := resp.ReadFrom([]byte(body)); err != nil || correlation != 7 {
			t.Fatalf("version %d: correlation %d, %v", version, correlation, err)
		}
		if resp.ErrorCode != 35 || len(resp.ApiKeys) != 3 || resp.ApiKeys[0].MaxVersion != 13 || resp.ApiKeys[2].ApiKey != 18 {
			t.Errorf("version %d: %+v", version, resp)
		}
	}
	p.ask(8, "still open")
	p.expect(8, "still open")
}

// The response header of ApiVersions has no tags, in any version (KIP-511).
func TestAPIVersionsResponseHeader(t *testing.T) {
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	for version := int16(0); version <= 5; version++ {
		q := kmsg.NewPtrApiVersionsRequest()
		q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = version, "test-client", "1.2.3"
		b := kmsg.NewRequestFormatter(kmsg.FormatterClientID("t")).AppendRequest(nil, q, 5)
		if _, err := p.Write(b); err != nil {
			t.Fatal(err)
		}
		_, body := p.read()
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.Version = version
		if err := resp.ReadFrom([]byte(body)); err != nil || resp.ErrorCode != 0 || len(resp.ApiKeys) != 3 {
			t.Errorf("version %d: %v, %+v", version, err, resp)
		}
	}
}

func TestClientSoftwareIsValidated(t *testing.T) {
	for name, want := range map[string]bool{
		"apache-kafka-java": true, "librdkafka": true, "1.2.3": true, "a": true, "v1.0-rc.1": true,
		"": false, "-a": false, "a-": false, ".": false, "a b": false, "a\nb": false, "ü": false, strings.Repeat("a", 200): false,
	} {
		if got := validSoftware(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	q := kmsg.NewPtrApiVersionsRequest()
	q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = 3, "bad name", "1"
	if _, err := p.Write(kmsg.NewRequestFormatter().AppendRequest(nil, q, 5)); err != nil {
		t.Fatal(err)
	}
	_, body := p.read()
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = 3
	if err := resp.ReadFrom([]byte(body)); err != nil || resp.ErrorCode != 42 {
		t.Errorf("%v, %+v", err, resp)
	}
}

func TestWhatWeDoNotSpeakClosesTheConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		frame []byte
		log   []string
	}{
		"unknown key":     {frameOf(999, 3, 1, "sarama", nil), []string{"API key 999", "version 3", "sarama"}},
		"negative key":    {frameOf(-5, 3, 1, "x", nil), []string{"API key -5"}},
		"unknown version": {frameOf(16, 6, 1, "rdkafka", nil), []string{"ListGroups version 6", "0 to 5", "rdkafka"}},
		"produce 2":       {frameOf(0, 2, 1, "old", nil), []string{"Produce version 2", "3 to 13", "old"}},
		"cut header":      {[]byte{0, 0, 0, 9, 0, 16, 0, 0, 0, 0, 0, 1, 0}, []string{"malformed"}},
		"bad client id":   {[]byte{0, 0, 0, 10, 0, 16, 0, 0, 0, 0, 0, 1, 0x7f, 0xff}, []string{"malformed"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, nil, echo)
			p := h.dialTCP()
			p.ask(1, "good")
			p.expect(1, "good")
			if _, err := p.Write(tc.frame); err != nil {
				t.Fatal(err)
			}
			p.expectClosed()
			p.Close()
			h.close()
			h.expectLog(append(tc.log, "connection closed")...)
			if n := strings.Count(h.log.String(), "\n"); n != 1 {
				t.Errorf("%d lines in the log:\n%s", n, h.log.String())
			}
		})
	}
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

func TestPanicCostsOneConnection(t *testing.T) {
	h := newHarness(t, nil, func(_ *conn, _ context.Context, r *request) reply {
		if string(r.body) == "panic" {
			panic("of the test")
		}
		return &textReply{text: string(r.body)}
	})
	bad, good := h.dialTCP(), h.dialTCP()
	bad.ask(1, "panic")
	bad.expectClosed()
	good.ask(2, "fine")
	good.expect(2, "fine")
	bad.Close()
	good.Close()
	h.close()
	h.expectLog("panic in ListGroups", "of the test")
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
