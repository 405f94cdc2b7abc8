package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// awaited is a reply that waits for answers of coordinators.
type awaited struct {
	pending []broker.Pending
	finish  func() kmsg.Response // makes the response of what is there
}

// await answers with what finish makes once all pending answers are there. If the connection ends before, finish finds
// some of them missing: see result.
func await(finish func() kmsg.Response, pending ...broker.Pending) reply {
	return &awaited{pending, finish}
}

func (a *awaited) ready() bool {
	for _, p := range a.pending {
		if !p.Settled() {
			return false
		}
	}
	return true
}

func (a *awaited) wait(ctx context.Context) {
	for _, p := range a.pending {
		select {
		case <-p.Done():
		case <-ctx.Done():
			return
		}
	}
}

func (a *awaited) encode(out *response) error {
	out.bytes = a.finish().AppendTo(out.bytes)
	return nil
}

func (*awaited) release() {}

// result returns an answer of a coordinator, or, where it is missing, what makes clients ask again.
func result[T any](r *broker.CoordinatorReply[T]) (T, error) {
	if !r.Settled() {
		var none T
		return none, broker.ErrCoordinatorNotAvailable
	}
	return r.Result()
}
