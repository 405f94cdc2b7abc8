package kafka

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/metadata"
)

// door is a real node behind a real listener.
type door struct {
	testing.TB
	node     *broker.Node
	srv      *Server
	addr     string
	registry *prometheus.Registry
}

// open starts a node with its Kafka door on a free port of loopback, and closes both with the test.
func open(t testing.TB, change ...func(*broker.Config, *Config)) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	nodeConfig, config := broker.DefaultConfig(), DefaultConfig()
	nodeConfig.DataDir = t.TempDir()
	nodeConfig.Endpoints = []metadata.Endpoint{{Name: "PLAINTEXT", Host: "127.0.0.1", Port: int32(port), SecurityProtocol: "PLAINTEXT"}}
	for _, f := range change {
		f(&nodeConfig, &config)
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	d := &door{TB: t, addr: l.Addr().String(), registry: prometheus.NewRegistry()}
	if d.node, err = broker.Start(t.Context(), nodeConfig, broker.Deps{Logger: logger, Registerer: d.registry}); err != nil {
		t.Fatal(err)
	}
	if d.srv, err = New(config, d.node, logger, d.registry); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.srv.Serve(l, "PLAINTEXT", "PLAINTEXT") }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // under the race detector on a busy machine 20 s were too few
		defer cancel()
		if err := errors.Join(d.srv.Close(ctx), d.node.Close(ctx)); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return d
}

// client connects a franz-go client.
func (d *door) client(opts ...kgo.Opt) *kgo.Client {
	d.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(d.addr), kgo.AllowAutoTopicCreation()}, opts...)...)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(c.Close)
	return c
}

// wire connects a peer that speaks in single requests of any version.
func (d *door) wire() *wire {
	d.Helper()
	nc, err := net.Dial("tcp", d.addr)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = nc.Close() })
	return &wire{TB: d.TB, peer: &peer{harness: &harness{TB: d.TB, log: new(lockedBuffer)}, Conn: nc}}
}

// wire is a peer that speaks in kmsg's structs.
type wire struct {
	testing.TB
	peer        *peer
	correlation int32
}

// send sends a request without waiting for its answer.
func (w *wire) send(q kmsg.Request) {
	w.Helper()
	w.correlation++
	if _, err := w.peer.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("wire")).AppendRequest(nil, q, w.correlation)); err != nil {
		w.Fatal(err)
	}
}

// receive reads the answer to a request that was sent.
func (w *wire) receive(q kmsg.Request, correlation int32) kmsg.Response {
	w.Helper()
	got, body := w.peer.read()
	if got != correlation {
		w.Fatalf("answer to request %d, want %d", got, correlation)
	}
	resp := q.ResponseKind()
	if resp.IsFlexible() && resp.Key() != 18 {
		body = body[1:]
	}
	if err := resp.ReadFrom([]byte(body)); err != nil {
		w.Fatalf("%s version %d: %v", kmsg.NameForKey(q.Key()), q.GetVersion(), err)
	}
	if again := resp.AppendTo(nil); string(again) != body {
		w.Errorf("%s version %d: the answer has bytes that nobody reads", kmsg.NameForKey(q.Key()), q.GetVersion())
	}
	return resp
}

// ask sends a request and reads its answer.
func ask[R kmsg.Response](w *wire, q kmsg.Request) R {
	w.Helper()
	w.send(q)
	return w.receive(q, w.correlation).(R)
}

// createTopic makes a topic as clients do, and returns its id.
func (w *wire) createTopic(name string) [16]byte {
	w.Helper()
	q := kmsg.NewPtrMetadataRequest()
	q.Version, q.AllowAutoTopicCreation = 12, true
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &name
	q.Topics = append(q.Topics, rt)
	resp := ask[*kmsg.MetadataResponse](w, q)
	if topic := resp.Topics[0]; topic.ErrorCode != 0 || len(topic.Partitions) == 0 {
		w.Fatalf("creating %s: %+v", name, topic)
	}
	return resp.Topics[0].TopicID
}
