package controller

import (
	"context"
	"errors"
	"fmt"
	"math"

	"moldau/broker/metadata"
)

// ProducerIDBlock is a range of producer ids that belongs to one broker.
type ProducerIDBlock struct {
	First int64
	Len   int32
}

// producerIDBlockLen is Kafka's.
const producerIDBlockLen = 1000

// NextProducerIDBlock decides about the next block, given the key that counts them as it stands (an absent key has
// revision 0).
func NextProducerIDBlock(counter metadata.KV) (Plan, ProducerIDBlock, error) {
	var record metadata.ProducerIDsRecord
	if counter.ModRev != 0 {
		if err := metadata.Decode(counter.Value, &record); err != nil {
			return nil, ProducerIDBlock{}, fmt.Errorf("key %s: %w", counter.Key, err)
		}
	}
	if record.Next < 0 || record.Next > math.MaxInt64-producerIDBlockLen {
		return nil, ProducerIDBlock{}, fmt.Errorf("no producer ids left after %d", record.Next)
	}
	block := ProducerIDBlock{First: record.Next, Len: producerIDBlockLen}
	key := metadata.ProducerIDsKey()
	next := metadata.ProducerIDsRecord{Next: record.Next + producerIDBlockLen}
	return Plan{{
		Cmps: []metadata.Cmp{metadata.ModifiedAt(key, counter.ModRev)},
		Ops:  []metadata.Op{metadata.Put(key, metadata.Encode(&next))},
	}}, block, nil
}

// NextProducerIDBlock takes the next block of producer ids. No id is ever given out twice.
func (c *Controller) NextProducerIDBlock(ctx context.Context) (ProducerIDBlock, error) {
	for range attemptsMax {
		counter, _, err := c.store.Get(ctx, metadata.ProducerIDsKey())
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return ProducerIDBlock{}, fmt.Errorf("take producer ids: %w", err)
		}
		plan, block, err := NextProducerIDBlock(counter)
		if err != nil {
			return ProducerIDBlock{}, fmt.Errorf("take producer ids: %w", err)
		}
		result, err := c.store.Txn(ctx, plan[0])
		if err != nil {
			return ProducerIDBlock{}, fmt.Errorf("take producer ids: %w", err)
		}
		if result.Succeeded {
			return block, nil
		}
	}
	return ProducerIDBlock{}, fmt.Errorf("take producer ids: %w", ErrContention)
}
