package kafka

import (
	"log/slog"
	"time"
)

// reapInterval is how often connections are looked at. It bounds how late a limit of time is noticed.
const reapInterval = time.Second

// reap closes connections that are idle or stuck, until the server closes. One look at all connections each second
// takes the place of timers that every request would have to set.
func (s *Server) reap() {
	defer close(s.reaped)
	tick := time.NewTicker(reapInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.closing:
			return
		}
		now := s.now()
		s.metrics.tick(now)
		type found struct {
			c *conn
			v verdict
		}
		var guilty []found
		s.eachConn(func(c *conn) {
			if v := c.progress.judge(&s.cfg, now, c.sender.busy()); v != stays {
				guilty = append(guilty, found{c, v})
			}
		})
		for _, g := range guilty {
			s.metrics.reaped.Inc()
			if g.v != idle {
				s.noise.log(now, slog.LevelWarn, "connection closed", "reason", g.v.text(), "peer", g.c.nc.RemoteAddr(),
					"listener", g.c.listener.name)
			}
			g.c.abort()
		}
	}
}
