package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Tests of the connection use a table of their own, so that they decide what handlers do: ApiVersions stands for any API
// without tagged headers, and what its handler does is in the test's hands.

// harness is a server with handlers made by a test.
type harness struct {
	testing.TB
	srv *Server
	log *lockedBuffer
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newHarness makes a server without a node whose only API is ListGroups (key 16), answered by handle.
func newHarness(t testing.TB, change func(*Config), handle handler) *harness {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	log := new(lockedBuffer)
	table := []api{
		{key: kmsg.Produce, name: "Produce", min: 0, max: 13, handle: handle, refuseBelow: 3, ahead: true},
		{key: kmsg.ListGroups, name: "ListGroups", min: 0, max: 5, handle: handle, ahead: true},
		{key: kmsg.Heartbeat, name: "Heartbeat", min: 0, max: 4, handle: handle},
		{key: kmsg.ApiVersions, name: "ApiVersions", min: 0, max: 5, handle: decoded((*conn).apiVersions)},
	}
	srv, err := newServer(cfg, nil, slog.New(slog.NewTextHandler(log, nil)), nil, table)
	if err != nil {
		t.Fatal(err)
	}
	return &harness{TB: t, srv: srv, log: log}
}

// close ends the server and waits for it.
func (h *harness) close() {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := h.srv.Close(ctx); err != nil {
		h.Error(err)
	}
}

// dial connects a peer in memory.
func (h *harness) dial() *peer {
	ours, theirs := net.Pipe()
	h.srv.accepted(theirs, listener{"PLAINTEXT", "PLAINTEXT"})
	return &peer{harness: h, Conn: ours}
}

// dialTCP connects a peer over loopback.
func (h *harness) dialTCP() *peer {
	h.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	defer l.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		h.Fatal(err)
	}
	theirs, err := l.Accept()
	if err != nil {
		h.Fatal(err)
	}
	h.srv.accepted(theirs, listener{"PLAINTEXT", "PLAINTEXT"})
	return &peer{harness: h, Conn: nc}
}

// peer is the other end of a connection.
type peer struct {
	*harness
	net.Conn
	later chan []byte // what askLater sends
}

// frameOf makes a frame: header and body of a request.
func frameOf(key, version int16, correlation int32, clientID string, body []byte) []byte {
	b := []byte{0, 0, 0, 0}
	b = appendInt16(b, key)
	b = appendInt16(b, version)
	b = appendInt32(b, correlation)
	b = appendString(b, clientID, false)
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// ask sends a ListGroups request of version 0 whose body is for the handler to understand.
func (p *peer) ask(correlation int32, body string) {
	p.Helper()
	if _, err := p.Write(frameOf(16, 0, correlation, "test", []byte(body))); err != nil {
		p.Fatal(err)
	}
}

// askLater does the same without waiting until it is sent. Requests keep their order.
func (p *peer) askLater(correlation int32, body string) {
	p.sendLater(frameOf(16, 0, correlation, "test", []byte(body)))
}

// sendLater sends bytes without waiting until they are sent.
func (p *peer) sendLater(b []byte) {
	if p.later == nil {
		p.later = make(chan []byte, 100)
		go func() {
			for b := range p.later {
				if _, err := p.Write(b); err != nil {
					return
				}
			}
		}()
	}
	p.later <- b
}

// Close ends the connection.
func (p *peer) Close() error {
	if p.later != nil {
		close(p.later)
		p.later = nil
	}
	return p.Conn.Close()
}

// read reads one answer.
func (p *peer) read() (correlation int32, body string) {
	p.Helper()
	var size [4]byte
	if _, err := io.ReadFull(p.Conn, size[:]); err != nil {
		p.Fatalf("no answer: %v; the log:\n%s", err, p.log)
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(p.Conn, b); err != nil {
		p.Fatalf("half an answer: %v", err)
	}
	return int32(binary.BigEndian.Uint32(b)), string(b[4:])
}

// expect reads one answer and compares it.
func (p *peer) expect(correlation int32, body string) {
	p.Helper()
	if c, b := p.read(); c != correlation || b != body {
		p.Fatalf("answer %d %q, want %d %q", c, b, correlation, body)
	}
}

// expectClosed reads until the connection ends.
func (p *peer) expectClosed() {
	p.Helper()
	if n, err := p.Conn.Read(make([]byte, 1)); err == nil {
		p.Fatalf("still open, and sent %d bytes", n)
	} else if errors.Is(err, context.DeadlineExceeded) {
		p.Fatal(err)
	}
}

// expectLog compares the log, once the server is closed.
func (h *harness) expectLog(parts ...string) {
	h.Helper()
	text := h.log.String()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			h.Errorf("the log does not say %q:\n%s", part, text)
		}
	}
}

// textReply answers with a text, when its gate is open. Its life is noted in released.
type textReply struct {
	text     string
	gate     <-chan struct{} // nil is open
	released func()
}

func (r *textReply) ready() bool {
	if r.gate == nil {
		return true
	}
	select {
	case <-r.gate:
		return true
	default:
		return false
	}
}

func (r *textReply) wait(ctx context.Context) {
	select {
	case <-r.gate:
	case <-ctx.Done():
		r.text = "interrupted"
	}
}

func (r *textReply) encode(out *response) error {
	out.bytes = append(out.bytes, r.text...)
	return nil
}

func (r *textReply) release() {
	if r.released != nil {
		r.released()
	}
}

// echo answers with the request's body.
func echo(_ *conn, _ context.Context, r *request) reply { //nolint:revive // the form of a handler, whose receiver comes first
	return &textReply{text: string(r.body)}
}
