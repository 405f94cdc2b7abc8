package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/internal/config"
	"moldau/internal/telemetry"
	"moldau/registry"
)

// Options is what `moldau serve` was told on its command line.
type Options struct {
	Inputs        config.Inputs
	Roles         []string  // empty: all that exist
	AddressesFile string    // empty: none is written
	Insecure      bool      // listen anywhere without authentication
	Version       string    // for metrics and the log
	Stdout        io.Writer // takes the addresses and the ready line
	Stderr        io.Writer // takes the log
}

// stopPatience bounds a clean stop: answers that are owed, flushing, closing.
const stopPatience = 30 * time.Second

// process is a server between start and stop.
type process struct {
	opts      Options
	settings  *settings
	log       *slog.Logger
	level     *slog.LevelVar // the level that log obeys
	registry  *prometheus.Registry
	lag       *prometheus.Registry // of /metrics/lag
	health    *telemetry.Health
	schemas   http.RoundTripper  // reaches the registry of this process; nil without one
	validator *validator         // of the broker; nil without one
	own       *registry.Registry // the registry of this process, when it keeps its topic in the broker of this process; else nil
	bound     []bound
	closers   []closer
	failed    chan error // a door that stopped serving by itself; buffered for all of them
}

// closer takes one part down again.
type closer struct {
	part  string
	close func(context.Context) error
}

// Run starts a server, reports that it is ready, and serves until ctx ends or
// a door fails. It returns nil after a clean stop that ctx asked for.
func Run(ctx context.Context, o Options) (err error) {
	started := time.Now()
	p, err := newProcess(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop(ctx)) }()
	if err := p.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before it was ready
		}
		return err
	}
	if err := p.announce(time.Since(started)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		p.log.Info("stopping", "component", "node")
		return nil
	case err := <-p.failed:
		return err
	}
}

func newProcess(o Options) (*process, error) {
	if err := checkRoles(o.Roles); err != nil {
		return nil, SettingsError{err}
	}
	s, err := load(o.Inputs, o.Insecure)
	if err != nil {
		return nil, SettingsError{err}
	}
	log, level, err := telemetry.NewLogger(o.Stderr, s.log)
	if err != nil {
		return nil, SettingsError{err}
	}
	p := &process{
		opts: o, settings: s, log: log, level: level,
		registry: telemetry.NewRegistry(o.Version), lag: prometheus.NewRegistry(),
		health: new(telemetry.Health),
		failed: make(chan error, 32),
	}
	p.warn()
	return p, nil
}

// warn logs what the operator should know about the settings.
func (p *process) warn() {
	for _, line := range p.settings.report.Unknown() {
		p.log.Warn("configuration: "+line, "component", "config")
	}
	if keys := p.settings.report.WithoutEffect(); len(keys) > 0 {
		p.log.Warn("configuration: keys without effect; `moldau serve check-config` says why", "component", "config", "keys", strings.Join(keys, ","))
	}
	if p.opts.Insecure && config.CheckExposure(p.settings.listeners, p.settings.doors) != nil {
		p.log.Warn("ANYBODY WHO REACHES THIS MACHINE CAN READ AND DELETE EVERYTHING: there is no authentication, and --insecure-no-auth opens it to other machines", "component", "config")
	}
}

// start brings the parts up in order. What was started is in p.closers, also
// when it fails.
func (p *process) start(ctx context.Context) error {
	dir, err := openDataDir(p.settings.broker.DataDir)
	if err != nil {
		return err
	}
	p.onStop("data directory", func(context.Context) error { return dir.Close() })
	if err := p.bindAll(ctx); err != nil {
		return err
	}
	api := p.serveHTTP()
	edge, err := p.startBroker(ctx)
	if err != nil {
		return err
	}
	if err := p.startRegistry(edge); err != nil {
		return err
	}
	p.startValidation(edge)
	return p.startGateway(edge, api)
}

// onStop adds a part to those that stop takes down, the last one first.
func (p *process) onStop(part string, f func(context.Context) error) {
	p.closers = append(p.closers, closer{part, f})
}

// stop takes everything down again, whatever ctx says by now.
func (p *process) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		if err := c.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", c.part, err))
		}
	}
	return errors.Join(errs...)
}

// serve runs a door in its own goroutine. It ends when the door is closed by
// the closer that the caller registers; an error before that stops the process.
func (p *process) serve(door string, run func() error, ended func(error) bool) {
	done := make(chan struct{})
	p.onStop(door, func(context.Context) error { <-done; return nil })
	go func() {
		defer close(done)
		if err := run(); !ended(err) {
			p.failed <- fmt.Errorf("%s stopped: %w", door, err)
		}
	}()
}
