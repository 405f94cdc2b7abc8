package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Peers that mean no good, or that are simply no Kafka clients.

func TestNoiseIsRecognisedLoggedAndClosed(t *testing.T) {
	for name, tc := range map[string]struct{ send, log string }{
		"TLS":            {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "TLS (a client hello)"},
		"HTTP":           {"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP on a Kafka listener"},
		"gRPC":           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2"},
		"SSH":            {"SSH-2.0-OpenSSH_9.7\r\n", "SSH"},
		"noise":          {"\xde\xad\xbe\xef\x00\x01\x02\x03", "not Kafka's protocol"},
		"size too large": {"\x06\x40\x00\x01\x00\x00\x00\x00", "not Kafka's protocol"},
		"size 0":         {"\x00\x00\x00\x00", "declared size 0"},
		"size 7":         {"\x00\x00\x00\x07\x00\x00\x00", "declared size 7"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, nil, echo)
			p := h.dialTCP()
			if _, err := io.WriteString(p, tc.send); err != nil {
				t.Fatal(err)
			}
			p.expectClosed()
			p.Close()
			h.close()
			h.expectLog(tc.log)
			if n := strings.Count(h.log.String(), "\n"); n != 1 {
				t.Errorf("%d lines:\n%s", n, h.log.String())
			}
		})
	}
}

func TestLogLinesAboutPeersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, echo)
		for range 100 {
			p := h.dial()
			if _, err := io.WriteString(p, "GET / HTTP/1.1\r\n\r\n"); err == nil {
				p.expectClosed()
			}
			p.Close()
		}
		synctest.Wait()
		if n := strings.Count(h.log.String(), "\n"); n != logPerInterval {
			t.Errorf("%d lines", n)
		}
		<-time.After(logInterval)
		p := h.dial()
		_, _ = io.WriteString(p, "GET / HTTP/1.1\r\n\r\n")
		p.Close()
		synctest.Wait()
		h.expectLog("suppressed_before=80")
		h.close()
	})
}

// Memory follows what a peer sends, never what it declares.
func TestDeclaredSizeAllocatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, echo)
		var peers []*peer
		for range 200 {
			p := h.dial()
			frame := frameOf(0, 9, 1, "attack", make([]byte, 100))
			binary.BigEndian.PutUint32(frame, 100<<20)
			if _, err := p.Write(frame); err != nil {
				t.Fatal(err)
			}
			peers = append(peers, p)
		}
		synctest.Wait()
		if used := h.srv.budget.inUse(); used > 200*firstChunk {
			t.Errorf("200 peers that sent 100 bytes each hold %d bytes", used)
		}
		// One goes on, and gets memory as it sends.
		if _, err := peers[0].Write(make([]byte, firstChunk)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if used := h.srv.budget.inUse(); used > 200*firstChunk+growth*firstChunk {
			t.Errorf("a peer that sent 64 KiB makes us hold %d bytes", used)
		}
		good := h.dial()
		good.ask(1, "unharmed")
		good.expect(1, "unharmed")
		good.Close()
		for _, p := range peers {
			p.Close()
		}
		h.close()
		if used := h.srv.budget.inUse(); used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
	})
}

func TestOnlyRecordsMayBeLarge(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.ControlRequestMaxSize = 10_000 }, echo)
	p := h.dialTCP()
	body := strings.Repeat("x", 9_900)
	p.ask(1, body)
	p.expect(1, body)
	p.ask(2, strings.Repeat("x", 10_000))
	p.expectClosed()
	p.Close()
	h.close()
	h.expectLog("a ListGroups request of 10014 bytes, the limit is 10000")
}

func TestUnauthenticatedPeersGetSmallFrames(t *testing.T) {
	h := newHarness(t, nil, echo)
	defer h.close()
	ours, theirs := net.Pipe()
	defer ours.Close()
	c := h.srv.newConn(theirs, listener{"SSL", "SSL"})
	c.authenticated = false
	if !h.srv.addConn(c, false) {
		t.Fatal("not added")
	}
	go h.srv.run(c)
	frame := frameOf(0, 9, 1, "", make([]byte, 64<<10))
	if _, err := ours.Write(frame[:40]); err == nil {
		if _, err := ours.Read(make([]byte, 1)); err == nil {
			t.Error("an unauthenticated peer may send more than 64 KiB")
		}
	}
}

// A frame that has begun must progress.
func TestSlowPeersAreClosed(t *testing.T) {
	for name, tc := range map[string]struct {
		first []byte
		pause time.Duration
		from  time.Duration
		to    time.Duration
		log   string
	}{
		"a byte per second":     {frameOf(16, 0, 1, "", make([]byte, 1000))[:5], time.Second, 10 * time.Second, 13 * time.Second, "too slowly"},
		"half a size":           {[]byte{0, 0}, 0, 10 * time.Second, 13 * time.Second, "too slowly"},
		"large, then silent":    {frameOf(0, 9, 1, "", make([]byte, 100_000))[:8_000], 0, 10 * time.Second, 20 * time.Second, "too slowly"},
		"nothing at all":        {nil, 0, 10 * time.Minute, 10*time.Minute + 2*time.Second, ""},
		"after a good request":  {frameOf(16, 0, 1, "", []byte("x")), 0, 10 * time.Minute, 10*time.Minute + 2*time.Second, ""},
		"large byte per second": {frameOf(0, 9, 1, "", make([]byte, 100_000))[:5_000], time.Second, 10 * time.Second, 13 * time.Second, "too slowly"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, nil, echo)
				p := h.dial()
				ended := make(chan time.Duration, 1)
				began := time.Now()
				go func() {
					_, _ = io.Copy(io.Discard, p.Conn)
					ended <- time.Since(began)
				}()
				if _, err := p.Write(tc.first); err != nil {
					t.Fatal(err)
				}
				for tc.pause > 0 {
					<-time.After(tc.pause)
					if _, err := p.Write([]byte{0}); err != nil {
						break
					}
				}
				if took := <-ended; took < tc.from || took > tc.to {
					t.Errorf("closed after %v, want %v to %v", took, tc.from, tc.to)
				}
				p.Close()
				h.close()
				h.expectLog(tc.log)
			})
		})
	}
}

// A peer on a slow line that does progress is served.
func TestSlowButSteadyPeersAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, echo)
		p := h.dial()
		body := bytes.Repeat([]byte("slow"), 50_000)
		frame := frameOf(0, 9, 1, "", append([]byte{0}, body...))
		go func() {
			for len(frame) > 0 {
				n := min(4<<10, len(frame))
				if _, err := p.Write(frame[:n]); err != nil {
					t.Error(err)
					return
				}
				if frame = frame[n:]; len(frame) > 0 {
					<-time.After(time.Second)
				}
			}
		}()
		if _, got := p.read(); got != "\x00"+string(body) {
			t.Error("the answer differs")
		}
		p.Close()
		h.close()
	})
}

func TestUnreadAnswersCloseTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released int
		h := newHarness(t, nil, func(*conn, context.Context, *request) reply {
			return &textReply{text: strings.Repeat("x", 1<<20), released: func() { released++ }}
		})
		p := h.dial()
		began := time.Now()
		p.ask(1, "")
		for {
			if _, err := p.Write([]byte{0, 0}); err != nil { // net.Pipe: fails once the other end is closed
				break
			}
		}
		if took := time.Since(began); took < 30*time.Second || took > 33*time.Second {
			t.Errorf("closed after %v", took)
		}
		p.Close()
		h.close()
		if released != 1 {
			t.Errorf("released %d times", released)
		}
		h.expectLog("response.write.timeout.ms")
	})
}

// When the memory for requests is spent, connections are not read; a frame that has begun gives up after a while, so that
// frames that hold half of what they need cannot lock each other up.
func TestMemoryForRequestsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, func(c *Config) { c.InFlightBytes = 1 << 20 }, echo)
		var peers []*peer
		for range 16 {
			p := h.dial()
			go func() { _, _ = p.Write(frameOf(0, 9, 1, "", make([]byte, 800_000))) }()
			peers = append(peers, p)
		}
		synctest.Wait()
		if used := h.srv.budget.inUse(); used > 1<<20 {
			t.Errorf("%d bytes are held", used)
		}
		small := h.dial()
		small.ask(1, "small requests need no memory")
		small.expect(1, "small requests need no memory")
		small.Close()
		<-time.After(15 * time.Second)
		for _, p := range peers {
			p.Close()
		}
		h.close()
		h.expectLog("queued.max.request.bytes")
		if used := h.srv.budget.inUse(); used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
	})
}

// FuzzFrames feeds a connection any bytes, cut anywhere. It must neither panic nor hang, and hold no memory afterwards.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), uint64(1))
	f.Add(frameOf(16, 0, 1, "client", []byte("body")), uint64(2))
	f.Add(append(frameOf(18, 3, 1, "c", []byte{0, 2, 'a', 2, 'b', 0}), frameOf(18, 9, 2, "c", nil)...), uint64(3))
	f.Add(frameOf(0, 9, 1, "", make([]byte, 9000)), uint64(4))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		h := newHarness(t, func(c *Config) { c.RequestMaxSize = 1 << 20 }, echo)
		p := h.dial()
		go func() { _, _ = io.Copy(io.Discard, p.Conn) }()
		rng := rand.New(rand.NewPCG(seed, 0))
		for len(in) > 0 {
			n := 1 + rng.IntN(len(in))
			if _, err := p.Write(in[:n]); err != nil {
				break
			}
			in = in[n:]
		}
		p.Close()
		h.close()
		if used := h.srv.budget.inUse(); used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
		if strings.Contains(h.log.String(), "panic") {
			t.Error(h.log.String())
		}
	})
}
