package coordinator

import (
	"context"
	"sync/atomic"
)

// Reply is an answer that one caller waits for. It is settled once; what comes later is dropped. It may be settled and
// waited for from any goroutine.
type Reply[T any] struct {
	done    chan struct{} // closed by who settles it
	settled atomic.Bool
	value   T
	err     error
}

// NewReply returns a reply that is not settled.
func NewReply[T any]() *Reply[T] { return &Reply[T]{done: make(chan struct{})} }

// Answered returns a reply that is settled.
func Answered[T any](v T, err error) *Reply[T] {
	r := NewReply[T]()
	r.settle(v, err)
	return r
}

// Send answers with v when everything that the turn's shard has replayed so far is committed.
func (r *Reply[T]) Send(t *Turn, v T) {
	t.After(func(err error) {
		if err != nil {
			r.Fail(err)
			return
		}
		r.SendNow(v)
	})
}

// SendNow answers with v at once: for what says nothing about durable state.
func (r *Reply[T]) SendNow(v T) { r.settle(v, nil) }

// Fail answers with an error at once.
func (r *Reply[T]) Fail(err error) {
	var none T
	r.settle(none, err)
}

func (r *Reply[T]) settle(v T, err error) {
	if r.settled.Swap(true) {
		return
	}
	r.value, r.err = v, err
	close(r.done)
}

// Settled tells whether Result has the answer.
func (r *Reply[T]) Settled() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Done is closed when Result has the answer.
func (r *Reply[T]) Done() <-chan struct{} { return r.done }

// Result returns the answer. Done must be closed.
func (r *Reply[T]) Result() (T, error) { return r.value, r.err }

// Wait returns the answer, or the error of ctx if that ends before.
func (r *Reply[T]) Wait(ctx context.Context) (T, error) {
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
