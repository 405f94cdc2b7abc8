package node

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"

	"moldau/broker/kafka"
	"moldau/gateway"
	"moldau/gateway/rest"
	"moldau/internal/inproc"
)

// startGateway starts the gateway and its doors. Beside a broker it is a client
// of that one, without a socket between them; without a broker it needs
// bootstrap.servers.
func (p *process) startGateway(edge *kafka.Server, api *door) error {
	if !p.has(roleGateway) {
		return nil
	}
	p.health.Set("gateway", notStarted)
	cfg := p.settings.gateway
	cfg.Version = p.opts.Version
	cfg.RegistryTransport = p.schemas
	var dial gateway.DialFunc
	if edge != nil && len(cfg.BootstrapServers) == 0 {
		dial = p.dialer(edge)
	}
	gw, err := gateway.New(cfg, dial, p.log.With("component", "gateway"), p.registry)
	if err != nil {
		return err
	}
	p.health.Set("gateway", gw.Ready)
	api.open(rest.New(gw))
	for _, l := range p.door("grpc") {
		p.serve("grpc", func() error { return gw.GRPCServer().Serve(l) }, func(err error) bool {
			return err == nil || errors.Is(err, grpc.ErrServerStopped)
		})
	}
	p.onStop("gateway", func(ctx context.Context) error {
		// Streams end when Close begins, other calls when they are answered.
		drained := make(chan error, 1)
		go func() { drained <- api.drain(ctx) }()
		err := gw.Close(ctx)
		return errors.Join(err, <-drained)
	})
	return nil
}

// dialer connects the gateway to the broker in this process. The address that
// the client asks for is one of the broker's own, so all lead to the same edge.
func (p *process) dialer(edge *kafka.Server) gateway.DialFunc {
	listener := ""
	for _, b := range p.bound {
		if b.door == "kafka" {
			listener = b.listener.Name
			break
		}
	}
	d := inproc.NewDialer(func(c *inproc.Conn) {
		if err := edge.ServeConn(c, listener, c.Principal()); err != nil && !errors.Is(err, kafka.ErrServerClosed) {
			p.log.Warn("in-process connection ended", "component", "kafka", "err", err)
		}
	})
	p.onStop("in-process connections", func(context.Context) error { d.Close(); return nil })
	return func(ctx context.Context, principal, _ string) (net.Conn, error) {
		c, err := d.Dial(ctx, principal)
		if err != nil {
			return nil, fmt.Errorf("reach the broker in this process: %w", err)
		}
		return c, nil
	}
}
