package gateway

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	adminv1 "moldau/gen/moldau/admin/v1"
)

func TestLocalConn(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	conn := e.gw.LocalConn()
	client := adminv1.NewTopicServiceClient(conn)
	q := &adminv1.GetTopicRequest{Topic: "t"}
	got, err := client.GetTopic(t.Context(), q)
	if err != nil || got.Topic.Name != "t" || q.Topic != "t" {
		t.Errorf("%v, %v", got, err)
	}
	_, err = client.GetTopic(t.Context(), &adminv1.GetTopicRequest{Topic: "nope"})
	wantError(t, err, codes.NotFound, "UNKNOWN_TOPIC_OR_PARTITION")
	if err := conn.Invoke(t.Context(), "/no.Service/Method", q, got); status.Code(err) != codes.Unimplemented {
		t.Errorf("%v", err)
	}
	if _, err := conn.NewStream(t.Context(), nil, "/moldau.data.v1.ConsumerService/Tail"); status.Code(err) != codes.Unimplemented {
		t.Errorf("%v", err)
	}
	if got := e.metric("moldau_gateway_requests_total", map[string]string{"operation": "GetTopic", "code": "NOT_FOUND"}); got != 1 {
		t.Errorf("the interceptor is passed by: %v", got)
	}
}

// What a handler is sent as metadata, and what it sets as header and trailer, arrives.
func TestLocalConnMetadata(t *testing.T) {
	e := newEnv(t, nil)
	c := e.gw.LocalConn().(*localConn)
	c.methods["/x/Y"] = localMethod{desc: grpc.MethodDesc{Handler: func(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(adminv1.GetTopicRequest)
		if err := dec(in); err != nil {
			return nil, err
		}
		md, _ := metadata.FromIncomingContext(ctx)
		if err := grpc.SetHeader(ctx, metadata.Pairs("h", md.Get("in")[0])); err != nil {
			return nil, err
		}
		if err := grpc.SendHeader(ctx, metadata.Pairs("h", "2")); err != nil {
			return nil, err
		}
		if method, _ := grpc.Method(ctx); method != "/x/Y" {
			t.Errorf("method %s", method)
		}
		return in, grpc.SetTrailer(ctx, metadata.Pairs("t", "3"))
	}}}
	var header, trailer metadata.MD
	ctx := metadata.AppendToOutgoingContext(t.Context(), "in", "1")
	out := new(adminv1.GetTopicRequest)
	if err := c.Invoke(ctx, "/x/Y", &adminv1.GetTopicRequest{Topic: "a"}, out, grpc.Header(&header), grpc.Trailer(&trailer)); err != nil {
		t.Fatal(err)
	}
	if h := header.Get("h"); out.Topic != "a" || len(h) != 2 || h[0] != "1" || h[1] != "2" || trailer.Get("t")[0] != "3" {
		t.Errorf("%v, %v, %v", out, header, trailer)
	}
	if err := c.Invoke(ctx, "/x/Y", "no message", out); err == nil {
		t.Error("a string was taken for a message")
	}
}
