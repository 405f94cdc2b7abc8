package broker

import (
	"context"
	"errors"
	"time"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/txn"
	"moldau/broker/metadata"
)

// transactionTopicName is where transactional ids and their transactions are kept.
const transactionTopicName = "__transaction_state"

// txnCommitTimeout is how long a change of a transaction may take to be committed before its client is told to try again.
const txnCommitTimeout = 5 * time.Second

// openTransactions makes the transaction coordinator. It is loaded as the metadata shows its partitions.
func (n *Node) openTransactions() {
	c := &n.cfg.Transactions
	n.markers = newMarkerWriters(n)
	n.txns = coordinator.New(coordinator.Options[*txn.Shard]{
		Kind:          "transaction",
		NewShard:      func(int32) *txn.Shard { return txn.NewShard(c.core(), n.markers, n.log) },
		CommitTimeout: txnCommitTimeout,
		LoadParallel:  coordinatorLoadParallel, LoadRetry: coordinatorLoadRetry,
		Decompressor: n.decompressors.upTo(n.cfg.MaxDecompressedBatch),
		Logger:       n.log, Now: n.now,
	})
	n.txnTopic = &coordinatorTopic{
		n: n, name: transactionTopicName, partitions: c.LogPartitions, replicas: c.LogReplication,
		config: c.topicConfig(), runtime: n.txns,
	}
	n.coordinated = append(n.coordinated, n.txnTopic)
	n.opened("transaction coordinator", func(context.Context) error {
		n.txns.Close()
		n.markers.close()
		return nil
	})
}

// TransactionCoordinator returns the broker that coordinates a transactional id. The topic that keeps transactions is made
// if it isn't there.
func (n *Node) TransactionCoordinator(ctx context.Context, _ *Caller, transactionalID string) (*metadata.Broker, error) {
	return n.txnTopic.leaderOf(ctx, transactionalID)
}

// onTxnShard has the coordinator of a transactional id do something.
func onTxnShard[T any](n *Node, transactionalID string, op func(*coordinator.Turn, *txn.Shard, *coordinator.Reply[T])) *coordinator.Reply[T] {
	return coordinator.Ask(n.txns, n.txnTopic.partitionOf(transactionalID), op)
}

// withFreshID asks, and asks again with a new producer id if one is needed.
func withFreshID[T any](ctx context.Context, n *Node, ask func(fresh int64) *coordinator.Reply[T]) (T, error) {
	v, err := ask(txn.NoProducerID).Wait(ctx)
	if !errors.Is(err, txn.ErrNeedProducerID) {
		return v, err
	}
	fresh, err := n.producerIDs.next(ctx)
	if err != nil {
		return v, err
	}
	return ask(fresh).Wait(ctx)
}

// initTransactionalID gives a transactional id to a producer.
func (n *Node) initTransactionalID(ctx context.Context, req *InitProducerIDRequest) (coordinator.Producer, error) {
	q := txn.InitProducerID{
		ID: *req.TransactionalID, TimeoutMs: req.TransactionTimeoutMs,
		Expected: coordinator.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch},
	}
	return withFreshID(ctx, n, func(fresh int64) *coordinator.Reply[coordinator.Producer] {
		return onTxnShard(n, q.ID, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[coordinator.Producer]) {
			ask := q
			ask.Fresh = fresh
			s.InitProducerID(t, ask, reply)
		})
	})
}

// EndTxn commits or aborts a producer's transaction: it returns once the decision is made, and who the producer is from then
// on. Markers are written afterwards. If the transaction before is still being completed, ErrConcurrentTransactions.
func (n *Node) EndTxn(ctx context.Context, _ *Caller, q EndTxnRequest) (Producer, error) {
	if q.ID == "" {
		return coordinator.NoProducer, ErrInvalidRequest
	}
	p, err := withFreshID(ctx, n, func(fresh int64) *coordinator.Reply[coordinator.Producer] {
		return onTxnShard(n, q.ID, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[coordinator.Producer]) {
			ask := q
			ask.Fresh = fresh
			s.EndTxn(t, ask, reply)
		})
	})
	if err != nil {
		return coordinator.NoProducer, err
	}
	return p, nil
}

// AddPartitionsToTxn puts partitions into a producer's transaction. The partitions must exist: see MissingPartitions.
func (n *Node) AddPartitionsToTxn(_ *Caller, q AddPartitionsToTxnRequest) *coordinator.Reply[struct{}] {
	if q.ID == "" {
		return coordinator.Answered(struct{}{}, ErrInvalidRequest)
	}
	return onTxnShard(n, q.ID, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[struct{}]) {
		s.AddPartitions(t, q, reply)
	})
}

// VerifyPartitionsInTxn answers for each partition whether it is part of a producer's transaction (KIP-890).
func (n *Node) VerifyPartitionsInTxn(_ *Caller, q AddPartitionsToTxnRequest) *coordinator.Reply[[]error] {
	if q.ID == "" {
		return coordinator.Answered[[]error](nil, ErrInvalidRequest)
	}
	return onTxnShard(n, q.ID, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[[]error]) {
		s.Verify(t, q, reply)
	})
}

// MissingPartitions returns an error for each partition: nil or ErrUnknownTopicOrPartition. missing says that there is one.
func (n *Node) MissingPartitions(ps []TxnPartition) (errs []error, missing bool) {
	img := n.Image()
	errs = make([]error, len(ps))
	for i, p := range ps {
		if _, ok := img.Partition(p.Topic, p.Partition); !ok {
			errs[i], missing = ErrUnknownTopicOrPartition, true
		}
	}
	return errs, missing
}

// AddOffsetsToTxn puts a group's offsets into a producer's transaction: the partition of __consumer_offsets that holds
// them. The topic is made if it isn't there.
func (n *Node) AddOffsetsToTxn(ctx context.Context, c *Caller, transactionalID string, p Producer, groupID string) *coordinator.Reply[struct{}] {
	if err := n.offsetsTopic.ensure(ctx); err != nil {
		return coordinator.Answered(struct{}{}, err)
	}
	return n.AddPartitionsToTxn(c, AddPartitionsToTxnRequest{
		ID: transactionalID, Producer: p, Partitions: []TxnPartition{n.offsetsPartition(groupID)},
	})
}

// offsetsPartition returns the partition of __consumer_offsets that holds a group.
func (n *Node) offsetsPartition(groupID string) TxnPartition {
	return TxnPartition{Topic: offsetsTopicName, Partition: n.offsetsTopic.partitionOf(groupID)}
}

// DescribeTransaction returns what is known of a transactional id.
func (n *Node) DescribeTransaction(_ *Caller, transactionalID string) *coordinator.Reply[Transaction] {
	if transactionalID == "" {
		return coordinator.Answered(Transaction{}, ErrInvalidRequest)
	}
	return onTxnShard(n, transactionalID, func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[txn.Transaction]) {
		s.Describe(t, transactionalID, reply)
	})
}

// ListTransactions returns the transactional ids that this node coordinates and a filter chooses, in no order. While a
// partition is being read the answer is ErrCoordinatorLoading.
func (n *Node) ListTransactions(ctx context.Context, _ *Caller, f *TransactionFilter) ([]TransactionListing, error) {
	var replies []*coordinator.Reply[[]txn.Listing]
	for _, p := range n.txns.Partitions() {
		replies = append(replies, coordinator.Ask(n.txns, p,
			func(t *coordinator.Turn, s *txn.Shard, reply *coordinator.Reply[[]txn.Listing]) {
				s.List(t, f, reply)
			}))
	}
	var out []TransactionListing
	for _, r := range replies {
		l, err := r.Wait(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, l...)
	}
	return out, nil
}
