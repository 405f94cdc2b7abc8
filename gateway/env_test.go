package gateway

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	adminv1 "moldau/gen/moldau/admin/v1"
	datav1 "moldau/gen/moldau/data/v1"
)

// env is a gateway in front of a fake cluster, with its gRPC server.
type env struct {
	t        *testing.T
	cluster  *kfake.Cluster
	gw       *Gateway
	registry *prometheus.Registry
	conn     *grpc.ClientConn
	producer datav1.ProducerServiceClient
	consumer datav1.ConsumerServiceClient
	topics   adminv1.TopicServiceClient
}

func newEnv(t *testing.T, change func(*Config), opts ...kfake.Opt) *env {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, cluster: cluster, registry: prometheus.NewRegistry()}
	cfg := DefaultConfig()
	cfg.BootstrapServers = cluster.ListenAddrs()
	cfg.DeliveryTimeout = 10 * time.Second
	if change != nil {
		change(&cfg)
	}
	if e.gw, err = New(cfg, nil, slog.New(slog.DiscardHandler), e.registry); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- e.gw.GRPCServer().Serve(l) }()
	if e.conn, err = grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	e.producer, e.consumer = datav1.NewProducerServiceClient(e.conn), datav1.NewConsumerServiceClient(e.conn)
	e.topics = adminv1.NewTopicServiceClient(e.conn)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = e.conn.Close()
		if err := e.gw.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		cluster.Close()
	})
	return e
}

func text(s string) *datav1.Payload {
	return &datav1.Payload{Content: &datav1.Payload_Text{Text: s}}
}

func texts(values ...string) []*datav1.Record {
	var out []*datav1.Record
	for _, v := range values {
		out = append(out, &datav1.Record{Value: text(v)})
	}
	return out
}
