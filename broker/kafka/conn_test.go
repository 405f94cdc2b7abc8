package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
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

// panicking is a reply that panics where it is told to.
type panicking struct{ *textReply }

func (p panicking) wait(ctx context.Context) {
	if p.text == "wait" {
		panic("of the test")
	}
	p.textReply.wait(ctx)
}

func (p panicking) encode(out *response) error {
	if p.text == "encode" || p.text == "wait" {
		panic("of the test")
	}
	return p.textReply.encode(out)
}

func TestPanicCostsOneConnection(t *testing.T) {
	for _, where := range []string{"handler", "wait", "encode"} {
		t.Run(where, func(t *testing.T) {
			var released atomic.Int32
			h := newHarness(t, nil, func(_ *conn, _ context.Context, r *request) reply {
				text := string(r.body)
				if text == "handler" {
					panic("of the test")
				}
				rep := &textReply{text: text, released: func() { released.Add(1) }}
				if text == "wait" {
					rep.gate = make(chan struct{})
				}
				return panicking{rep}
			})
			bad, good := h.dialTCP(), h.dialTCP()
			bad.ask(1, where)
			bad.expectClosed()
			good.ask(2, "fine")
			good.expect(2, "fine")
			bad.Close()
			good.Close()
			h.close()
			h.expectLog("panic in ListGroups", "of the test")
			if n := released.Load(); where != "handler" && n != 2 {
				t.Errorf("%d of 2 replies were released", n)
			}
		})
	}
}

func TestConnectionsWithinTheProcess(t *testing.T) {
	principal := make(chan string, 1)
	h := newHarness(t, nil, func(c *conn, _ context.Context, r *request) reply {
		principal <- fmt.Sprint(r.caller.Principal, " by ", r.caller.Listener, " ", r.caller.Addr.IsValid())
		return echo(c, nil, r)
	})
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- h.srv.ServeConn(theirs, "INTERNAL", "User:gateway") }()
	p := &peer{harness: h, Conn: ours}
	p.ask(1, "x")
	p.expect(1, "x")
	if got := <-principal; got != "User:gateway by INTERNAL false" {
		t.Errorf("the handler sees %s", got)
	}
	p.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	h.close()
	_, theirs = net.Pipe()
	if err := h.srv.ServeConn(theirs, "INTERNAL", "User:late"); !errors.Is(err, ErrServerClosed) {
		t.Errorf("after Close: %v", err)
	}
}
