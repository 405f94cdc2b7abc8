package inproc

import (
	"context"
	"errors"
	"net"
	"sync"
)

// ErrDialerClosed is returned by Dial after Close.
var ErrDialerClosed = errors.New("in-process dialer is closed")

// Dialer connects parts of the process to a server in the same process.
type Dialer struct {
	serve func(*Conn)

	mu     sync.Mutex
	open   map[*Conn]*Conn // client end by server end, while serve runs
	closed bool
	wg     sync.WaitGroup
}

// NewDialer returns a Dialer that hands the server's end of each connection to serve, in a goroutine of its own.
// serve returns when the connection is done; the Dialer closes it then.
func NewDialer(serve func(*Conn)) *Dialer {
	return &Dialer{serve: serve, open: make(map[*Conn]*Conn)}
}

// Dial opens a connection on behalf of principal. It never waits; ctx is looked at once.
func (d *Dialer) Dial(ctx context.Context, principal string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := Pipe(principal)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, ErrDialerClosed
	}
	d.open[server] = client
	d.wg.Add(1)
	go d.run(server)
	return client, nil
}

// run owns the server's end; it ends with serve.
func (d *Dialer) run(server *Conn) {
	defer d.wg.Done()
	d.serve(server)
	d.mu.Lock()
	delete(d.open, server)
	d.mu.Unlock()
	_ = server.Close() // serve may have closed it already
}

// Close closes every connection, refuses new ones, and waits until all calls of serve have returned.
func (d *Dialer) Close() {
	d.mu.Lock()
	d.closed = true
	for server, client := range d.open {
		_ = client.Close() // a second close is no fault here
		_ = server.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}
