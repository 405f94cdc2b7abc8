package gateway

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	datav1 "moldau/gen/moldau/data/v1"
)

// streamWindow is how many batches of a ProduceStream may be under way at a time.
const streamWindow = 16

// producerService serves moldau.data.v1.ProducerService.
type producerService struct {
	datav1.UnimplementedProducerServiceServer
	g *Gateway
}

// Produce implements the service.
func (s *producerService) Produce(ctx context.Context, q *datav1.ProduceRequest) (*datav1.ProduceResponse, error) {
	b := NewBatch()
	size, err := b.fromProto(q.GetRecords())
	if err != nil {
		return nil, err
	}
	if err := s.g.Reserve(size); err != nil {
		return nil, err
	}
	defer s.g.Unreserve(size)
	if err := s.g.Produce(ctx, s.g.principal(ctx), q.GetTopic(), b); err != nil {
		return nil, err
	}
	return &datav1.ProduceResponse{Results: b.results()}, nil
}

// sent is a batch of a stream that waits for its outcomes, or was refused.
type sent struct {
	sequence int64
	batch    *Batch
	size     int64
	err      error
}

// ProduceStream implements the service. One goroutine receives and hands to the broker, and waits when the window is
// full; this one answers, in the order of the batches. When the gateway closes, what was received is still answered.
func (s *producerService) ProduceStream(ss grpc.BidiStreamingServer[datav1.ProduceStreamRequest, datav1.ProduceStreamResponse]) error {
	ctx, cancel := context.WithCancel(ss.Context())
	defer cancel()
	window := make(chan sent, streamWindow-1) // and one in the hands of the goroutine that answers
	received := make(chan error, 1)
	go func() { // ends with the stream, at the latest when this method returns
		received <- s.receive(ctx, ss, window)
		close(window)
	}()
	if err := s.answer(ctx, ss, window); err != nil {
		go func() { // ends when the goroutine that receives has
			for b := range window {
				s.settle(ctx, &b)
			}
		}()
		return err
	}
	return <-received
}

// receive takes batches until the client is done, and hands them to the broker.
func (s *producerService) receive(ctx context.Context, ss grpc.BidiStreamingServer[datav1.ProduceStreamRequest, datav1.ProduceStreamResponse], window chan<- sent) error {
	topic := ""
	for {
		q, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if q.GetTopic() != "" {
			topic = q.GetTopic()
		}
		b := s.send(ctx, topic, q)
		select {
		case window <- b:
		case <-ctx.Done():
			s.settle(ctx, &b)
			return ctx.Err()
		}
	}
}

// send hands one batch to the broker.
func (s *producerService) send(ctx context.Context, topic string, q *datav1.ProduceStreamRequest) sent {
	out := sent{sequence: q.GetSequence(), batch: NewBatch()}
	var size int64
	if size, out.err = out.batch.fromProto(q.GetRecords()); out.err != nil {
		return out
	}
	if out.err = s.g.Reserve(size); out.err != nil {
		return out
	}
	out.size = size
	out.err = s.g.Send(ctx, s.g.principal(ctx), topic, out.batch)
	return out
}

// settle waits for the outcomes of a batch and gives back what it holds.
func (s *producerService) settle(ctx context.Context, b *sent) {
	if b.err == nil {
		b.err = s.g.Finish(ctx, b.batch)
	}
	s.g.Unreserve(b.size)
}

// answer tells the outcomes until there are no more, the client no longer takes them, or the gateway closes.
func (s *producerService) answer(ctx context.Context, ss grpc.BidiStreamingServer[datav1.ProduceStreamRequest, datav1.ProduceStreamResponse], window <-chan sent) error {
	closing := s.g.ctx.Done()
	for {
		select {
		case b, ok := <-window:
			if !ok {
				return nil
			}
			if err := s.tell(ctx, ss, &b); err != nil {
				return err
			}
		case <-closing:
			if len(window) == 0 {
				return ErrClosed
			}
			closing = nil // look again when one more is answered
		}
		if closing == nil && len(window) == 0 {
			return ErrClosed
		}
	}
}

// tell sends the outcomes of one batch.
func (s *producerService) tell(ctx context.Context, ss grpc.BidiStreamingServer[datav1.ProduceStreamRequest, datav1.ProduceStreamResponse], b *sent) error {
	s.settle(ctx, b)
	resp := &datav1.ProduceStreamResponse{Sequence: b.sequence}
	if b.err != nil {
		f := FailureOf(b.err)
		resp.Error = f.Status().Proto()
	} else {
		resp.Results = b.batch.results()
	}
	return ss.Send(resp)
}
