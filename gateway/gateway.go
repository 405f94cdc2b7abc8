package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"moldau/registry/serde"
)

// DialFunc opens a connection to the broker at addr (host:port) on behalf of principal. Gateways in the broker's own
// process get one that returns in-memory connections and carries the principal with them.
type DialFunc func(ctx context.Context, principal, addr string) (net.Conn, error)

// Gateway holds the clients of the broker and the verbs that the doors call. Its methods may be called concurrently.
type Gateway struct {
	cfg     Config
	logger  *slog.Logger
	metrics *metrics
	clients *clients
	budget  budget
	cursors *cursorSigner
	server  *grpc.Server
	serde   *serde.Serde // nil without a registry

	decompressor decompressor

	ctx    context.Context // ends with Close; streams watch it
	cancel context.CancelFunc
}

// New returns a gateway. It makes no connection until the first call. dial may be nil for TCP.
func New(cfg Config, dial DialFunc, logger *slog.Logger, reg prometheus.Registerer) (*Gateway, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if len(cfg.BootstrapServers) == 0 {
		if dial == nil {
			return nil, fmt.Errorf("gateway: bootstrap.servers is empty and there is no broker in this process")
		}
		cfg.BootstrapServers = []string{"localhost:9092"} // the dialer decides where that is
	}
	if dial == nil {
		var d net.Dialer
		dial = func(ctx context.Context, _, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) }
	}
	schemas, err := newSerde(&cfg)
	if err != nil {
		return nil, fmt.Errorf("gateway: gateway.registry.url: %w", err)
	}
	m := newMetrics(reg)
	g := &Gateway{
		cfg:     cfg,
		logger:  logger,
		metrics: m,
		clients: newClients(cfg, dial, logger, m),
		budget:  budget{limit: cfg.MaxInflightBytes, used: m.inflight},
		cursors: newCursorSigner(cfg.CursorSecret),
		serde:   schemas,

		decompressor: newDecompressor(),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.server = newServer(g)
	return g, nil
}

// Config returns the configuration.
func (g *Gateway) Config() Config { return g.cfg }

// Closing is closed when Close begins. Streams of a door end then.
func (g *Gateway) Closing() <-chan struct{} { return g.ctx.Done() }

// GRPCServer returns the server of the gRPC services. The caller serves listeners with it; Close stops it.
func (g *Gateway) GRPCServer() *grpc.Server { return g.server }

// Ready answers nil when the broker answers, for /readyz. It waits no longer than ctx.
func (g *Gateway) Ready(ctx context.Context) error {
	c, err := g.clients.acquire(g.cfg.Principal)
	if err != nil {
		return err
	}
	defer c.release()
	return c.ping(ctx)
}

// Close ends streams and waiting reads, of HTTP too, waits until gRPC calls under way are answered or ctx ends, and closes
// the clients. HTTP calls that come or still run afterwards are answered 503, so an HTTP server may be shut down before,
// meanwhile or after; with streams open, its shutdown needs Close to have begun.
func (g *Gateway) Close(ctx context.Context) error {
	g.cancel()
	stopped := make(chan struct{})
	go func() { // ends with the server, which Stop below forces
		g.server.GracefulStop()
		close(stopped)
	}()
	var err error
	select {
	case <-stopped:
	case <-ctx.Done():
		err = fmt.Errorf("gateway: calls under way were cut off: %w", ctx.Err())
		g.server.Stop()
		<-stopped
	}
	g.clients.close()
	if g.serde != nil {
		g.serde.Close()
	}
	return err
}
