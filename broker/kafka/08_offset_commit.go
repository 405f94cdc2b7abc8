package kafka

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// OffsetCommit (key 8), versions 2 to 10. Versions 0 and 1 are of the time before consumer groups, and gone from Kafka 4.
//
// 2 to 4: a retention time. 6: leader epochs (KIP-320). 7: instance ids (KIP-345). 8: flexible. 9: GROUP_ID_NOT_FOUND and
// member epochs (KIP-848). 10: topic ids (KIP-848).

// offsetCommit keeps the offsets of existing partitions.
func (c *conn) offsetCommit(_ context.Context, r *request, q *kmsg.OffsetCommitRequest) reply {
	ask := &broker.OffsetCommitRequest{Group: q.Group, Generation: q.Generation, MemberID: q.MemberID, InstanceID: q.InstanceID, KnowsEpochs: q.Version >= 9, Retention: -1}
	if q.Version <= 4 && q.RetentionTimeMillis >= 0 {
		ask.Retention = time.Duration(min(q.RetentionTimeMillis, maxRetentionMillis)) * time.Millisecond
	}
	resp := q.ResponseKind().(*kmsg.OffsetCommitResponse)
	var slots []*kmsg.OffsetCommitResponseTopicPartition // of ask.Offsets
	for i := range q.Topics {
		t := &q.Topics[i]
		if len(t.Partitions) == 0 {
			continue // as in Apache Kafka
		}
		out := kmsg.NewOffsetCommitResponseTopic()
		out.Topic, out.TopicID = t.Topic, t.TopicID
		out.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		name, id, partitions, err := c.committedTopic(q.Version, t.Topic, t.TopicID)
		for j := range t.Partitions {
			p, po := &t.Partitions[j], &out.Partitions[j]
			po.Partition = p.Partition
			switch {
			case err != nil:
				po.ErrorCode = code(err)
			case p.Partition < 0 || int(p.Partition) >= partitions:
				po.ErrorCode = code(broker.ErrUnknownTopicOrPartition)
			default:
				ask.Offsets = append(ask.Offsets, broker.PartitionOffset{
					Topic: name, TopicID: id, Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: text(p.Metadata),
				})
				slots = append(slots, po)
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	if len(ask.Offsets) == 0 {
		return answer(resp)
	}
	got := c.node.OffsetCommit(r.caller, ask)
	return await(func() kmsg.Response {
		errs, err := result(got)
		if errors.Is(err, broker.ErrGroupNotFound) && q.Version < 9 {
			err = broker.ErrIllegalGeneration
		}
		for i, slot := range slots {
			if err != nil {
				slot.ErrorCode = code(err)
			} else {
				slot.ErrorCode = code(errs[i])
			}
		}
		return resp
	}, got)
}

// maxRetentionMillis keeps times within what can be counted: about 30 years.
const maxRetentionMillis = int64(1e12)

// committedTopic finds the topic of a request that names topics by name, or from version 10 on by id.
func (c *conn) committedTopic(version int16, name string, id [16]byte) (found string, foundID [16]byte, partitions int, err error) {
	return c.topicOf(version >= 10, name, id)
}

// topicOf finds a topic by name, or by id.
func (c *conn) topicOf(byID bool, name string, id [16]byte) (found string, foundID [16]byte, partitions int, err error) {
	img := c.node.Image()
	if !byID {
		t, ok := img.Topic(name)
		if !ok {
			return "", id, 0, broker.ErrUnknownTopicOrPartition
		}
		return t.Name, t.ID, len(t.Partitions), nil
	}
	t, ok := img.TopicByID(id)
	if !ok {
		return "", id, 0, broker.ErrUnknownTopicID
	}
	return t.Name, t.ID, len(t.Partitions), nil
}

// text is a string that may be null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return strings.Clone(*s)
}
