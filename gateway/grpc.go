package gateway

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	adminv1 "moldau/gen/moldau/admin/v1"
	datav1 "moldau/gen/moldau/data/v1"
)

const (
	grpcMaxHeader = 16 << 10
	// grpcMaxAge makes clients connect again now and then, so that load balancers even out.
	grpcMaxAge      = 30 * time.Minute
	grpcMaxAgeGrace = 5 * time.Minute
	grpcMinPing     = 10 * time.Second
	grpcIdle        = 10 * time.Minute
)

// newServer makes the gRPC server with every service.
func newServer(g *Gateway) *grpc.Server {
	in := newInterceptor(g)
	s := grpc.NewServer(
		grpc.MaxRecvMsgSize(g.cfg.MaxGRPCBytes),
		grpc.MaxConcurrentStreams(uint32(g.cfg.MaxGRPCStreams)), //nolint:gosec // positive
		grpc.MaxHeaderListSize(grpcMaxHeader),
		grpc.ConnectionTimeout(5*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: grpcIdle, MaxConnectionAge: grpcMaxAge, MaxConnectionAgeGrace: grpcMaxAgeGrace,
			Time: time.Minute, Timeout: 20 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: grpcMinPing, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(in.unary),
		grpc.StreamInterceptor(in.stream),
	)
	register(s, g)
	grpc_health_v1.RegisterHealthServer(s, &healthService{g: g})
	reflection.Register(s)
	in.prepare(s)
	return s
}

// register registers the services that have a contract of ours.
func register(r grpc.ServiceRegistrar, g *Gateway) {
	datav1.RegisterProducerServiceServer(r, &producerService{g: g})
	datav1.RegisterConsumerServiceServer(r, &consumerService{g: g})
	adminv1.RegisterTopicServiceServer(r, &topicService{g: g})
}

// interceptor stands before every call: it counts, turns errors into statuses and keeps a panic from ending the process.
type interceptor struct {
	g          *Gateway
	operations map[string]*Operation // by full method name
}

func newInterceptor(g *Gateway) *interceptor { return &interceptor{g: g} }

// prepare makes the counters of every method of s. Names that a peer invents have none.
func (in *interceptor) prepare(s *grpc.Server) {
	in.operations = make(map[string]*Operation)
	for service, info := range s.GetServiceInfo() {
		for _, m := range info.Methods {
			full := "/" + service + "/" + m.Name
			in.operations[full] = in.g.Operation("grpc", path.Base(full))
		}
	}
}

func (in *interceptor) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	start := time.Now()
	defer func() {
		err = in.outcome(recover(), info.FullMethod, err)
		if op := in.operations[info.FullMethod]; op != nil {
			op.Done(start, CodeName(status.Code(err)))
		}
	}()
	return next(ctx, req)
}

func (in *interceptor) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		err = in.outcome(recover(), info.FullMethod, err)
		if op := in.operations[info.FullMethod]; op != nil {
			op.Streamed(CodeName(status.Code(err)))
		}
	}()
	if !strings.HasPrefix(info.FullMethod, "/grpc.reflection.") {
		return next(srv, ss)
	}
	// A reflection stream is idle most of the time and doesn't know of Close, which must not wait for it.
	done := make(chan error, 1)
	go func() { done <- next(srv, ss) }() // ends with the stream, at the latest when this method returns
	select {
	case err := <-done:
		return err
	case <-in.g.ctx.Done():
		return ErrClosed
	}
}

// outcome returns what the caller is told.
func (in *interceptor) outcome(panicked any, method string, err error) error {
	if panicked != nil {
		in.g.logger.Error("a call panicked", "method", method, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		return status.Error(codes.Internal, "internal error")
	}
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	return statusError(err)
}

// healthService answers by asking the broker: a gateway that can't reach one does not serve.
type healthService struct {
	grpc_health_v1.UnimplementedHealthServer
	g *Gateway
}

const (
	healthTimeout  = time.Second
	healthInterval = 5 * time.Second
)

func (h *healthService) known(service string) bool {
	_, ok := h.g.server.GetServiceInfo()[service]
	return ok || service == ""
}

func (h *healthService) now(ctx context.Context) grpc_health_v1.HealthCheckResponse_ServingStatus {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if h.g.ctx.Err() != nil || h.g.Ready(ctx) != nil {
		return grpc_health_v1.HealthCheckResponse_NOT_SERVING
	}
	return grpc_health_v1.HealthCheckResponse_SERVING
}

// Check implements the health service.
func (h *healthService) Check(ctx context.Context, q *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if !h.known(q.GetService()) {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	return &grpc_health_v1.HealthCheckResponse{Status: h.now(ctx)}, nil
}

// Watch implements the health service: it tells the present state, then each change.
func (h *healthService) Watch(q *grpc_health_v1.HealthCheckRequest, ss grpc.ServerStreamingServer[grpc_health_v1.HealthCheckResponse]) error {
	state := func() grpc_health_v1.HealthCheckResponse_ServingStatus {
		if !h.known(q.GetService()) {
			return grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN
		}
		return h.now(ss.Context())
	}
	tick := time.NewTicker(healthInterval)
	defer tick.Stop()
	last := grpc_health_v1.HealthCheckResponse_UNKNOWN
	for {
		if now := state(); now != last {
			last = now
			if err := ss.Send(&grpc_health_v1.HealthCheckResponse{Status: now}); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ss.Context().Done():
			return ss.Context().Err()
		case <-h.g.ctx.Done():
			return ErrClosed
		}
	}
}

// List implements the health service.
func (h *healthService) List(ctx context.Context, _ *grpc_health_v1.HealthListRequest) (*grpc_health_v1.HealthListResponse, error) {
	resp := &grpc_health_v1.HealthListResponse{Statuses: map[string]*grpc_health_v1.HealthCheckResponse{}}
	now := h.now(ctx)
	for service := range h.g.server.GetServiceInfo() {
		resp.Statuses[service] = &grpc_health_v1.HealthCheckResponse{Status: now}
	}
	return resp, nil
}

// principal returns the principal of a gRPC call.
func (g *Gateway) principal(context.Context) string { return g.cfg.Principal }

// ended tells whether an error of a stream only says that the client is done.
func ended(ctx context.Context, err error) bool { return ctx.Err() != nil && errors.Is(err, ctx.Err()) }
