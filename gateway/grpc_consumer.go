package gateway

import (
	"context"
	"time"

	"google.golang.org/grpc"

	datav1 "moldau/gen/moldau/data/v1"
)

const (
	// tailChunk is how many records one message of a Tail holds at most.
	tailChunk = 500
	// tailWait is how long a Tail waits before it looks again whether it is still wanted.
	tailWait = 30 * time.Second
)

// consumerService serves moldau.data.v1.ConsumerService.
type consumerService struct {
	datav1.UnimplementedConsumerServiceServer
	g *Gateway
}

func readRequest(topic string, partition *int32, s *datav1.Start, def Start) (ReadRequest, error) {
	q := ReadRequest{Topic: topic, Partition: AnyPartition}
	if partition != nil {
		if q.Partition = *partition; q.Partition < 0 {
			return q, invalid("partition", "must not be negative")
		}
	}
	var err error
	q.Start, err = start(s, def)
	return q, err
}

// Read implements the service.
func (s *consumerService) Read(ctx context.Context, q *datav1.ReadRequest) (*datav1.ReadResponse, error) {
	req, err := readRequest(q.GetTopic(), q.Partition, q.GetStart(), FromEarliest())
	if err != nil {
		return nil, err
	}
	wait := time.Duration(0)
	if q.GetWait() != nil {
		if err := q.GetWait().CheckValid(); err != nil {
			return nil, invalid("wait", "%v", err)
		}
		wait = q.GetWait().AsDuration()
	}
	records, cursor, err := s.g.Read(ctx, s.g.principal(ctx), req, int(q.GetLimit()), wait)
	if err != nil {
		return nil, err
	}
	return &datav1.ReadResponse{Records: s.g.toProtos(ctx, records, q.GetKeyFormat(), q.GetValueFormat()), Cursor: cursor}, nil
}

// Tail implements the service.
func (s *consumerService) Tail(q *datav1.TailRequest, ss grpc.ServerStreamingServer[datav1.TailResponse]) error {
	ctx := ss.Context()
	req, err := readRequest(q.GetTopic(), q.Partition, q.GetStart(), FromLatest())
	if err != nil {
		return err
	}
	r, err := s.g.Open(ctx, s.g.principal(ctx), req)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := ss.Send(&datav1.TailResponse{Cursor: r.Cursor()}); err != nil {
		return err
	}
	for {
		records, err := r.Next(ctx, tailChunk, tailWait)
		if ended(ctx, err) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(records) == 0 {
			continue
		}
		resp := &datav1.TailResponse{Records: s.g.toProtos(ctx, records, q.GetKeyFormat(), q.GetValueFormat()), Cursor: r.Cursor()}
		if err := ss.Send(resp); err != nil {
			return err
		}
	}
}
