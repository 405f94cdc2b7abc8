package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/grpc/codes"

	datav1 "moldau/gen/moldau/data/v1"
)

func newPool(t *testing.T, change func(*Config)) *clients {
	t.Helper()
	cfg := DefaultConfig()
	cfg.BootstrapServers = []string{"127.0.0.1:1"}
	change(&cfg)
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }
	p := newClients(cfg, dial, slog.New(slog.DiscardHandler), newMetrics(prometheus.NewRegistry()))
	t.Cleanup(p.close)
	return p
}

func acquire(t *testing.T, p *clients, principal string) *client {
	t.Helper()
	c, err := p.acquire(principal)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPoolKeepsOneClientPerPrincipal(t *testing.T) {
	p := newPool(t, func(*Config) {})
	a, b := acquire(t, p, "User:a"), acquire(t, p, "User:b")
	if a == b || acquire(t, p, "User:a") != a {
		t.Error("clients are mixed up")
	}
}

// The cap holds: the client that is idle longest makes room, one in use never does.
func TestPoolEvicts(t *testing.T) {
	p := newPool(t, func(c *Config) { c.MaxClients = 2 })
	a, b := acquire(t, p, "a"), acquire(t, p, "b")
	if _, err := p.acquire("c"); !errors.Is(err, ErrOverloaded) {
		t.Fatalf("a third, while both are in use: %v", err)
	}
	b.release()
	a.release()
	if c := acquire(t, p, "c"); c == b || c == a {
		t.Fatal("the client of another principal was given")
	}
	if acquire(t, p, "a") != a {
		t.Error("the younger client was evicted")
	}
	if len(p.byPrincipal) != 2 {
		t.Errorf("%d clients", len(p.byPrincipal))
	}
}

func TestPoolClosesIdle(t *testing.T) {
	p := newPool(t, func(*Config) {})
	a, b := acquire(t, p, "a"), acquire(t, p, "b")
	a.release()
	if idle := p.expired(time.Now().Add(time.Hour)); len(idle) != 1 || idle[0] != a {
		t.Errorf("%v", idle)
	}
	a.close()
	if c := acquire(t, p, "a"); c == a {
		t.Error("a closed client was given")
	}
	if idle := p.expired(time.Now().Add(-time.Hour)); len(idle) != 0 {
		t.Errorf("young clients are closed: %v", idle)
	}
	b.release()
}

func TestPoolAfterClose(t *testing.T) {
	p := newPool(t, func(*Config) {})
	acquire(t, p, "a").release()
	p.close()
	p.close()
	if _, err := p.acquire("a"); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// Two calls at a time, one of which gives up: the other's records are written all the same, although they share a
// batch.
func TestCanceledCallHarmsNoOther(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Linger = 100 * time.Millisecond }, kfake.SeedTopics(1, "t"))
	if _, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: texts("first")}); err != nil {
		t.Fatal(err)
	}
	gone := NewBatch()
	gone.Records = append(gone.Records, kgo.Record{Partition: 0, Value: []byte("gone")})
	ctx, cancel := context.WithCancel(t.Context())
	if err := e.gw.Send(ctx, e.gw.cfg.Principal, "t", gone); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			resp, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: texts(fmt.Sprint(i))})
			if err != nil || resp.Results[0].GetError() != nil {
				t.Errorf("%v, %v", resp, err)
			}
		})
	}
	cancel()
	err := e.gw.Finish(ctx, gone)
	if f := FailureOf(err); !gone.Abandoned() || f.Reason != kerr.RequestTimedOut.Message || f.Code != codes.DeadlineExceeded {
		t.Errorf("%v", err)
	}
	wg.Wait()
}
