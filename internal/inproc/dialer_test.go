package inproc

import (
	"context"
	"errors"
	"io"
	"testing"
)

func TestDialer(t *testing.T) {
	d := NewDialer(func(c *Conn) {
		_, _ = io.WriteString(c, c.Principal())
		_, _ = io.Copy(io.Discard, c)
	})
	conn, err := d.Dial(t.Context(), "User:bob")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("User:bob"))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "User:bob" {
		t.Fatalf("read %q, %v", got, err)
	}
	d.Close() // returns, although serve still reads
	if _, err := conn.Write([]byte("x")); err == nil {
		t.Fatal("the connection outlived its dialer")
	}
	if _, err := d.Dial(t.Context(), "User:bob"); !errors.Is(err, ErrDialerClosed) {
		t.Fatalf("dial after close: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewDialer(func(*Conn) {}).Dial(ctx, "p"); !errors.Is(err, context.Canceled) {
		t.Fatalf("dial with a canceled context: %v", err)
	}
}
