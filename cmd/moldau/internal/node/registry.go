package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moldau/broker/kafka"
	"moldau/internal/slowpeer"
	"moldau/registry"
	"moldau/registry/bufpush"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
	registryhttp "moldau/registry/http"
	"moldau/registry/relay"
	"moldau/registry/tokens"
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
	var known *tokens.Tokens
	if cfg.TokensFile != "" {
		if known, err = tokens.Read(cfg.TokensFile); err != nil {
			return SettingsError{fmt.Errorf("registry.tokens.file: %w", err)}
		}
		deps.Authorizer = registry.KnownOnly{}
	}
	r, err := registry.New(cfg, deps)
	if err != nil {
		return err
	}
	p.onStop("registry", r.Close)
	if deps.Dial != nil {
		p.own = r
	}
	p.health.Set("registry", r.Ready)
	trusted, err := authorities(cfg.TLSCAFile)
	if err != nil {
		return SettingsError{fmt.Errorf("registry.tls.ca.file: %w", err)}
	}
	to := relay.New(r, trusted)
	d := &registryDoor{
		rest: registryhttp.New(r, to, log, p.registry), buf: bufpush.New(r, to, log, p.registry), relay: to, tokens: known,
		certFile: cfg.TLSCertFile, keyFile: cfg.TLSKeyFile,
	}
	p.schemas = registryTransport{d.guarded()}
	return p.serveRegistry(d, log)
}

// registryDoor is what listens at registry.listen: the REST protocol, and beside it the one of buf.
type registryDoor struct {
	rest              *registryhttp.Handler
	buf               *bufpush.Handler
	relay             *relay.Relay   // to other replicas
	tokens            *tokens.Tokens // nil when everybody may do everything
	certFile, keyFile string         // empty without TLS
}

// ServeHTTP implements http.Handler.
func (d *registryDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, bufpush.Prefix) {
		d.buf.ServeHTTP(w, r)
		return
	}
	d.rest.ServeHTTP(w, r)
}

func (d *registryDoor) guarded() http.Handler {
	if d.tokens == nil {
		return d
	}
	return d.tokens.Guard(d)
}

func (d *registryDoor) serve(srv *http.Server, l net.Listener) error {
	if d.certFile == "" {
		return srv.Serve(l)
	}
	return srv.ServeTLS(l, "", "")
}

// authorities reads the certificates of those that are trusted; none stands for those of the system.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s: there is no certificate in it", path)
	}
	return pool, nil
}

// serveRegistry opens the registry's door.
func (p *process) serveRegistry(d *registryDoor, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           slowpeer.Handler(d.guarded(), slowPeerPatience),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if d.certFile != "" {
		pair, err := tls.LoadX509KeyPair(d.certFile, d.keyFile)
		if err != nil {
			return SettingsError{fmt.Errorf("registry.tls.cert.file: %w", err)}
		}
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	}
	for _, l := range p.door("registry") {
		p.serve("registry", func() error { return d.serve(srv, l) }, func(err error) bool { return errors.Is(err, http.ErrServerClosed) })
	}
	p.onStop("registry door", func(ctx context.Context) error {
		defer d.relay.Close()
		if err := srv.Shutdown(ctx); err != nil {
			return errors.Join(err, srv.Close())
		}
		return nil
	})
	return nil
}

// registryURL is where other replicas reach the registry's door, as far as this machine can tell.
func (p *process) registryURL() string {
	for _, b := range p.bound {
		if b.door != "registry" {
			continue
		}
		at := b.sockets[0].Addr().(*net.TCPAddr)
		scheme := "http://"
		if p.settings.registry.TLSCertFile != "" {
			scheme = "https://"
		}
		if !at.IP.IsUnspecified() {
			return scheme + at.String()
		}
		if host, err := os.Hostname(); err == nil {
			return scheme + net.JoinHostPort(host, fmt.Sprint(at.Port))
		}
		return scheme + b.address()
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
