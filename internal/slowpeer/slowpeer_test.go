package slowpeer

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// patience of the peers in these tests.
const patience = 50 * time.Millisecond

// answer is larger than what the kernel buffers between two sockets.
var answer = make([]byte, 64<<20)

func serve(t *testing.T, rate int, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler(h, patience, rate))
	t.Cleanup(s.Close)
	return s
}

// ask sends a request and leaves the answer to the caller.
func ask(t *testing.T, s *httptest.Server) net.Conn {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	again(t, c)
	return c
}

func again(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
}

func TestPeerThatDoesNotRead(t *testing.T) {
	for name, write := range map[string]func(w http.ResponseWriter) error{
		"at once": func(w http.ResponseWriter) error {
			_, err := w.Write(answer)
			return err
		},
		"in pieces": func(w http.ResponseWriter) error {
			for range len(answer) / small {
				if _, err := w.Write(answer[:small]); err != nil {
					return err
				}
			}
			return http.NewResponseController(w).Flush()
		},
		"by a deadline of the handler": func(w http.ResponseWriter) error {
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)); err != nil {
				return nil //nolint:nilerr // which fails the test
			}
			_, err := w.Write(answer)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			failed := make(chan error, 1)
			ask(t, serve(t, 1<<30, func(w http.ResponseWriter, _ *http.Request) { failed <- write(w) }))
			if err := <-failed; err == nil {
				t.Error("all of it was written to a peer that reads nothing")
			}
		})
	}
}

// TestPeerThatReads gets all of an answer whose making takes longer than its patience, and, after a pause longer than that, another one
// on the same connection.
func TestPeerThatReads(t *testing.T) {
	s := serve(t, rate, func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(2 * patience) // the work
		_, _ = w.Write(answer[:1<<20])
	})
	c := ask(t, s)
	r := bufio.NewReader(c)
	for range 2 {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil || n != 1<<20 {
			t.Errorf("%d bytes, %v", n, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		<-time.After(2 * patience) // the pause
		again(t, c)
	}
}
