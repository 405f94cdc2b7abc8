package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

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

	countedAs softwareKey // under the lock of the metrics

	authenticated bool
	request       request         // the one that is executed
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
	if last, ok := p.reply.(closing); ok {
		err = last.reason
	}
	if err != nil {
		c.srv.release(&p)
		return fmt.Errorf("%w: %w", errLast, err)
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
	if !r.api.ahead && !c.sender.waitUntilIdle(c.ctx) || !c.chargeDecoding(p) {
		return errSilent
	}
	s := c.srv.slots[r.api.plane]
	if !s.enter(c.ctx.Done()) {
		return errSilent
	}
	p.times.began = c.srv.now()
	s.load.begin(p.times.began)
	p.reply, err = c.call(r)
	p.times.executed = c.srv.now()
	s.load.end(p.times.began, p.times.executed)
	s.leave()
	return err
}

const (
	// decodedFactor is how many times its size a request may take once it is decoded, with its answer.
	decodedFactor = 32
	// smallRequest is the size up to which nobody counts.
	smallRequest = 64 << 10
)

// chargeDecoding takes what the decoded form of a large request may need from the budget for that. It is given back with
// the reply. Produce is decoded in place and needs nothing.
func (c *conn) chargeDecoding(p *pending) bool {
	if p.size <= smallRequest || p.api.key == kmsg.Produce {
		return true
	}
	charge := p.size * decodedFactor
	if place := c.srv.decoded.take(charge); place != nil {
		select {
		case <-c.srv.decoded.ready(place):
		case <-c.ctx.Done():
			if !c.srv.decoded.giveUp(place) {
				return false
			}
		}
	}
	p.charged = charge
	return true
}

// release gives back what a pending answer holds.
func (s *Server) release(p *pending) {
	if p.reply != nil {
		p.reply.release()
	}
	if p.charged > 0 {
		s.decoded.put(p.charged)
	}
}

// call runs the handler.
func (c *conn) call(r *request) (rep reply, err error) {
	defer c.recovered(r.api, r.version, &err)
	return r.api.handle(c, c.ctx, r), nil
}

// recovered is deferred around what a request makes us do. A panic costs the connection, not the broker: whatever one
// client can send must not take the others down.
func (c *conn) recovered(a *api, version int16, err *error) {
	if p := recover(); p != nil {
		c.srv.metrics.panics.Inc()
		*err = fmt.Errorf("panic in %s version %d: %v\n%s", a.name, version, p, debug.Stack())
	}
}

// outsideSlot runs f, which may block for long, without holding a slot of the data plane.
func (c *conn) outsideSlot(f func()) {
	data, control := c.srv.slots[dataPlane], c.srv.slots[controlPlane]
	data.leave()
	defer data.enter(nil)
	if control.enter(c.ctx.Done()) {
		defer control.leave()
		f()
	}
}

// whileWaiting runs f, which waits and does nothing else, without the request's slot of a plane.
func (c *conn) whileWaiting(p plane, f func()) {
	s := c.srv.slots[p]
	s.leave()
	defer s.enter(nil)
	f()
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
