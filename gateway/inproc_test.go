package gateway

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/internal/inproc"
)

// memListener accepts in-memory connections.
type memListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (*memListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 19092} }

// The gateway works through in-memory connections as through TCP, and each carries the principal of the caller.
func TestInProcess(t *testing.T) {
	l := &memListener{conns: make(chan net.Conn), done: make(chan struct{})}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return l, nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var mu sync.Mutex
	principals := make(map[string]int)
	dialer := inproc.NewDialer(func(c *inproc.Conn) {
		mu.Lock()
		principals[c.Principal()]++
		mu.Unlock()
		select {
		case l.conns <- c:
			<-l.done // the cluster closes its end
		case <-l.done:
		}
	})
	dial := func(ctx context.Context, principal, _ string) (net.Conn, error) { return dialer.Dial(ctx, principal) }
	gw, err := New(DefaultConfig(), dial, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, principal := range []string{"User:a", "User:b"} {
		b := NewBatch()
		b.Records = append(b.Records, kgo.Record{Partition: AnyPartition, Value: []byte(principal)})
		if err := gw.Produce(t.Context(), principal, "t", b); err != nil || b.Err(0) != nil {
			t.Fatal(err, b.Err(0))
		}
	}
	records, _, err := gw.Read(t.Context(), "User:c", ReadRequest{Topic: "t", Partition: AnyPartition}, 0, 0)
	if err != nil || len(records) != 2 || string(records[1].Value) != "User:b" {
		t.Fatalf("%v, %v", records, err)
	}
	mu.Lock()
	if len(principals) != 3 || principals["User:a"] == 0 || principals["User:c"] == 0 {
		t.Errorf("%v", principals)
	}
	mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := gw.Close(ctx); err != nil {
		t.Error(err)
	}
	_ = l.Close()
	dialer.Close()
}

// Without a broker every verb fails in time and says so.
func TestBrokerUnavailable(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: net.UnknownNetworkError("none")}
	}
	gw, err := New(DefaultConfig(), dial, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	b := NewBatch()
	b.Records = append(b.Records, kgo.Record{Partition: AnyPartition})
	for verb, err := range map[string]error{
		"produce": gw.Produce(t.Context(), "p", "t", b),
		"read":    func() error { _, _, err := gw.Read(t.Context(), "p", ReadRequest{Topic: "t"}, 0, 0); return err }(),
		"ready":   gw.Ready(t.Context()),
	} {
		if err == nil {
			t.Errorf("%s has no error", verb)
			continue
		}
		if f := FailureOf(err); f.HTTPStatus != 503 || !f.Retriable {
			t.Errorf("%s: %+v", verb, f)
		}
	}
	t.Logf("after %v", time.Since(start))
	if err := gw.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
