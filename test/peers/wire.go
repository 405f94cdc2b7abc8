package peers

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Wire is one plain connection to a broker on which a test sends requests of
// exactly the version it names, with no client in between that retries,
// downgrades or routes. It is for one goroutine.
type Wire struct {
	conn        net.Conn
	format      *kmsg.RequestFormatter
	correlation int32
}

// DialWire connects to addr and closes the connection with the test.
func DialWire(tb testing.TB, addr string) *Wire {
	tb.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		tb.Fatalf("peers: %v", err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return &Wire{conn: conn, format: kmsg.NewRequestFormatter(kmsg.FormatterClientID("peers"))}
}

// Do sends req at version v and reads its answer. A closed connection is
// io.EOF or a reset; an answer that does not parse to its last byte is an
// error.
func (w *Wire) Do(req kmsg.Request, v int16) (kmsg.Response, error) {
	req.SetVersion(v)
	w.correlation++
	if err := w.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := w.conn.Write(w.format.AppendRequest(nil, req, w.correlation)); err != nil {
		return nil, fmt.Errorf("write %s v%d: %w", kmsg.NameForKey(req.Key()), v, err)
	}
	var head [4]byte
	if _, err := io.ReadFull(w.conn, head[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(w.conn, body); err != nil {
		return nil, fmt.Errorf("read %s v%d: %w", kmsg.NameForKey(req.Key()), v, err)
	}
	if got := int32(binary.BigEndian.Uint32(body)); got != w.correlation {
		return nil, fmt.Errorf("%s v%d: correlation id %d, want %d", kmsg.NameForKey(req.Key()), v, got, w.correlation)
	}
	body = body[4:]
	if req.IsFlexible() && req.Key() != int16(kmsg.ApiVersions) {
		if len(body) == 0 || body[0] != 0 {
			return nil, fmt.Errorf("%s v%d: response header with tags", kmsg.NameForKey(req.Key()), v)
		}
		body = body[1:]
	}
	resp := req.ResponseKind()
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("decode %s v%d: %w", kmsg.NameForKey(req.Key()), v, err)
	}
	return resp, nil
}
