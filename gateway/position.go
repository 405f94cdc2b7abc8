package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/gateway/producer"
)

// Start is where a read begins. The zero value is the earliest record.
type Start struct {
	kind   startKind
	offset int64
	time   time.Time
	cursor string
}

type startKind int8

const (
	fromEarliest startKind = iota
	fromLatest
	fromOffset
	fromTime
	fromCursor
)

// FromEarliest begins at the first record there is, in every partition.
func FromEarliest() Start { return Start{} }

// FromLatest begins behind the last record there is, in every partition.
func FromLatest() Start { return Start{kind: fromLatest} }

// FromOffset begins at an offset of one partition.
func FromOffset(offset int64) Start { return Start{kind: fromOffset, offset: offset} }

// FromTime begins at the first record with this timestamp or a later one, in every partition; behind the last record
// where there is none.
func FromTime(t time.Time) Start { return Start{kind: fromTime, time: t} }

// FromCursor goes on where an earlier read ended.
func FromCursor(text string) Start { return Start{kind: fromCursor, cursor: text} }

// Special timestamps of ListOffsets.
const (
	timestampLatest   = -1
	timestampEarliest = -2
)

// resolve turns a start into a position.
func (s Start) resolve(ctx context.Context, g *Gateway, c *client, t *topic, scope int32) (*cursor, error) {
	if s.kind == fromCursor {
		return s.resume(ctx, g, c, t, scope)
	}
	if scope != allPartitions && int(scope) >= len(t.Leaders) {
		return nil, &producer.BrokerError{
			Kafka: kerr.UnknownTopicOrPartition,
			Text:  fmt.Sprintf("topic %s has no partition %d, it has %d", t.Name, scope, len(t.Leaders)),
		}
	}
	pos := &cursor{topicID: t.ID, scope: scope, first: max(scope, 0), offsets: make([]int64, 1)}
	if scope == allPartitions {
		pos.offsets = make([]int64, len(t.Leaders))
	}
	switch s.kind {
	case fromLatest:
		return pos, c.listOffsets(ctx, t, pos, timestampLatest)
	case fromTime:
		return pos, c.listOffsets(ctx, t, pos, s.time.UnixMilli())
	case fromOffset:
		if len(pos.offsets) > 1 {
			return nil, invalid("partition", "an offset needs a partition: topic %s has %d", t.Name, len(t.Leaders))
		}
		if s.offset < 0 {
			return nil, invalid("from", "an offset is not negative")
		}
		pos.offsets[0] = s.offset
		return pos, nil
	default:
		return pos, c.listOffsets(ctx, t, pos, timestampEarliest)
	}
}

// resume goes on at a cursor. Its partition is the scope; a caller that names another one is told so.
func (s Start) resume(ctx context.Context, g *Gateway, c *client, t *topic, scope int32) (*cursor, error) {
	id, err := c.clusterID(ctx)
	if err != nil {
		return nil, err
	}
	pos, err := g.cursors.parse(id, t.Name, s.cursor)
	if err != nil {
		return nil, err
	}
	if pos.topicID != t.ID {
		return nil, ErrCursorTopic
	}
	if scope != allPartitions && scope != pos.scope {
		return nil, invalid("partition", "the cursor is not one of partition %d alone", scope)
	}
	if pos.scope == allPartitions {
		for len(pos.offsets) < len(t.Leaders) {
			pos.offsets = append(pos.offsets, 0)
		}
		pos.offsets = pos.offsets[:len(t.Leaders)]
	}
	return pos, nil
}

// listOffsets sets the offsets of pos to what the leaders answer for a timestamp.
func (c *client) listOffsets(ctx context.Context, t *topic, pos *cursor, timestamp int64) error {
	missing, err := c.listOffsetsOnce(ctx, t, pos, timestamp)
	if err != nil || len(missing) == 0 {
		return err
	}
	// No record is that young: such a partition is read from its end on.
	for i := range missing {
		missing[i].Timestamp = timestampLatest
	}
	_, err = c.askOffsets(ctx, t, pos, missing)
	return err
}

func (c *client) listOffsetsOnce(ctx context.Context, t *topic, pos *cursor, timestamp int64) ([]kmsg.ListOffsetsRequestTopicPartition, error) {
	all := make([]kmsg.ListOffsetsRequestTopicPartition, len(pos.offsets))
	for i := range all {
		all[i] = kmsg.NewListOffsetsRequestTopicPartition()
		all[i].Partition, all[i].Timestamp = pos.partition(i), timestamp
	}
	return c.askOffsets(ctx, t, pos, all)
}

// askOffsets asks for the offsets of some partitions and returns those that had no answer to their timestamp.
func (c *client) askOffsets(ctx context.Context, t *topic, pos *cursor, ask []kmsg.ListOffsetsRequestTopicPartition) ([]kmsg.ListOffsetsRequestTopicPartition, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic, rt.Partitions = t.Name, ask
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, c.kafka)
	if err != nil {
		return nil, fmt.Errorf("list offsets of topic %s: %w", t.Name, err)
	}
	answers := make(map[int32]kmsg.ListOffsetsResponseTopicPartition, len(ask))
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			answers[p.Partition] = p
		}
	}
	var missing []kmsg.ListOffsetsRequestTopicPartition
	for _, q := range ask {
		p, ok := answers[q.Partition]
		if !ok {
			return nil, fmt.Errorf("list offsets of topic %s: no answer for partition %d", t.Name, q.Partition)
		}
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return nil, fmt.Errorf("list offsets of topic %s, partition %d: %w", t.Name, q.Partition, err)
		}
		if p.Offset < 0 {
			missing = append(missing, q)
			continue
		}
		pos.offsets[pos.index(q.Partition)] = p.Offset
	}
	return missing, nil
}

// partition returns the partition that the offset with index i belongs to.
func (c *cursor) partition(i int) int32 {
	if c.scope == allPartitions {
		return int32(i) //nolint:gosec // a partition
	}
	return c.scope
}

// index returns the index of the offset of a partition.
func (c *cursor) index(partition int32) int {
	if c.scope == allPartitions {
		return int(partition)
	}
	return 0
}
