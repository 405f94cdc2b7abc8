package node

import (
	"context"
	"errors"
	"fmt"
	"net"

	"moldau/internal/config"
)

// bound is one door with its open sockets: two for loopback, else one.
type bound struct {
	door     string // kafka, http, grpc: the name in the addresses file
	listener config.Listener
	sockets  []net.Listener
}

// port is the port all sockets of a door share.
func (b *bound) port() int { return b.sockets[0].Addr().(*net.TCPAddr).Port }

// address is where this machine reaches the door.
func (b *bound) address() string {
	a := *b.sockets[0].Addr().(*net.TCPAddr)
	if a.IP.IsUnspecified() {
		a.IP = net.IPv4(127, 0, 0, 1)
	}
	return a.String()
}

// bindAll opens the sockets of every door, so that a taken port is found
// before anything is recovered.
func (p *process) bindAll(ctx context.Context) error {
	p.onStop("sockets", func(context.Context) error { return p.closeSockets() })
	for _, l := range p.settings.listeners {
		if !p.has(roleBroker) {
			break
		}
		if err := p.bind(ctx, "kafka", l); err != nil {
			return fmt.Errorf("listener %s: %w", l.Name, err)
		}
	}
	for _, d := range []struct {
		door, key string
		wanted    bool
	}{
		{"http", "http.listen", true},
		{"grpc", "grpc.listen", p.has(roleGateway)},
		{"registry", "registry.listen", p.has(roleRegistry)},
	} {
		a := p.settings.doors[d.key]
		if a.Off || !d.wanted {
			continue
		}
		if err := p.bind(ctx, d.door, config.Listener{Host: a.Host, Port: a.Port}); err != nil {
			return fmt.Errorf("%s: %w", d.key, err)
		}
	}
	return nil
}

func (p *process) bind(ctx context.Context, door string, l config.Listener) error {
	sockets, err := config.Listen(ctx, l.Host, l.Port)
	if err != nil {
		return err
	}
	p.bound = append(p.bound, bound{door, l, sockets})
	return nil
}

// closeSockets closes what no server has closed yet.
func (p *process) closeSockets() error {
	var errs []error
	for _, b := range p.bound {
		for _, s := range b.sockets {
			if err := s.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// door returns the sockets of a door; none when it is off.
func (p *process) door(name string) []net.Listener {
	for _, b := range p.bound {
		if b.door == name {
			return b.sockets
		}
	}
	return nil
}
