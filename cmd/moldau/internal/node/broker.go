package node

import (
	"context"
	"errors"
	"fmt"

	"moldau/broker"
	"moldau/broker/kafka"
	"moldau/broker/metadata"
	"moldau/internal/config"
)

// startBroker starts the stateful part and its Kafka edge, and returns the
// edge, which the gateway reaches without a socket. A process without the role
// has none.
func (p *process) startBroker(ctx context.Context) (*kafka.Server, error) {
	if !p.has(roleBroker) {
		return nil, nil
	}
	p.health.Set("broker", notStarted)
	cfg := p.settings.broker
	cfg.Endpoints = p.endpoints()
	p.validator = p.newValidator()
	node, err := broker.Start(ctx, cfg, broker.Deps{
		Logger: p.log.With("component", "broker"), LogLevel: p.level, Registerer: p.registry,
		Validator: p.validator,
	})
	if err != nil {
		return nil, fmt.Errorf("start the broker: %w", err)
	}
	if err := p.lag.Register(node.Lag()); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	p.onStop("broker", node.Close)
	p.health.Set("broker", func(context.Context) error { return node.Ready() })
	edge, err := kafka.New(p.settings.kafka, node, p.log.With("component", "kafka"), p.registry)
	if err != nil {
		return nil, fmt.Errorf("start the Kafka edge: %w", err)
	}
	for _, b := range p.bound {
		if b.door != "kafka" {
			continue
		}
		for _, l := range b.sockets {
			p.serve("listener "+b.listener.Name, func() error {
				return edge.Serve(l, b.listener.Name, b.listener.Protocol)
			}, func(err error) bool { return errors.Is(err, kafka.ErrServerClosed) })
		}
	}
	p.onStop("Kafka edge", edge.Close)
	return edge, nil
}

// endpoints are the addresses clients are told.
func (p *process) endpoints() []metadata.Endpoint {
	var out []metadata.Endpoint
	for _, b := range p.bound {
		if b.door != "kafka" {
			continue
		}
		e := metadata.Endpoint{
			Name: b.listener.Name, Host: b.listener.AdvertisedHost, Port: int32(b.listener.AdvertisedPort),
			SecurityProtocol: b.listener.Protocol,
		}
		if e.Host == "" {
			e.Host = b.listener.Host
			if e.Host == config.Loopback && len(b.sockets) == 1 {
				e.Host = "127.0.0.1" // no IPv6 here, so the name could lead astray
			}
		}
		if e.Port == 0 {
			e.Port = int32(b.port())
		}
		out = append(out, e)
	}
	return out
}

var errNotStarted = errors.New("not started")

func notStarted(context.Context) error { return errNotStarted }
