package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"moldau/broker"
)

// conn is one connection. Its goroutine reads, executes, and writes as long as no answer has to wait.
type conn struct {
	srv      *Server
	node     *broker.Node
	nc       net.Conn
	raw      net.Conn // below TLS
	listener listener
	caller   *broker.Caller // of the last request; replaced, never changed
	ip       string         // key of the limit per address; empty if it doesn't count

	authenticated bool
	ctx           context.Context // ends with the connection
	cancel        context.CancelFunc
	frames        frameReader
	sender        sender
	progress      progress
	file          fileSender // nil where files must be copied
}

// listener is the door that a connection came through.
type listener struct {
	name     string
	protocol string
}

// serve runs the connection until it ends. It returns what ended it.
func (c *conn) serve() error {
	err := c.handshake()
	for err == nil {
		if !c.sender.waitForRoom(c.ctx) {
			err = errSilent
			break
		}
		var f frame
		if f, err = c.frames.next(); err == nil {
			err = c.handle(f)
		}
	}
	if errors.Is(err, errLast) || c.srv.isClosing() {
		c.sender.finish() // answers that are owed go out first
		c.abort()
	} else {
		c.abort()
		c.sender.finish()
	}
	if why := c.sender.err; why != nil && !errors.Is(why, errSilent) {
		return why
	}
	return err
}

// errLast ends a connection after everything that is owed was sent.
var errLast = errors.New("last request")

// handle executes one frame and sends its answer, or leaves it to be sent.
func (c *conn) handle(f frame) error {
	p := pending{size: len(f.body), times: times{received: c.srv.now()}}
	err := c.execute(&p, f.body)
	c.frames.release(f)
	if err != nil {
		return fmt.Errorf("%w: %w", errLast, err)
	}
	if last, ok := p.reply.(closing); ok {
		return fmt.Errorf("%w: %w", errLast, last.reason)
	}
	return c.sender.send(p, c.frames.buffered())
}

// execute runs the handler of a request. An error closes the connection.
func (c *conn) execute(p *pending, body []byte) error {
	r, err := c.parseHeader(body)
	if err != nil {
		return err
	}
	p.api, p.version, p.correlation = r.api, r.version, r.correlation
	if r.mismatch {
		p.times.began, p.times.executed = p.times.received, p.times.received
		p.reply = c.versionMismatch()
		return nil
	}
	p.flexible = r.flexible() && r.api.key != keyApiVersions
	s := c.srv.slots[r.api.plane]
	if !s.enter(c.ctx.Done()) {
		return errSilent
	}
	p.times.began = c.srv.now()
	s.load.begin(p.times.began)
	p.reply, err = c.call(&r)
	p.times.executed = c.srv.now()
	s.load.end(p.times.began, p.times.executed)
	s.leave()
	return err
}

// call runs the handler. A panic costs the connection, not the broker: whatever one client can send must not take the
// others down.
func (c *conn) call(r *request) (rep reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.metrics.panics.Inc()
			err = fmt.Errorf("panic in %s version %d: %v\n%s", r.api.name, r.version, p, debug.Stack())
		}
	}()
	return r.api.handle(c, c.ctx, r), nil
}

// outsideSlot runs f, which may block for long, without holding a slot of the data plane.
func (c *conn) outsideSlot(f func()) {
	data, control := c.srv.slots[dataPlane], c.srv.slots[controlPlane]
	data.leave()
	if control.enter(c.ctx.Done()) {
		f()
		control.leave()
	}
	data.enter(nil)
}

// abort closes the connection at once and ends all that waits in it. It may be called from any goroutine.
func (c *conn) abort() {
	// The error of a close tells nothing: the peer may be gone already. TLS is closed from below, because it would wait
	// for a peer that doesn't read.
	_ = c.raw.Close()
	c.cancel()
}

// stop lets the connection end: waits end early, answers go out, nothing more is read.
func (c *conn) stop() {
	c.cancel()
	_ = c.raw.SetReadDeadline(time.Unix(1, 0)) // fails only on a closed connection
}

// setCaller replaces the caller when the client id or the software has changed.
func (c *conn) setCaller(change func(*broker.Caller)) {
	next := *c.caller
	change(&next)
	c.caller = &next
}
