// Package registrytest starts a schema registry of ours for the tests of its clients: the whole of it, in this process, in
// front of a fake cluster, on a free port of the loopback interface. Tests only import it.
package registrytest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/registry"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
	registryhttp "moldau/registry/http"
	"moldau/registry/relay"
)

// Server is a registry that runs until the test ends.
type Server struct {
	// URL is where it answers, Handler what answers there.
	URL     string
	Handler http.Handler
}

// Start starts a registry.
func Start(t testing.TB) *Server {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := registry.DefaultConfig()
	cfg.BootstrapServers = c.ListenAddrs()
	cfg.AdvertisedURL = "http://" + l.Addr().String()
	cfg.SessionTimeout = 6 * time.Second
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	r, err := registry.New(cfg, registry.Deps{
		Formats: []format.Format{avro.New(cfg.Limits()), protobuf.New(cfg.Limits()), jsonschema.New(cfg.Limits())},
		Logger:  log,
	})
	if err != nil {
		t.Fatal(err)
	}
	to := relay.New(r, nil)
	h := registryhttp.New(r, to, log, nil)
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }() // ends with the cleanup
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		to.Close()
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &Server{URL: cfg.AdvertisedURL, Handler: h}
}
