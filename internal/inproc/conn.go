package inproc

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Conn is one end of an in-memory connection. It is a net.Conn: concurrent use, deadlines and Close are as there.
type Conn struct {
	principal string
	in, out   *queue
	closed    atomic.Bool
}

var _ net.Conn = (*Conn)(nil)

// Pipe makes a connection on behalf of principal, such as "User:alice", and returns its two ends. What is written to
// one end is read from the other. After Close of one end the other still reads what was written before, then io.EOF.
func Pipe(principal string) (client, server *Conn) {
	up, down := newQueue(), newQueue()
	return &Conn{principal: principal, in: down, out: up}, &Conn{principal: principal, in: up, out: down}
}

// Principal returns the name on whose behalf the connection was dialed.
func (c *Conn) Principal() string { return c.principal }

// Read reads what the other end wrote; see io.Reader.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.wrap("read", err)
}

// Write hands b to the other end and returns when all of it fits into the queue, the write deadline has passed, or
// either end is closed.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, c.wrap("write", err)
}

// Close ends both directions. Pending and later calls on this end fail with net.ErrClosed.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return c.wrap("close", net.ErrClosed)
	}
	c.in.closeRead()
	c.out.closeWrite()
	return nil
}

// LocalAddr returns an address of the network "inproc".
func (c *Conn) LocalAddr() net.Addr { return addr{} }

// RemoteAddr returns an address of the network "inproc".
func (c *Conn) RemoteAddr() net.Addr { return addr{} }

// SetDeadline sets the read and the write deadline.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets when pending and later reads fail with os.ErrDeadlineExceeded; the zero time means never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.wrap("set", net.ErrClosed)
	}
	c.in.setReadDeadline(t)
	return nil
}

// SetWriteDeadline sets when pending and later writes fail with os.ErrDeadlineExceeded; the zero time means never.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.wrap("set", net.ErrClosed)
	}
	c.out.setWriteDeadline(t)
	return nil
}

// wrap gives an error the form that callers of a net.Conn know. io.EOF stays as it is, as io.Reader demands.
func (c *Conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // the queue returns the bare value
		return err
	}
	return &net.OpError{Op: op, Net: network, Addr: addr{}, Err: err}
}

const network = "inproc"

type addr struct{}

func (addr) Network() string { return network }
func (addr) String() string  { return network }
