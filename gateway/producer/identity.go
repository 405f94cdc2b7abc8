package producer

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// identity is a producer id with its epoch (KIP-98).
type identity struct {
	id    int64
	epoch int16
}

// noIdentity is that of a producer that is not idempotent, and of one that has not asked yet. It is not the zero value, which
// is the identity of somebody.
var noIdentity = identity{-1, -1}

func (i identity) known() bool { return i.id >= 0 }

// identities gives producer ids. All partitions have the same, but for those that had to take another one.
type identities struct {
	client  *kgo.Client
	turn    chan struct{} // holds a token while nobody asks the broker
	current atomic.Pointer[identity]
}

func newIdentities(cl *kgo.Client) *identities {
	s := &identities{client: cl, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// get returns an identity other than spent.
func (s *identities) get(ctx context.Context, spent identity) (identity, error) {
	if id := s.current.Load(); id != nil && *id != spent {
		return *id, nil
	}
	select {
	case <-s.turn:
	case <-ctx.Done():
		return noIdentity, ErrClosed
	}
	defer func() { s.turn <- struct{}{} }()
	if id := s.current.Load(); id != nil && *id != spent {
		return *id, nil
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	resp, err := req.RequestWith(ctx, s.client)
	if err == nil {
		err = Answered(resp.ErrorCode, nil)
	}
	if err != nil {
		return noIdentity, fmt.Errorf("get a producer id: %w", err)
	}
	id := identity{resp.ProducerID, resp.ProducerEpoch}
	s.current.Store(&id)
	return id, nil
}

// spend makes get return another identity from now on.
func (s *identities) spend() { s.current.Store(nil) }
