package broker

import (
	"cmp"
	"context"
	"slices"
)

// InitProducerIDRequest asks for a producer id.
type InitProducerIDRequest struct {
	// TransactionalID is nil for an idempotent producer.
	TransactionalID *string
	// TransactionTimeoutMs matters only with a transactional id.
	TransactionTimeoutMs int32
	// ProducerID and ProducerEpoch are the ones the producer has, -1 if none (KIP-360).
	ProducerID    int64
	ProducerEpoch int16
}

// ProducerIdentity is a producer id with its epoch.
type ProducerIdentity struct {
	ID    int64
	Epoch int16
}

// InitProducerID hands out a producer id that no other producer of the cluster has or had. Whatever an idempotent
// producer says it has, it gets a new one, as in Apache Kafka. The producer of a transactional id gets the id's, in an epoch
// that fences all producers before it; if the id has a transaction open that is aborted first, and the answer is
// ErrConcurrentTransactions until it is.
func (n *Node) InitProducerID(ctx context.Context, c *Caller, req InitProducerIDRequest) (ProducerIdentity, error) {
	none := ProducerIdentity{ID: -1, Epoch: -1}
	switch {
	case req.TransactionalID == nil:
	case *req.TransactionalID == "":
		return none, ErrInvalidRequest
	default:
		p, err := n.initTransactionalID(ctx, &req)
		if err != nil {
			return none, err
		}
		return ProducerIdentity{ID: p.ID, Epoch: p.Epoch}, nil
	}
	id, err := n.producerIDs.next(ctx)
	if err != nil {
		return none, err
	}
	return ProducerIdentity{ID: id}, nil
}

// producerIDs hands out the ids of blocks that the cluster gave to this node. What is left of a block when the node
// stops is never used.
type producerIDs struct {
	// block gets a block that nobody else has: the first id, and how many.
	block func(context.Context) (first int64, n int32, err error)

	turn      chan struct{} // of capacity 1: who puts a value in may use the fields below
	following int64
	left      int32
}

func newProducerIDs(block func(context.Context) (int64, int32, error)) *producerIDs {
	return &producerIDs{block: block, turn: make(chan struct{}, 1)}
}

func (p *producerIDs) next(ctx context.Context) (int64, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return -1, ErrTimedOut
	}
	defer func() { <-p.turn }()
	if p.left == 0 {
		first, n, err := p.block(ctx)
		if err != nil {
			return -1, err
		}
		p.following, p.left = first, n
	}
	id := p.following
	p.following++
	p.left--
	return id, nil
}

// ActiveProducer is what a partition remembers of one producer.
type ActiveProducer struct {
	ProducerID            int64
	ProducerEpoch         int32
	LastSequence          int32 // -1 if none
	LastTimestamp         int64 // ms since 1970, -1 if none
	CoordinatorEpoch      int32 // -1 if none
	CurrentTxnStartOffset int64 // -1 without a transaction in progress
}

// DescribeProducers lists the producers that a partition remembers, by producer id.
func (n *Node) DescribeProducers(c *Caller, topic TopicRef, index int32) ([]ActiveProducer, error) {
	t, p, err := n.find(topic, index)
	if err != nil {
		return nil, err
	}
	states, err := p.Producers()
	if err != nil {
		return nil, n.dataError(t, index, err)
	}
	out := make([]ActiveProducer, len(states))
	for i, s := range states {
		out[i] = ActiveProducer{
			ProducerID: s.ProducerID, ProducerEpoch: int32(s.ProducerEpoch), LastSequence: s.LastSequence, LastTimestamp: s.LastTimestamp,
			CoordinatorEpoch: s.CoordinatorEpoch, CurrentTxnStartOffset: s.CurrentTxnFirstOffset,
		}
	}
	slices.SortFunc(out, func(a, b ActiveProducer) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return out, nil
}
