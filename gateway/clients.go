package gateway

import (
	"log/slog"
	"sync"
	"time"
)

// clients is the pool of Kafka clients, one per principal. A client is made at the first call of its principal and
// closed when it has been idle, or when another principal needs its place.
type clients struct {
	cfg     Config
	dial    DialFunc
	logger  *slog.Logger
	metrics *metrics
	waiters chan struct{} // one token for each place of a waiting read or stream that is taken

	mu          sync.Mutex
	byPrincipal map[string]*client
	closed      bool

	stop, stopped chan struct{}
}

// newClients returns an empty pool and starts its janitor, which ends with close.
func newClients(cfg Config, dial DialFunc, logger *slog.Logger, m *metrics) *clients {
	p := &clients{
		cfg: cfg, dial: dial, logger: logger, metrics: m,
		waiters:     make(chan struct{}, cfg.MaxWaiting),
		byPrincipal: make(map[string]*client),
		stop:        make(chan struct{}),
		stopped:     make(chan struct{}),
	}
	go p.janitor()
	return p
}

// acquire returns the client of a principal. The caller releases it after the call.
func (p *clients) acquire(principal string) (*client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if c := p.byPrincipal[principal]; c != nil {
		c.refs++
		return c, nil
	}
	if len(p.byPrincipal) >= p.cfg.MaxClients && !p.evict() {
		return nil, ErrOverloaded
	}
	c, err := newClient(p, principal)
	if err != nil {
		return nil, err
	}
	c.refs = 1
	p.byPrincipal[principal] = c
	p.metrics.clients.Inc()
	return c, nil
}

// evict drops the client that has been idle longest. The pool is locked.
func (p *clients) evict() bool {
	var oldest *client
	for _, c := range p.byPrincipal {
		if c.refs == 0 && (oldest == nil || c.used.Before(oldest.used)) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	p.drop(oldest)
	go oldest.close() // takes a moment, and nobody waits for it: it has no calls
	return true
}

// drop takes c out of the pool. The pool is locked.
func (p *clients) drop(c *client) {
	delete(p.byPrincipal, c.principal)
	p.metrics.clients.Dec()
}

// release ends one use of c.
func (c *client) release() {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	c.refs--
	c.used = time.Now()
}

// janitor closes idle clients.
func (p *clients) janitor() {
	defer close(p.stopped)
	tick := time.NewTicker(max(p.cfg.ClientIdle/4, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-tick.C:
			for _, c := range p.expired(now.Add(-p.cfg.ClientIdle)) {
				c.close()
			}
		}
	}
}

// expired drops and returns the clients that have not been used since then, and lets the others forget topics.
func (p *clients) expired(then time.Time) []*client {
	p.mu.Lock()
	defer p.mu.Unlock()
	var idle []*client
	for _, c := range p.byPrincipal {
		if c.refs == 0 && c.used.Before(then) {
			p.drop(c)
			idle = append(idle, c)
			continue
		}
		c.producer.Forget(c.topics.forget(then)...)
	}
	return idle
}

// close closes every client. Calls that still run fail.
func (p *clients) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	all := make([]*client, 0, len(p.byPrincipal))
	for _, c := range p.byPrincipal {
		p.drop(c)
		all = append(all, c)
	}
	p.mu.Unlock()
	close(p.stop)
	<-p.stopped
	for _, c := range all {
		c.close()
	}
}
