package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Batch holds the records of one produce call and, after it, their outcomes. It may be used again after Reset, unless
// Abandoned. The bytes of the records belong to the caller and must not change until then.
type Batch struct {
	// Records are what is to be written. Partition is AnyPartition, or the one to use. After the call the records that
	// have no error carry their partition, offset and timestamp.
	Records []kgo.Record
	// ServerTime tells, after the call, that the broker replaced the timestamps by the time of the append, which it
	// does not tell.
	ServerTime bool

	client    *client    // that the records were handed to
	encodings []encoding // what is still JSON and is to be encoded by schemas
	refused   []refusal  // what could not be
	encoded   int64      // the bytes of what was
	slots     []slot
	pending   atomic.Int64
	done      chan struct{} // gets one token when the last record has an outcome
	promise   func(*kgo.Record, error)
	timer     *time.Timer
	abandoned bool
}

// slot leads from a record to its outcome: the record carries it through the client, as its context. That context ends
// with the delivery timeout only, never with the call: the client fails all records of a partition when the context of
// the first one ends, those of other calls too. A partition whose first record has timed out is stuck for all of them.
// The client looks at the context when it tries again, so Done needs no timer. It may look after the outcome is known,
// so a slot is not used twice.
type slot struct {
	due int64 // nanoseconds since 1970
	err error
}

var (
	never  = make(chan struct{})
	closed = func() chan struct{} {
		c := make(chan struct{})
		close(c)
		return c
	}()
)

// Deadline implements context.Context.
func (s *slot) Deadline() (time.Time, bool) { return time.Unix(0, s.due), true }

// Done implements context.Context.
func (s *slot) Done() <-chan struct{} {
	if s.Err() == nil {
		return never
	}
	return closed
}

// Err implements context.Context.
func (s *slot) Err() error {
	if time.Now().UnixNano() < s.due {
		return nil
	}
	return context.DeadlineExceeded
}

// Value implements context.Context.
func (s *slot) Value(any) any { return nil }

// NewBatch returns an empty batch.
func NewBatch() *Batch {
	b := &Batch{done: make(chan struct{}, 1)}
	b.promise = b.settle
	return b
}

// Reset empties the batch for the next call.
func (b *Batch) Reset() {
	clear(b.Records)
	b.Records, b.slots, b.ServerTime = b.Records[:0], nil, false
	b.client, b.encodings, b.refused, b.encoded = nil, nil, nil, 0
}

// Refuse has record i fail with err: it is not sent. It is for records that a door could not make sense of, and is called
// before Produce or Send.
func (b *Batch) Refuse(i int, err error) {
	b.Records[i].Key, b.Records[i].Value = nil, nil // nothing is left to encode
	b.refused = append(b.refused, refusal{i, err})
}

// Abandoned tells that the call ended before all outcomes were known. The batch and the bytes of its records are still
// in use then; leave them to the garbage collector.
func (b *Batch) Abandoned() bool { return b.abandoned }

// Err returns why record i was not written, nil if it was.
func (b *Batch) Err(i int) error {
	if i >= len(b.slots) {
		return nil
	}
	return b.slots[i].err
}

// Failed returns the number of records that were not written.
func (b *Batch) Failed() int {
	n := 0
	for i := range b.slots {
		if b.slots[i].err != nil {
			n++
		}
	}
	return n
}

// prepare makes room for the outcomes, which are due at the deadline.
func (b *Batch) prepare(topic string, deadline time.Time) {
	b.slots = make([]slot, len(b.Records))
	due := deadline.UnixNano()
	for i := range b.Records {
		b.slots[i].due = due
		b.Records[i].Topic = topic
		b.Records[i].Context = &b.slots[i]
	}
	for _, r := range b.refused {
		b.slots[r.record].err = r.err
	}
}

// send hands the records that have no error yet to the client. The outcomes are known when done has a token.
func (b *Batch) send(kafka *kgo.Client) {
	background := context.Background()
	b.pending.Store(int64(len(b.Records)) + 1)
	for i := range b.Records {
		if b.slots[i].err != nil {
			b.countDown()
			continue
		}
		kafka.Produce(background, &b.Records[i], b.promise)
	}
	b.countDown()
}

// settle is called by the client with the outcome of a record.
func (b *Batch) settle(r *kgo.Record, err error) {
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = ErrOutcomeUnknown
		}
		if s, ok := r.Context.(*slot); ok {
			s.err = err
		}
	}
	b.countDown()
}

func (b *Batch) countDown() {
	if b.pending.Add(-1) == 0 {
		b.done <- struct{}{}
	}
}

// await waits until all outcomes are known, or gives the batch up: when ctx ends, or after limit.
func (b *Batch) await(ctx context.Context, limit time.Duration) error {
	select {
	case <-b.done: // a short way for what is fast
		return nil
	default:
	}
	if b.timer == nil {
		b.timer = time.NewTimer(limit)
	} else {
		b.timer.Reset(limit)
	}
	defer b.timer.Stop()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		b.abandoned = true
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, ctx.Err())
	case <-b.timer.C:
		b.abandoned = true
		return ErrOutcomeUnknown
	}
}
