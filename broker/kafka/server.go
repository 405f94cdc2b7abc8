package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// Server is the Kafka door of one node: it may serve several listeners, and connections made within the process.
type Server struct {
	cfg            Config
	node           *broker.Node
	log            *slog.Logger
	noise          *logLimit // lines about peers that misbehave
	metrics        *metrics
	buffers        *buffers
	budget         *budget   // for frames
	decoded        *budget   // for what large requests become
	slots          [2]*slots // by plane
	sessions       *sessionCache
	registerer     prometheus.Registerer
	produceReplies produceReplies
	fetchReplies   fetchReplies
	rows           []api // by key; unused ones have no handler
	started        time.Time

	goroutines sync.WaitGroup // connections and senders
	closing    chan struct{}  // closed when Close begins
	reaped     chan struct{}  // closed when the reaper ended

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	perIP     map[string]int
	rate      acceptRate
}

// maxDecoded bounds the memory that large requests other than Produce take once they are decoded, with their answers.
const maxDecoded = 512 << 20

// ErrServerClosed is returned by Serve and ServeConn after Close.
var ErrServerClosed = errors.New("the Kafka server is closed")

// New makes a server for a node. It serves once Serve or ServeConn is called, and must be closed.
func New(cfg Config, node *broker.Node, logger *slog.Logger, registerer prometheus.Registerer) (*Server, error) {
	return newServer(cfg, node, logger, registerer, apiTable())
}

func newServer(cfg Config, node *broker.Node, logger *slog.Logger, registerer prometheus.Registerer, table []api) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("the Kafka server's configuration: %w", err)
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = defaultMaxConnections()
	}
	if cfg.InFlightBytes == 0 {
		cfg.InFlightBytes = defaultInFlightBytes()
	}
	s := &Server{
		cfg: cfg, node: node, log: logger, noise: newLogLimit(logger),
		buffers: new(buffers), budget: newBudget(int64(cfg.InFlightBytes)),
		decoded:  newBudget(maxDecoded),
		sessions: newSessionCache(cfg.FetchSessionSlots),
		rows:     rows(table), started: time.Now(),
		closing: make(chan struct{}), reaped: make(chan struct{}),
		listeners: make(map[net.Listener]struct{}), conns: make(map[*conn]struct{}), perIP: make(map[string]int),
	}
	s.slots[dataPlane] = newSlots(cfg.NumIOThreads, cfg.QueuedMax)
	s.slots[controlPlane] = newSlots(cfg.NumIOThreads, cfg.QueuedMax)
	s.metrics, s.registerer = newMetrics(s), registerer
	if registerer != nil {
		if err := registerer.Register(s.metrics); err != nil {
			return nil, fmt.Errorf("register the metrics of the Kafka server: %w", err)
		}
	}
	go s.reap()
	return s, nil
}

// rows arranges the table by key and works out where tagged fields begin.
func rows(table []api) []api {
	var byKey []api
	for _, a := range table {
		for len(byKey) <= int(a.key) {
			byKey = append(byKey, api{})
		}
		a.flexibleFrom = flexibleFrom(a.key)
		a.errors = errorPaths(a.key)
		byKey[a.key] = a
	}
	return byKey
}

// flexibleFrom is the first version of an API that has tagged fields.
func flexibleFrom(key kmsg.Key) int16 {
	q := key.Request()
	for v := int16(0); ; v++ {
		q.SetVersion(v)
		if v > q.MaxVersion() || q.IsFlexible() {
			return v
		}
	}
}

// api finds the row of a key; nil if there is none.
func (s *Server) api(key int16) *api {
	if key < 0 || int(key) >= len(s.rows) || s.rows[key].handle == nil {
		return nil
	}
	return &s.rows[key]
}

// now is the time since the server started.
func (s *Server) now() time.Duration { return time.Since(s.started) }

// Serve accepts connections from l until Close, and then returns ErrServerClosed; l is closed in any case. name is the
// listener's name in the broker's endpoints, so that clients are told addresses they can reach; protocol is its security
// protocol: PLAINTEXT, or SSL when l makes TLS connections.
func (s *Server) Serve(l net.Listener, name, protocol string) error {
	if protocol != "PLAINTEXT" && protocol != "SSL" {
		_ = l.Close()
		return fmt.Errorf("listener %s: security protocol %q is not supported, PLAINTEXT and SSL are", name, protocol)
	}
	if !s.addListener(l) {
		_ = l.Close()
		return ErrServerClosed
	}
	defer s.removeListener(l)
	for backoff := time.Duration(0); ; {
		nc, err := l.Accept()
		if err == nil {
			backoff = 0
			s.accepted(nc, listener{name, protocol})
			continue
		}
		if s.isClosing() {
			return ErrServerClosed
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("listener %s: %w", name, err)
		}
		// Out of file descriptors, most likely: connections that end will help.
		backoff = min(max(2*backoff, 5*time.Millisecond), time.Second)
		s.noise.log(s.now(), slog.LevelError, "accept failed", "listener", name, "err", err)
		select {
		case <-time.After(backoff):
		case <-s.closing:
		}
	}
}

// ServeConn serves one connection that was made within the process, in the caller's goroutine, until it ends. The caller
// vouches for the principal. listener names the listener whose addresses the client is told.
func (s *Server) ServeConn(nc net.Conn, listenerName, principal string) error {
	c := s.newConn(nc, listener{listenerName, "PLAINTEXT"})
	c.setCaller(func(caller *broker.Caller) { caller.Principal = principal })
	if !s.addConn(c, false) {
		c.abort()
		return ErrServerClosed
	}
	s.run(c)
	return nil
}

// accepted admits a new connection, or closes it at once.
func (s *Server) accepted(nc net.Conn, via listener) {
	c := s.newConn(nc, via)
	if reason := s.admit(c); reason != "" {
		s.metrics.refused.Inc()
		s.noise.log(s.now(), slog.LevelWarn, "connection refused", "reason", reason, "peer", nc.RemoteAddr(), "listener", via.name)
		c.abort()
		return
	}
	go s.run(c)
}

// run serves a connection that was added, and removes it.
func (s *Server) run(c *conn) {
	defer s.goroutines.Done()
	err := c.serve()
	s.removeConn(c)
	if err != nil && !errors.Is(err, errSilent) {
		s.metrics.protocolErrors.Inc()
		s.noise.log(s.now(), slog.LevelWarn, "connection closed", "reason", reason(err), "peer", c.nc.RemoteAddr(),
			"listener", c.listener.name, "client_id", c.caller.ClientID)
	}
}

func (s *Server) newConn(nc net.Conn, via listener) *conn {
	c := &conn{
		srv: s, node: s.node, nc: nc, raw: nc, listener: via, authenticated: true,
		caller: &broker.Caller{Principal: "User:ANONYMOUS", Listener: via.name, Addr: peerAddr(nc)},
	}
	if t, ok := nc.(*tls.Conn); ok {
		c.raw, c.authenticated = t.NetConn(), false
		c.progress.waitingAuth.Store(true)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.progress.lastActive.Store(int64(s.now()))
	c.file = newFileSender(nc)
	c.sender = sender{c: c, room: make(chan struct{}, 1)}
	c.sender.max.requests, c.sender.max.bytes = s.cfg.ReadAheadRequests, s.cfg.ReadAheadBytes
	c.frames = frameReader{
		src: nc, in: make([]byte, inlineBuffer), progress: &c.progress, buffers: s.buffers, budget: s.budget,
		now: s.now, limits: c.sizeLimit, maxSize: c.maxSize, patience: s.cfg.FrameGrace, done: c.ctx.Done(),
	}
	return c
}

// peerAddr is the address of a TCP peer.
func peerAddr(nc net.Conn) netip.Addr {
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// Close stops accepting, lets answers that are owed go out until ctx ends, and closes what is left then. It returns when
// no goroutine of the server runs any more.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.reaped
		s.goroutines.Wait()
		return nil
	}
	s.closed = true
	close(s.closing)
	for l := range s.listeners {
		_ = l.Close() // Serve returns because of closing, whatever this says
	}
	for c := range s.conns {
		c.stop()
	}
	s.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		s.goroutines.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("close the Kafka server: connections did not end in time: %w", ctx.Err())
		s.eachConn(func(c *conn) { c.abort() })
		<-ended
	}
	<-s.reaped
	if s.registerer != nil {
		s.registerer.Unregister(s.metrics)
	}
	return err
}
