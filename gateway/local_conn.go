package gateway

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// localConn calls the unary methods of the gRPC services without a connection: the HTTP door reaches the administrative
// ones through it, with the interceptor before them as for every other caller. Streams are served by package rest.
type localConn struct {
	methods     map[string]localMethod // by full method name
	interceptor grpc.UnaryServerInterceptor
}

type localMethod struct {
	impl any
	desc grpc.MethodDesc
}

var _ grpc.ClientConnInterface = (*localConn)(nil)

// LocalConn returns a connection to the gateway's own unary gRPC methods.
func (g *Gateway) LocalConn() grpc.ClientConnInterface {
	in := newInterceptor(g)
	in.prepare(g.server)
	c := &localConn{methods: make(map[string]localMethod), interceptor: in.unary}
	register(c, g)
	return c
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *localConn) RegisterService(desc *grpc.ServiceDesc, impl any) {
	for _, m := range desc.Methods {
		c.methods["/"+desc.ServiceName+"/"+m.MethodName] = localMethod{impl, m}
	}
}

// Invoke implements grpc.ClientConnInterface.
func (c *localConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	m, ok := c.methods[method]
	if !ok {
		return status.Errorf(codes.Unimplemented, "unknown method %s", method)
	}
	if md, ok := metadata.FromOutgoingContext(ctx); ok {
		ctx = metadata.NewIncomingContext(ctx, md)
	}
	ts := &localStream{method: method}
	ctx = grpc.NewContextWithServerTransportStream(ctx, ts)
	resp, err := m.desc.Handler(m.impl, ctx, func(req any) error { return copyMessage(req, args) }, c.interceptor)
	for _, opt := range opts {
		switch o := opt.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = ts.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = ts.trailer
		}
	}
	if err != nil {
		return err
	}
	return copyMessage(reply, resp)
}

// NewStream implements grpc.ClientConnInterface; no HTTP route leads to a stream of gRPC.
func (c *localConn) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Errorf(codes.Unimplemented, "%s streams, which a call within the process can't", method)
}

// copyMessage copies a message, so that caller and handler never share one.
func copyMessage(dst, src any) error {
	d, ok1 := dst.(proto.Message)
	s, ok2 := src.(proto.Message)
	if !ok1 || !ok2 {
		return fmt.Errorf("copy %T to %T: not messages", src, dst)
	}
	proto.Merge(d, s)
	return nil
}

// localStream gathers the header and trailer that a handler sets.
type localStream struct {
	method string

	mu              sync.Mutex
	header, trailer metadata.MD
}

// Method implements grpc.ServerTransportStream.
func (s *localStream) Method() string { return s.method }

// SetHeader implements grpc.ServerTransportStream.
func (s *localStream) SetHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = joined(s.header, md)
	return nil
}

// SendHeader implements grpc.ServerTransportStream.
func (s *localStream) SendHeader(md metadata.MD) error { return s.SetHeader(md) }

// SetTrailer implements grpc.ServerTransportStream.
func (s *localStream) SetTrailer(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trailer = joined(s.trailer, md)
	return nil
}

func joined(a, b metadata.MD) metadata.MD {
	out := maps.Clone(a)
	if out == nil {
		out = metadata.MD{}
	}
	for name, values := range b {
		out[name] = append(out[name], values...)
	}
	return out
}
