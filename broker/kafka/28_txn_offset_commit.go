package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// TxnOffsetCommit (key 28), versions 0 to 6.
//
// 2: leader epochs (KIP-320). 3: flexible, member and generation (KIP-447). 4: TRANSACTION_ABORTABLE. 5: transactions v2: the
// broker adds the group's offsets to the transaction (KIP-890). 6: topic ids, GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH (KIP-1319).

// txnOffsetCommit keeps the offsets of existing partitions until the transaction is ended.
func (c *conn) txnOffsetCommit(ctx context.Context, r *request, q *kmsg.TxnOffsetCommitRequest) reply {
	offsets := &broker.OffsetCommitRequest{Group: q.Group, Generation: q.Generation, MemberID: q.MemberID, InstanceID: q.InstanceID, Retention: -1}
	resp := q.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
	var slots []*kmsg.TxnOffsetCommitResponseTopicPartition // of offsets
	for i := range q.Topics {
		t := &q.Topics[i]
		out := kmsg.NewTxnOffsetCommitResponseTopic()
		out.Topic, out.TopicID = t.Topic, t.TopicID
		out.Partitions = make([]kmsg.TxnOffsetCommitResponseTopicPartition, len(t.Partitions))
		name, id, partitions, err := c.topicOf(q.Version >= 6, t.Topic, t.TopicID)
		for j := range t.Partitions {
			p, po := &t.Partitions[j], &out.Partitions[j]
			po.Partition = p.Partition
			switch {
			case err != nil:
				po.ErrorCode = code(err)
			case p.Partition < 0 || int(p.Partition) >= partitions:
				po.ErrorCode = code(broker.ErrUnknownTopicOrPartition)
			default:
				offsets.Offsets = append(offsets.Offsets, broker.PartitionOffset{
					Topic: name, TopicID: id, Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: text(p.Metadata),
				})
				slots = append(slots, po)
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	if len(slots) == 0 {
		return answer(resp)
	}
	c.whileWaiting(controlPlane, func() {
		errs, err := c.node.TxnOffsetCommit(ctx, r.caller, &broker.TxnOffsetCommitRequest{
			TransactionalID: q.TransactionalID, Producer: broker.Producer{ID: q.ProducerID, Epoch: q.ProducerEpoch},
			Adds: q.Version >= 5, Offsets: offsets,
		})
		for i, slot := range slots {
			why := err
			if why == nil {
				why = errs[i]
			}
			slot.ErrorCode = code(txnCommitError(why, q.Version))
		}
	})
	return answer(resp)
}

// txnCommitError is what a version of TxnOffsetCommit may say: what went wrong on the way to the transaction coordinator is
// for the group's coordinator to try again.
func txnCommitError(err error, version int16) error {
	switch {
	case errors.Is(err, broker.ErrCoordinatorLoading) && version < 2: // older clients stumble over it (KAFKA-7296)
		return broker.ErrCoordinatorNotAvailable
	case errors.Is(err, broker.ErrConcurrentTransactions) && version < 5:
		return broker.ErrCoordinatorNotAvailable
	case errors.Is(err, broker.ErrTransactionAbortable) && version < 4:
		return broker.ErrInvalidTxnState
	case (errors.Is(err, broker.ErrStaleMemberEpoch) || errors.Is(err, broker.ErrGroupNotFound)) && version < 6:
		return broker.ErrIllegalGeneration
	}
	return err
}
