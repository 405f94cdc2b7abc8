package inproc

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestPrincipal(t *testing.T) {
	client, server := Pipe("User:alice")
	if client.Principal() != "User:alice" || server.Principal() != "User:alice" {
		t.Fatalf("principals %q and %q", client.Principal(), server.Principal())
	}
	if n := server.RemoteAddr().Network(); n != "inproc" {
		t.Fatalf("network %q", n)
	}
}

// Random sizes on both sides, much more than a queue holds: every byte arrives once and in order.
func TestTransfer(t *testing.T) {
	client, server := Pipe("p")
	const total = 8 << 20
	sum := make(chan [32]byte)
	go func() {
		r := rand.New(rand.NewPCG(1, 2))
		h := sha256.New()
		buf := make([]byte, 300<<10)
		for {
			n, err := server.Read(buf[:1+r.IntN(len(buf))])
			h.Write(buf[:n])
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("read: %v", err)
				}
				sum <- [32]byte(h.Sum(nil))
				return
			}
		}
	}()
	r := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, total)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	want := sha256.Sum256(data)
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1+r.IntN(600<<10))
		if m, err := client.Write(rest[:n]); m != n || err != nil {
			t.Fatalf("write: %d of %d, %v", m, n, err)
		}
		rest = rest[n:]
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-sum; got != want {
		t.Fatal("the bytes read differ from the bytes written")
	}
}

// Concurrent writes of one size stay whole, also those that must wait for space.
func TestConcurrentWritesStayWhole(t *testing.T) {
	client, server := Pipe("p")
	const size, writers, each = 100 << 10, 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			b := bytes.Repeat([]byte{byte(w)}, size)
			for range each {
				if _, err := client.Write(b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); _ = client.Close() }()
	got := make([]byte, size)
	for range writers * each {
		if _, err := io.ReadFull(server, got); err != nil {
			t.Fatal(err)
		}
		if i := bytes.IndexFunc(got, func(r rune) bool { return byte(r) != got[0] }); i >= 0 {
			t.Fatalf("writes are mixed at byte %d", i)
		}
	}
	if _, err := server.Read(got); !errors.Is(err, io.EOF) {
		t.Fatalf("after everything: %v", err)
	}
}

func TestClose(t *testing.T) {
	client, server := Pipe("p")
	if _, err := client.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("second close: %v", err)
	}
	if got, err := io.ReadAll(server); string(got) != "last words" || err != nil {
		t.Fatalf("read %q, %v", got, err)
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("read of the closed end: %v", err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("write of the closed end: %v", err)
	}
	if _, err := server.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Fatalf("write to a closed peer: %v", err)
	}
	if err := client.SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("deadline of the closed end: %v", err)
	}
}

// A close wakes a reader and a writer that wait, at the same end and at the other.
func TestCloseWakes(t *testing.T) {
	for _, own := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a, b := Pipe("p")
			readErr, writeErr := make(chan error), make(chan error)
			go func() { _, err := a.Read(make([]byte, 1)); readErr <- err }()
			go func() { _, err := a.Write(make([]byte, 2*queueMax)); writeErr <- err }()
			synctest.Wait()
			wantRead, wantWrite := net.ErrClosed, net.ErrClosed
			if own {
				_ = a.Close()
			} else {
				_ = b.Close()
				wantRead, wantWrite = io.EOF, syscall.EPIPE
			}
			if err := <-readErr; !errors.Is(err, wantRead) {
				t.Errorf("own=%v: read: %v", own, err)
			}
			if err := <-writeErr; !errors.Is(err, wantWrite) {
				t.Errorf("own=%v: write: %v", own, err)
			}
		})
	}
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := Pipe("p")
		start := time.Now()
		must(t, client.SetReadDeadline(start.Add(time.Second)))
		_, err := client.Read(make([]byte, 1))
		var ne net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
			t.Fatalf("read: %v", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Fatalf("the read ended after %v", d)
		}
		must(t, client.SetWriteDeadline(time.Now().Add(time.Minute)))
		n, err := client.Write(make([]byte, queueMax+1))
		if n != queueMax || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("write: %d, %v", n, err)
		}
		// A later deadline, or none, revives both directions.
		must(t, client.SetDeadline(time.Time{}))
		if _, err := io.ReadFull(server, make([]byte, queueMax)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	})
}

// A deadline that is moved while a read waits takes effect on that read.
func TestDeadlineMovedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := Pipe("p")
		must(t, client.SetReadDeadline(time.Now().Add(time.Hour)))
		start, done := time.Now(), make(chan error)
		go func() { _, err := client.Read(make([]byte, 1)); done <- err }()
		synctest.Wait()
		must(t, client.SetReadDeadline(start.Add(time.Second)))
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
			t.Fatalf("after %v: %v", time.Since(start), err)
		}
	})
}

// Steady small traffic allocates nothing.
func TestNoGarbage(t *testing.T) {
	client, server := Pipe("p")
	b := make([]byte, 100)
	allocs := testing.AllocsPerRun(100, func() {
		_ = client.SetWriteDeadline(time.Now().Add(time.Minute))
		if _, err := client.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(server, b); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Fatalf("%.1f allocations per message", allocs)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	client, server := Pipe("p")
	go func() { _, _ = io.Copy(server, server) }()
	msg := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(msg); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, msg); err != nil {
			b.Fatal(err)
		}
	}
	_ = client.Close()
}
