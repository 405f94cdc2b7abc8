package main

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// endGaps finishes stretches that have nothing left up to their end although
// their last offset was never seen: compaction may have removed the records
// there, and the client delivers no empty batches.
func (r *reading) endGaps(ctx context.Context, cl *kgo.Client) error {
	type place struct {
		topic     string
		partition int32
	}
	var open []place
	for topic, ps := range r.parts {
		for p, s := range ps {
			if s.to >= 0 {
				open = append(open, place{topic, p})
			}
		}
	}
	for _, at := range open {
		s := r.parts[at.topic][at.partition]
		next, err := nextOffset(ctx, cl, at.topic, at.partition, s.from)
		if err != nil {
			return fmt.Errorf("topic %s, partition %d: %w", at.topic, at.partition, err)
		}
		if next >= s.to {
			r.finish(at.topic, at.partition)
			continue
		}
		s.from = next
		r.parts[at.topic][at.partition] = s
	}
	return nil
}

// nextOffset asks the leader what comes at an offset: it answers the offset
// behind an empty batch, the end of what can be read when nothing comes, and
// the offset itself when records do.
func nextOffset(ctx context.Context, cl *kgo.Client, topic string, partition int32, from int64) (int64, error) {
	details, err := kadm.NewClient(cl).ListTopicsWithInternal(ctx, topic)
	if err != nil {
		return 0, err
	}
	d := details[topic]
	p, ok := d.Partitions[partition]
	if !ok {
		return 0, kerr.UnknownTopicOrPartition
	}
	req := kmsg.NewPtrFetchRequest()
	req.MinBytes, req.MaxBytes = 1, 1<<20
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = topic, d.ID
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = partition, from, 1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	answer, err := cl.Broker(int(p.Leader)).RetriableRequest(ctx, req)
	if err != nil {
		return 0, err
	}
	resp := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return 0, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("the broker answered for %d topics instead of one", len(resp.Topics))
	}
	part := resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(part.ErrorCode); err != nil {
		return 0, err
	}
	return behind(part.RecordBatches, from, part.HighWatermark), nil
}

// The places of some fields in a record batch.
const (
	batchLastDelta = 23
	batchCount     = 57
	batchHeader    = 61
)

// behind is the answer of nextOffset for the bytes that came.
func behind(batch []byte, from, highWatermark int64) int64 {
	switch {
	case len(batch) == 0:
		return max(from, highWatermark)
	case len(batch) < batchHeader || binary.BigEndian.Uint32(batch[batchCount:]) != 0:
		return from
	}
	return int64(binary.BigEndian.Uint64(batch)) + int64(binary.BigEndian.Uint32(batch[batchLastDelta:])) + 1
}
