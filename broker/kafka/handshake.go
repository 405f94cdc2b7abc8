package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// handshake does what comes before the first frame: on TLS listeners, TLS's own handshake. The reaper bounds its time.
func (c *conn) handshake() error {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return nil
	}
	if err := t.HandshakeContext(c.ctx); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("%w: %w", errSilent, err)
		}
		return fmt.Errorf("TLS handshake: %w", err)
	}
	c.authenticated = true
	c.progress.lastActive.Store(int64(c.srv.now()))
	c.progress.waitingAuth.Store(false)
	return nil
}
