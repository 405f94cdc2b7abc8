package kafka

import (
	"net"
	"time"
)

// addListener notes a listener that Close must close.
func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	_ = l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// admit adds a connection that came through a listener, unless a limit forbids it; then it says which.
func (s *Server) admit(c *conn) (reason string) {
	if s.cfg.MaxConnectionsPerIP > 0 && c.caller.Addr.IsValid() {
		c.ip = c.caller.Addr.String()
	}
	s.mu.Lock()
	switch {
	case len(s.conns) >= s.cfg.MaxConnections:
		reason = "max.connections is reached"
	case c.ip != "" && s.perIP[c.ip] >= s.cfg.MaxConnectionsPerIP:
		reason = "max.connections.per.ip is reached"
	case s.cfg.MaxConnectionRate > 0 && !s.rate.allow(s.now(), s.cfg.MaxConnectionRate):
		reason = "max.connection.creation.rate is reached"
	}
	s.mu.Unlock()
	if reason == "" && !s.addConn(c, true) {
		reason = "the server is closing"
	}
	return reason
}

// addConn adds a connection unless the server is closed. The caller runs it.
func (s *Server) addConn(c *conn, counted bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	if counted && c.ip != "" {
		s.perIP[c.ip]++
	}
	s.goroutines.Add(1)
	s.metrics.opened(c)
	return true
}

func (s *Server) removeConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if c.ip != "" {
		if s.perIP[c.ip]--; s.perIP[c.ip] <= 0 {
			delete(s.perIP, c.ip)
		}
	}
	s.metrics.closed(c)
}

func (s *Server) eachConn(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// acceptRate counts connections per second.
type acceptRate struct {
	second time.Duration
	count  int
}

func (r *acceptRate) allow(now time.Duration, limit int) bool {
	if second := now.Truncate(time.Second); second != r.second {
		r.second, r.count = second, 0
	}
	r.count++
	return r.count <= limit
}

// maxSize is the permitted size of any frame of the connection at this point.
func (c *conn) maxSize() int {
	if !c.authenticated {
		return c.srv.cfg.UnauthenticatedMaxSize
	}
	return c.srv.cfg.RequestMaxSize
}

// sizeLimit is the permitted size of a frame with an API key. Only requests that carry records may be large: the decoded
// form of others takes many times their bytes.
func (c *conn) sizeLimit(key int16) int {
	if key == 0 {
		return c.maxSize()
	}
	return min(c.maxSize(), c.srv.cfg.ControlRequestMaxSize)
}
