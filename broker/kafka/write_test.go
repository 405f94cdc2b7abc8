package kafka

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"moldau/internal/vfs"
)

// fileRecords are records in a file, from an offset.
type fileRecords struct {
	f   vfs.File
	off int64
	n   int
}

func (r fileRecords) Len() int                                { return r.n }
func (r fileRecords) ReadAt(p []byte, off int64) (int, error) { return r.f.ReadAt(p, r.off+off) }
func (r fileRecords) File() (vfs.File, int64, int)            { return r.f, r.off, r.n }

// recordsReply answers with bytes and records in turn.
type recordsReply struct {
	pieces   []records
	released chan struct{}
}

func (r *recordsReply) ready() bool          { return true }
func (r *recordsReply) wait(context.Context) {}
func (r *recordsReply) release()             { close(r.released) }

func (r *recordsReply) encode(out *response) error {
	for _, p := range r.pieces {
		out.bytes = append(out.bytes, "between"...)
		out.addRecords(p)
	}
	out.bytes = append(out.bytes, "end"...)
	return nil
}

func writeFile(t *testing.T, content []byte) vfs.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "segment.log")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func randomBytes(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

// Every kind of connection carries the same bytes: sendfile for large pieces of files over TCP, copies otherwise.
func TestRecordsReachThePeer(t *testing.T) {
	content := randomBytes(t, 3<<20)
	f := writeFile(t, content)
	var pieces []records
	var want []byte
	add := func(off, n int) {
		pieces = append(pieces, fileRecords{f, int64(off), n})
		want = append(append(want, "between"...), content[off:off+n]...)
	}
	add(0, 100)
	add(77, smallRecords)
	add(1000, smallRecords+1)
	add(5, sendfilePieces*3+17)
	add(2<<20, 1<<20)
	add(1, 1)
	pieces = append(pieces, memoryRecords(content[:70_000]))
	want = append(append(want, "between"...), content[:70_000]...)
	want = append(want, "end"...)

	for name, dial := range map[string]func(*harness) *peer{
		"TCP": (*harness).dialTCP, "in memory": (*harness).dial, "TLS": (*harness).dialTLS,
	} {
		t.Run(name, func(t *testing.T) {
			released := make(chan struct{})
			h := newHarness(t, nil, func(*conn, context.Context, *request) reply {
				return &recordsReply{pieces, released}
			})
			p := dial(h)
			p.askLater(5, "")
			p.expect(5, string(want))
			<-released
			p.Close()
			h.close()
		})
	}
}

const sendfilePieces = 128 << 10

// A file that is shorter than the answer promised breaks the framing: the connection must go.
func TestShortFileClosesTheConnection(t *testing.T) {
	for name, n := range map[string]int{"sent from the file": 200_000, "copied": 20_000} {
		t.Run(name, func(t *testing.T) {
			f := writeFile(t, make([]byte, 10_000))
			released := make(chan struct{})
			h := newHarness(t, nil, func(*conn, context.Context, *request) reply {
				return &recordsReply{[]records{fileRecords{f, 0, n}}, released}
			})
			p := h.dialTCP()
			p.ask(1, "")
			got, err := io.ReadAll(p.Conn)
			if err != nil {
				t.Logf("the connection ended with: %v", err)
			}
			if len(got) > 4 && len(got)-4 >= int(binary.BigEndian.Uint32(got)) {
				t.Error("the answer is complete")
			}
			<-released
			p.Close()
			h.close()
			h.expectLog("shorter than its records")
		})
	}
}

// dialTLS connects a peer over TLS.
func (h *harness) dialTLS() *peer {
	h.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		h.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		h.Fatal(err)
	}
	ours, theirs := net.Pipe()
	server := tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	h.srv.accepted(server, listener{"SSL", "SSL"})
	return &peer{harness: h, Conn: tls.Client(ours, &tls.Config{InsecureSkipVerify: true})} //nolint:gosec // a test of the wire, not of trust
}

func TestTLSPeersHaveToFinishTheirHandshake(t *testing.T) {
	h := newHarness(t, nil, echo)
	p := h.dialTLS()
	p.askLater(1, "over TLS")
	p.expect(1, "over TLS")
	p.Close()

	ours, theirs := net.Pipe()
	server := tls.Server(theirs, &tls.Config{})
	h.srv.accepted(server, listener{"SSL", "SSL"})
	if _, err := ours.Write(bytes.Repeat([]byte("plain"), 100)); err == nil {
		t.Log("the whole of it was read")
	}
	_ = ours.Close()
	h.close()
	h.expectLog("TLS handshake")
}
