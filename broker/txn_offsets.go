package broker

import (
	"context"
	"errors"
	"sync"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
)

// TxnOffsetCommitRequest commits offsets of a group as part of a transaction.
type TxnOffsetCommitRequest struct {
	TransactionalID string
	Producer        Producer
	// Adds says that the client leaves it to the broker to add the group's offsets to the transaction (version 2).
	Adds    bool
	Offsets *OffsetCommitRequest
}

// TxnOffsetCommit commits offsets of a group as part of a producer's transaction: they count once the transaction is
// committed. It returns an error for each offset, or one for all. The transaction coordinator is asked first whether the
// transaction has the group's offsets.
func (n *Node) TxnOffsetCommit(ctx context.Context, c *Caller, r *TxnOffsetCommitRequest) ([]error, error) {
	if r.TransactionalID == "" {
		return nil, ErrInvalidRequest
	}
	if err := n.offsetsTopic.ensure(ctx); err != nil {
		return nil, err
	}
	at := n.offsetsPartition(r.Offsets.Group)
	attempt := n.offsetVerifications.begin(at.Partition, r.Producer)
	defer n.offsetVerifications.end(attempt)
	if err := n.confirmOffsets(ctx, c, r, at); err != nil {
		return nil, err
	}
	reply := coordinator.Ask(n.groups, at.Partition, func(t *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[[]error]) {
		if n.offsetVerifications.stale(attempt) {
			reply.Fail(ErrInvalidTxnState)
			return
		}
		errs, err := s.CommitTxnOffsets(t, r.Producer, r.Offsets)
		send(t, reply, errs, err)
	})
	return reply.Wait(ctx)
}

// confirmOffsets has the transaction coordinator confirm that a producer's transaction has a group's offsets, or add them.
func (n *Node) confirmOffsets(ctx context.Context, c *Caller, r *TxnOffsetCommitRequest, at TxnPartition) error {
	q := AddPartitionsToTxnRequest{ID: r.TransactionalID, Producer: r.Producer, Partitions: []TxnPartition{at}, Version: TxnVersion2}
	if r.Adds {
		_, err := n.AddPartitionsToTxn(c, q).Wait(ctx)
		return confirmError(err)
	}
	errs, err := n.VerifyPartitionsInTxn(c, q).Wait(ctx)
	return confirmError(errors.Join(append(errs, err)...))
}

// EndTxnOffsets ends a producer's transaction in one partition of __consumer_offsets: what TxnOffsetCommit brought counts
// from now on, or never did.
//
// version is the version of the protocol that the transaction follows.
func (n *Node) EndTxnOffsets(index int32, m coordinator.Marker, version int16) *coordinator.Reply[struct{}] {
	return coordinator.Ask(n.groups, index, func(t *coordinator.Turn, _ *group.Shard, reply *coordinator.Reply[struct{}]) {
		n.offsetVerifications.expire(index, m.Producer, version)
		t.End(m)
		reply.Send(t, struct{}{})
	})
}

// offsetVerifications are the commits that wait for the transaction coordinator. A confirmation is worth nothing when a marker
// came in between, else the offsets would open a transaction that nobody ends (KIP-890). The log has the same guard for records of
// clients; that for offsets must be here, because the order of commits and markers is decided by the owner of the groups.
type offsetVerifications struct {
	mu sync.Mutex // around memory only
	by map[offsetProducer]map[*offsetVerification]struct{}
}

// offsetProducer is a producer in one partition of __consumer_offsets.
type offsetProducer struct {
	partition int32
	producer  int64
}

type offsetVerification struct {
	of      offsetProducer
	epoch   int16
	expired bool
}

func (v *offsetVerifications) begin(partition int32, p coordinator.Producer) *offsetVerification {
	a := &offsetVerification{of: offsetProducer{partition, p.ID}, epoch: p.Epoch}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by == nil {
		v.by = map[offsetProducer]map[*offsetVerification]struct{}{}
	}
	if v.by[a.of] == nil {
		v.by[a.of] = map[*offsetVerification]struct{}{}
	}
	v.by[a.of][a] = struct{}{}
	return a
}

func (v *offsetVerifications) end(a *offsetVerification) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if delete(v.by[a.of], a); len(v.by[a.of]) == 0 {
		delete(v.by, a.of)
	}
}

// expire notes a marker. In version 2 the marker of a transaction has the epoch of the next one, whose commits it leaves
// alone.
func (v *offsetVerifications) expire(partition int32, p coordinator.Producer, version int16) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for a := range v.by[offsetProducer{partition, p.ID}] {
		a.expired = a.expired || a.epoch < p.Epoch || a.epoch == p.Epoch && version < TxnVersion2
	}
}

func (v *offsetVerifications) stale(a *offsetVerification) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return a.expired
}
