package gateway

import (
	"context"
	"fmt"
	"time"

	"moldau/gateway/producer"
)

// Batch holds the records of one produce call and, after it, their outcomes. It may be used again after Reset, unless
// Abandoned. The bytes of the records belong to the caller and must not change until then.
type Batch struct {
	// Call holds the records. Their Partition is AnyPartition, or the one to use. After the call the records that have no
	// error carry their partition, offset and timestamp: the zero time where the broker set one that it did not tell.
	producer.Call

	client    *client       // that the records were handed to
	encodings []encoding    // what is still JSON and is to be encoded by schemas
	encoded   int64         // the bytes of what was
	done      chan struct{} // gets one token when the last record has an outcome
	timer     *time.Timer
	abandoned bool
}

// NewBatch returns an empty batch.
func NewBatch() *Batch {
	b := &Batch{done: make(chan struct{}, 1)}
	b.Done = func() { b.done <- struct{}{} }
	return b
}

// Reset empties the batch for the next call.
func (b *Batch) Reset() {
	b.Call.Reset()
	b.client, b.encodings, b.encoded = nil, nil, 0
}

// Refuse has record i fail with err: it is not sent. It is for records that a door could not make sense of, and is called
// before Produce or Send.
func (b *Batch) Refuse(i int, err error) {
	b.Records[i].Key, b.Records[i].Value = nil, nil // nothing is left to encode
	b.Call.Refuse(i, err)
}

// Abandoned tells that the call ended before all outcomes were known. The batch and the bytes of its records are still
// in use then; leave them to the garbage collector.
func (b *Batch) Abandoned() bool { return b.abandoned }

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
