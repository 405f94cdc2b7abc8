package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"moldau/broker/kafka"
	"moldau/registry"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
	registryhttp "moldau/registry/http"
)

// startRegistry starts the schema registry and its door. Beside a broker it is a client of that one, without a socket
// between them; without a broker it needs bootstrap.servers.
func (p *process) startRegistry(edge *kafka.Server) error {
	if !p.has(roleRegistry) {
		return nil
	}
	p.health.Set("registry", notStarted)
	cfg := p.settings.registry
	cfg.Version = p.opts.Version
	cfg.BootstrapServers = p.settings.gateway.BootstrapServers
	var err error
	if cfg.Instance, err = instanceID(p.settings.broker.DataDir, "registry.id"); err != nil {
		return err
	}
	if cfg.AdvertisedURL == "" {
		cfg.AdvertisedURL = p.registryURL()
	}
	log := p.log.With("component", "registry")
	deps := registry.Deps{
		Formats: []format.Format{avro.New(cfg.Limits()), protobuf.New(cfg.Limits()), jsonschema.New(cfg.Limits())},
		Logger:  log, Registerer: p.registry,
	}
	if edge != nil && len(cfg.BootstrapServers) == 0 {
		deps.Dial = p.dialer(edge)
	}
	r, err := registry.New(cfg, deps)
	if err != nil {
		return err
	}
	p.onStop("registry", r.Close)
	p.health.Set("registry", r.Ready)
	p.serveRegistry(registryhttp.New(r, log, p.registry), log)
	return nil
}

// serveRegistry opens the registry's door.
func (p *process) serveRegistry(h *registryhttp.Handler, log *slog.Logger) {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	for _, l := range p.door("registry") {
		p.serve("registry", func() error { return srv.Serve(l) }, func(err error) bool { return errors.Is(err, http.ErrServerClosed) })
	}
	p.onStop("registry door", func(ctx context.Context) error {
		defer h.Close()
		if err := srv.Shutdown(ctx); err != nil {
			return errors.Join(err, srv.Close())
		}
		return nil
	})
}

// registryURL is where other replicas reach the registry's door, as far as this machine can tell.
func (p *process) registryURL() string {
	for _, b := range p.bound {
		if b.door != "registry" {
			continue
		}
		at := b.sockets[0].Addr().(*net.TCPAddr)
		if !at.IP.IsUnspecified() {
			return "http://" + at.String()
		}
		if host, err := os.Hostname(); err == nil {
			return fmt.Sprintf("http://%s", net.JoinHostPort(host, fmt.Sprint(at.Port)))
		}
		return "http://" + b.address()
	}
	return "http://localhost" // nobody reaches a door that is off
}

// instanceID is an id that this data directory has for good. The directory is locked, so no two processes share it.
func instanceID(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	raw, err := os.ReadFile(path) //nolint:gosec // in our own directory
	if id := string(bytes.TrimSpace(raw)); err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the id of this replica: %w", err)
	}
	id := rand.Text()
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the id of this replica: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return "", fmt.Errorf("write the id of this replica: %w", err)
	}
	return id, nil
}
