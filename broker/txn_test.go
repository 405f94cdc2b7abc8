package broker

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/txn"
	"moldau/broker/metadata"
	"moldau/broker/record"
	"moldau/internal/vfs"
)

// producer begins to use a transactional id.
func (n *testNode) producer(id string, timeout time.Duration) ProducerIdentity {
	n.t.Helper()
	_, err := n.TransactionCoordinator(n.t.Context(), testCaller, id)
	must(n.t, err)
	for deadline := time.Now().Add(time.Minute); ; {
		p, err := n.InitProducerID(n.t.Context(), testCaller, InitProducerIDRequest{
			TransactionalID: &id, TransactionTimeoutMs: int32(timeout.Milliseconds()), ProducerID: -1, ProducerEpoch: -1,
		})
		if errors.Is(err, ErrConcurrentTransactions) && time.Now().Before(deadline) {
			runtime.Gosched() // a transaction is being aborted
			continue
		}
		must(n.t, err)
		return p
	}
}

func producerOf(p ProducerIdentity) Producer { return Producer{ID: p.ID, Epoch: p.Epoch} }

// add puts partitions into a transaction.
func (n *testNode) add(id string, p ProducerIdentity, ps ...TxnPartition) error {
	n.t.Helper()
	_, err := n.AddPartitionsToTxn(testCaller, AddPartitionsToTxnRequest{ID: id, Producer: producerOf(p), Partitions: ps}).Wait(n.t.Context())
	return err
}

func transactional(p ProducerIdentity, sequence int32) record.Options {
	o := idempotent(p, sequence)
	o.Transactional = true
	return o
}

// transact produces one record of a transaction; adds is version 2.
func (n *testNode) transact(id string, adds bool, topic TopicRef, partition int32, o record.Options, value string) Produced {
	n.t.Helper()
	b := batchOf(n.t, o, value)
	conf := n.ConfirmTxn(testCaller, ProduceTxn{ID: id, Adds: adds}, []TxnBatch{{topic, partition, b}})
	conf.Wait(n.t.Context())
	p := n.ProduceIn(testCaller, conf, 0, topic, partition, b, -1)
	p.Wait(n.t.Context())
	return p
}

// end ends a transaction.
func (n *testNode) end(id string, p ProducerIdentity, commit bool, version int16) (Producer, error) {
	n.t.Helper()
	return n.EndTxn(n.t.Context(), testCaller, EndTxnRequest{ID: id, Producer: producerOf(p), Commit: commit, Version: version})
}

// await returns when a transactional id is in a state.
func (n *testNode) await(id string, state TransactionState) Transaction {
	n.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		tx, err := n.DescribeTransaction(testCaller, id).Wait(n.t.Context())
		if err == nil && tx.State == state {
			return tx
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("%s is %v, not %v; %v", id, tx.State, state, err)
		}
		runtime.Gosched()
	}
}

// committed returns the records that a reader of committed transactions shows.
func (n *testNode) committed(topic TopicRef, partition int32) (values []string, stable int64) {
	n.t.Helper()
	req := fetchRequest(want(topic, partition, 0))
	req.IsolationLevel = ReadCommitted
	op := n.Fetch(testCaller, req)
	defer op.Release()
	p := &op.Partitions()[0]
	must(n.t, p.Err)
	raw, err := p.Records.Bytes()
	must(n.t, err)
	aborted, passed := p.Aborted, map[int64]bool{}
	for len(raw) > 0 {
		b, rest, err := record.Next(raw)
		must(n.t, err)
		for len(aborted) > 0 && aborted[0].FirstOffset <= b.LastOffset() {
			passed[aborted[0].ProducerID], aborted = true, aborted[1:]
		}
		if b.IsControl() {
			delete(passed, b.ProducerID())
		} else if !passed[b.ProducerID()] {
			it := b.Records(testUnpack)
			for it.Next() {
				values = append(values, string(it.Record().Value))
			}
			it.Close()
		}
		raw = rest
	}
	return values, p.LastStableOffset
}

func (n *testNode) expectCommitted(topic TopicRef, stable int64, values ...string) {
	n.t.Helper()
	got, at := n.committed(topic, 0)
	if !slices.Equal(got, values) || at != stable {
		n.t.Errorf("committed %v up to %d, want %v up to %d", got, at, values, stable)
	}
}

// TestTransactions runs transactions of both versions over two partitions.
func TestTransactions(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 2)
	a, b := TxnPartition{Topic: "events", Partition: 0}, TxnPartition{Topic: "events", Partition: 1}

	old := n.producer("old", time.Minute)
	must(t, n.add("old", old, a, b))
	must(t, n.transact("old", false, topic, 0, transactional(old, 0), "one").Err)
	must(t, n.transact("old", false, topic, 1, transactional(old, 0), "one").Err)
	n.expectCommitted(topic, 0)
	_, err := n.end("old", old, true, TxnVersion0)
	must(t, err)
	n.await("old", txn.CompleteCommit)
	n.expectCommitted(topic, 2, "one")

	p := n.producer("new", time.Minute)
	must(t, n.transact("new", true, topic, 0, transactional(p, 0), "two").Err)
	next, err := n.end("new", p, false, TxnVersion2)
	must(t, err)
	if next.ID != p.ID || next.Epoch != p.Epoch+1 {
		t.Errorf("after the end the producer is %+v", next)
	}
	// The next transaction begins before the markers of the last one are known to be written: it waits for them.
	p.Epoch++
	must(t, n.transact("new", true, topic, 0, transactional(p, 0), "three").Err)
	_, err = n.end("new", p, true, TxnVersion2)
	must(t, err)
	n.await("new", txn.CompleteCommit)
	n.expectCommitted(topic, 6, "one", "three")

	// What an older epoch sends is nobody's.
	p.Epoch--
	if err := n.transact("new", true, topic, 0, transactional(p, 1), "late").Err; !errors.Is(err, ErrInvalidProducerEpoch) {
		t.Errorf("a late record: %v", err)
	}
	if got := n.read(topic, 0, 0); len(got) != 6 {
		t.Errorf("records and markers %v", got)
	}
}

// TestUnconfirmedRecords sends what the coordinator knows nothing of (KIP-890).
func TestUnconfirmedRecords(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 2)
	p := n.producer("id", time.Minute)
	if err := n.transact("id", false, topic, 0, transactional(p, 0), "x").Err; !errors.Is(err, ErrTransactionAbortable) {
		t.Errorf("to a partition that was not added: %v", err)
	}
	if err := n.transact("", false, topic, 0, transactional(p, 0), "x").Err; !errors.Is(err, ErrTransactionalIDAuthorization) {
		t.Errorf("without a transactional id: %v", err)
	}
	if err := n.transact("nobody", true, topic, 0, transactional(p, 0), "x").Err; !errors.Is(err, ErrInvalidProducerIDMapping) {
		t.Errorf("with an unknown id: %v", err)
	}
	if err := n.produce(topic, 0, batchOf(t, transactional(p, 0), "x")).Err; !errors.Is(err, ErrInvalidTxnState) {
		t.Errorf("without asking: %v", err)
	}
	must(t, n.add("id", p, TxnPartition{Topic: "events", Partition: 0}))
	must(t, n.transact("id", false, topic, 0, transactional(p, 0), "x").Err)
	if got := n.read(topic, 0, 0); len(got) != 1 {
		t.Errorf("records %v", got)
	}
}

// TestConfirmationOverMarker has a transaction aborted between the coordinator's confirmation and the append of its records: they
// must not open a transaction that nobody ends.
func TestConfirmationOverMarker(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 1)
	p := n.producer("id", time.Minute)
	must(t, n.add("id", p, TxnPartition{Topic: "events", Partition: 0}))
	b := batchOf(t, transactional(p, 0), "late")
	conf := n.ConfirmTxn(testCaller, ProduceTxn{ID: "id"}, []TxnBatch{{topic, 0, b}})
	conf.Wait(t.Context())
	_, err := n.end("id", p, false, TxnVersion0)
	must(t, err)
	n.await("id", txn.CompleteAbort)
	out := n.ProduceIn(testCaller, conf, 0, topic, 0, b, -1)
	out.Wait(t.Context())
	if !errors.Is(out.Err, ErrInvalidTxnState) {
		t.Errorf("the late record: %v", out.Err)
	}
	n.expectCommitted(topic, 1)
}

// TestTransactionOutlivesItsTime moves the clock beyond a transaction's timeout.
func TestTransactionOutlivesItsTime(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 1)
	p := n.producer("id", time.Minute)
	must(t, n.transact("id", true, topic, 0, transactional(p, 0), "x").Err)
	n.setNow(testStart.Add(61 * time.Second))
	if tx := n.await("id", txn.CompleteAbort); tx.ProducerEpoch != p.Epoch+1 {
		t.Errorf("aborted as %+v", tx)
	}
	n.expectCommitted(topic, 2)
	if err := n.transact("id", false, topic, 0, transactional(p, 1), "late").Err; !errors.Is(err, ErrInvalidProducerEpoch) {
		t.Errorf("a record of the timed out transaction: %v", err)
	}
	if _, err := n.end("id", p, true, TxnVersion0); !errors.Is(err, ErrProducerFenced) {
		t.Errorf("its end: %v", err)
	}
}

// TestDecisionSurvivesRestart decides on a transaction while its partition takes no writes, and restarts the node: the marker is
// written then.
func TestDecisionSurvivesRestart(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	n := startNode(t, func(_ *Config, d *Deps) { d.FS = faulty })
	topic := n.topic("events", 1)
	p := n.producer("decided", time.Minute)
	must(t, n.transact("decided", true, topic, 0, transactional(p, 0), "x").Err)
	open := n.producer("open", time.Minute)
	must(t, n.transact("open", true, topic, 0, transactional(open, 0), "y").Err)
	remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpWrite}, Path: "/node/log/events-0/*.log", Err: syscall.ENOSPC})
	_, err := n.end("decided", p, true, TxnVersion2)
	must(t, err)
	// A retry, and whoever comes next, hear that it is not complete yet.
	if _, err := n.end("decided", p, true, TxnVersion2); !errors.Is(err, ErrConcurrentTransactions) {
		t.Errorf("asked again: %v", err)
	}
	p.Epoch++
	added := n.AddPartitionsToTxn(testCaller, AddPartitionsToTxnRequest{ID: "decided", Producer: producerOf(p), Partitions: []TxnPartition{{Topic: "events"}}})
	if n.await("decided", txn.PrepareCommit); added.Settled() {
		t.Error("the next transaction does not wait for the markers")
	}
	n.setNow(testStart.Add(time.Second))
	n.await("decided", txn.PrepareCommit)
	if _, err := added.Wait(t.Context()); !errors.Is(err, ErrConcurrentTransactions) {
		t.Errorf("the next transaction: %v", err)
	}
	n.restart(nil)
	n.expectCommitted(topic, 0)
	remove()
	n.await("decided", txn.CompleteCommit)
	n.await("open", txn.Ongoing)     // its coordinator is another one, which has its own time to load
	n.expectCommitted(topic, 1, "x") // the other one is still open
	_, err = n.end("open", open, false, TxnVersion2)
	must(t, err)
	n.await("open", txn.CompleteAbort)
	n.expectCommitted(topic, 4, "x")
}

// TestPowerCutDuringTransactions takes what a power cut leaves, with an open, a committed and an aborted transaction: each is what it was.
func TestPowerCutDuringTransactions(t *testing.T) {
	mem := vfs.NewMem()
	n := startNode(t, func(_ *Config, d *Deps) { d.FS = mem })
	topic := n.topic("events", 1)
	for id, commit := range map[string]bool{"committed": true, "aborted": false} {
		p := n.producer(id, time.Minute)
		must(t, n.transact(id, true, topic, 0, transactional(p, 0), id).Err)
		_, err := n.end(id, p, commit, TxnVersion2)
		must(t, err)
		n.await(id, map[bool]TransactionState{true: txn.CompleteCommit, false: txn.CompleteAbort}[commit])
	}
	p := n.producer("open", time.Minute)
	must(t, n.transact("open", true, topic, 0, transactional(p, 0), "open").Err)
	for seed := range uint64(5) {
		n.restart(mem.CrashClone(seed))
		n.await("committed", txn.CompleteCommit)
		n.await("aborted", txn.CompleteAbort)
		n.await("open", txn.Ongoing)
		n.expectCommitted(topic, 4, "committed")
	}
	_, err := n.end("open", p, true, TxnVersion2)
	must(t, err)
	n.await("open", txn.CompleteCommit)
	n.expectCommitted(topic, 6, "committed", "open")
}

// TestDeletedTopicHoldsNoTransaction deletes a topic that is part of an open transaction.
func TestDeletedTopicHoldsNoTransaction(t *testing.T) {
	n := startNode(t)
	topic := n.topic("stays", 1)
	n.topic("goes", 1)
	p := n.producer("id", time.Minute)
	must(t, n.add("id", p, TxnPartition{Topic: "goes", Partition: 0}, TxnPartition{Topic: "stays", Partition: 0}))
	must(t, n.transact("id", false, topic, 0, transactional(p, 0), "x").Err)
	n.drop("goes")
	_, err := n.end("id", p, true, TxnVersion0)
	must(t, err)
	n.await("id", txn.CompleteCommit)
	n.expectCommitted(topic, 2, "x")
}

// TestFencedPartitionHoldsNoTransaction ends a transaction one of whose partitions has seen a newer epoch (an operator's marker): the
// rest is completed all the same.
func TestFencedPartitionHoldsNoTransaction(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 2)
	p := n.producer("id", time.Minute)
	must(t, n.add("id", p, TxnPartition{Topic: "events", Partition: 0}, TxnPartition{Topic: "events", Partition: 1}))
	must(t, n.transact("id", false, topic, 0, transactional(p, 0), "x").Err)
	errs := n.WriteTxnMarkers(t.Context(), testCaller, &TxnMarker{
		Producer: Producer{ID: p.ID, Epoch: p.Epoch + 5}, CoordinatorEpoch: 0, Partitions: []TxnPartition{{Topic: "events", Partition: 1}, {Topic: "events", Partition: 7}, {Topic: "nowhere"}},
	})
	if errs[0] != nil || !errors.Is(errs[1], ErrUnknownTopicOrPartition) || !errors.Is(errs[2], ErrUnknownTopicOrPartition) {
		t.Errorf("markers: %v", errs)
	}
	_, err := n.end("id", p, true, TxnVersion0)
	must(t, err)
	n.await("id", txn.CompleteCommit)
	n.expectCommitted(topic, 2, "x")
}

// TestTransactionalOffsets commits offsets under transactions.
func TestTransactionalOffsets(t *testing.T) {
	n := startNode(t)
	n.topic("events", 1)
	_, err := n.GroupCoordinator(t.Context(), testCaller, "group")
	must(t, err)
	p := n.producer("id", time.Minute)
	commit := func(p ProducerIdentity, adds bool, offset int64) error {
		errs, err := n.TxnOffsetCommit(t.Context(), testCaller, &TxnOffsetCommitRequest{
			TransactionalID: "id", Producer: producerOf(p), Adds: adds,
			Offsets: &OffsetCommitRequest{Group: "group", Generation: -1, Retention: -1, Offsets: []PartitionOffset{{Topic: "events", Offset: offset}}},
		})
		return errors.Join(append(errs, err)...)
	}
	offset := func(stable bool) (int64, error) {
		t.Helper()
		got, err := settled(n, func() *coordinator.Reply[[]FetchedOffsets] {
			return n.OffsetFetch(testCaller, &OffsetFetchRequest{
				Group: "group", RequireStable: stable, Topics: []OffsetFetchTopic{{Topic: "events", Partitions: []int32{0}}},
			})
		})
		must(t, err)
		return got[0].Partitions[0].Offset.Offset, got[0].Partitions[0].Err
	}
	if err := commit(p, false, 5); !errors.Is(err, ErrTransactionAbortable) {
		t.Errorf("a commit that was not added: %v", err)
	}
	must(t, commit(p, true, 5))
	if at, err := offset(false); at != -1 || err != nil {
		t.Errorf("offset %d %v before the end", at, err)
	}
	if _, err := offset(true); !errors.Is(err, ErrUnstableOffsetCommit) {
		t.Errorf("a stable offset before the end: %v", err)
	}
	_, err = n.end("id", p, true, TxnVersion2)
	must(t, err)
	n.await("id", txn.CompleteCommit)
	if at, err := offset(true); at != 5 || err != nil {
		t.Errorf("offset %d %v after the commit", at, err)
	}
	if err := commit(p, true, 6); !errors.Is(err, ErrInvalidProducerEpoch) {
		t.Errorf("a commit of the transaction before: %v", err)
	}
	p.Epoch++
	_, err = n.AddOffsetsToTxn(t.Context(), testCaller, "id", producerOf(p), "group").Wait(t.Context())
	must(t, err)
	must(t, commit(p, false, 7))
	n.restart(nil)
	n.await("id", txn.Ongoing)
	if _, err := offset(true); !errors.Is(err, ErrUnstableOffsetCommit) {
		t.Errorf("a stable offset after a restart: %v", err)
	}
	_, err = n.end("id", p, false, TxnVersion0)
	must(t, err)
	n.await("id", txn.CompleteAbort)
	if at, err := offset(true); at != 5 || err != nil {
		t.Errorf("offset %d %v after the abort", at, err)
	}
}

// TestOffsetsOverMarker is TestConfirmationOverMarker for offsets.
func TestOffsetsOverMarker(t *testing.T) {
	var v offsetVerifications
	p, next := Producer{ID: 7, Epoch: 1}, Producer{ID: 7, Epoch: 2}
	a, b, other, ahead := v.begin(3, p), v.begin(3, p), v.begin(3, Producer{ID: 8, Epoch: 1}), v.begin(3, next)
	v.end(b)
	v.expire(3, next, TxnVersion2) // the marker of the transaction in epoch 1
	c := v.begin(3, p)
	if !v.stale(a) || v.stale(b) || v.stale(other) || v.stale(c) || v.stale(ahead) {
		t.Error("a marker ends the wrong attempts")
	}
	if v.expire(3, next, TxnVersion0); !v.stale(ahead) || !v.stale(c) {
		t.Error("a marker of version 1 leaves attempts of its epoch alone")
	}
	for _, x := range []*offsetVerification{a, other, c, ahead} {
		v.end(x)
	}
	if len(v.by) != 0 {
		t.Errorf("%d attempts are left", len(v.by))
	}
}

// TestExhaustedEpochs uses up the epochs of a producer id.
func TestExhaustedEpochs(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	p := n.producer("id", time.Minute)
	for p.Epoch < 32766 { // each abort of nothing takes one
		next, err := n.end("id", p, false, TxnVersion2)
		if errors.Is(err, ErrConcurrentTransactions) || errors.Is(err, ErrProducerFenced) {
			runtime.Gosched() // the one before is not complete
			continue
		}
		must(t, err)
		p.Epoch = next.Epoch
	}
	n.await("id", txn.CompleteAbort)
	must(t, n.transact("id", true, topic, 0, transactional(p, 0), "last").Err)
	next, err := n.end("id", p, true, TxnVersion2)
	must(t, err)
	if next.ID == p.ID || next.Epoch != 0 {
		t.Errorf("after the last epoch the producer is %+v", next)
	}
	fresh := ProducerIdentity{ID: next.ID, Epoch: next.Epoch}
	must(t, n.transact("id", true, topic, 0, transactional(fresh, 0), "first").Err)
	again, err := n.end("id", p, true, TxnVersion2)
	if !errors.Is(err, ErrInvalidProducerIDMapping) {
		t.Errorf("the old producer: %+v %v", again, err)
	}
	_, err = n.end("id", fresh, true, TxnVersion2)
	must(t, err)
	n.await("id", txn.CompleteCommit)
	n.expectCommitted(topic, 4, "last", "first")
}

// TestManyTransactionalIDs lists and filters over all partitions of the topic.
func TestManyTransactionalIDs(t *testing.T) {
	n := startNode(t, relaxed)
	n.topic("events", 1)
	for _, id := range []string{"a", "b", "c", "d"} {
		p := n.producer(id, time.Minute)
		if id > "b" {
			must(t, n.add(id, p, TxnPartition{Topic: "events", Partition: 0}))
		}
	}
	list, err := n.ListTransactions(t.Context(), testCaller, &TransactionFilter{States: []TransactionState{txn.Ongoing}, LongerThan: -1})
	must(t, err)
	if len(list) != 2 {
		t.Errorf("open transactions %+v", list)
	}
	if _, err := n.DescribeTransaction(testCaller, "nobody").Wait(t.Context()); !errors.Is(err, ErrTransactionalIDNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
	for _, err := range []error{
		errOf(n.DescribeTransaction(testCaller, "").Wait(t.Context())),
		errOf(n.AddPartitionsToTxn(testCaller, AddPartitionsToTxnRequest{}).Wait(t.Context())),
		errOf(n.VerifyPartitionsInTxn(testCaller, AddPartitionsToTxnRequest{}).Wait(t.Context())),
		errOf(n.EndTxn(t.Context(), testCaller, EndTxnRequest{})),
		errOf(n.TxnOffsetCommit(t.Context(), testCaller, &TxnOffsetCommitRequest{})),
	} {
		if !errors.Is(err, ErrInvalidRequest) {
			t.Errorf("an empty id: %v", err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestMarkersBeforeTheFirstImage looks for partitions while the node shows no metadata yet, as it does for a moment after a start: they
// are not taken for deleted, or their transaction would be complete without its markers.
func TestMarkersBeforeTheFirstImage(t *testing.T) {
	n := startNode(t)
	n.topic("events", 1)
	n.producer("id", time.Minute)
	shown := n.Image()
	n.image.Store(metadata.NewImage())
	early := n.markers.gone(TxnPartition{Topic: "events"})
	n.image.Store(shown)
	if early {
		t.Error("before the first image a partition is taken for deleted")
	}
	if !n.markers.gone(TxnPartition{Topic: "events", Partition: 7}) || n.markers.gone(TxnPartition{Topic: "events"}) {
		t.Error("with an image the wrong partitions are deleted")
	}
}

// TestMarkersOfTwoTransactions asks for markers while others are being written for the same id: they come one after the other, and only
// what still stands.
func TestMarkersOfTwoTransactions(t *testing.T) {
	n := startNode(t)
	n.topic("events", 1)
	p := n.producer("id", time.Minute)
	must(t, n.add("id", p, TxnPartition{Topic: "events", Partition: 0}))
	stale := txn.Decision{ID: "id", Producer: producerOf(p), Commit: true, Partitions: []TxnPartition{{Topic: "events"}}}
	job := &markerJob{next: &stale}
	n.markers.mu.Lock()
	n.markers.jobs["id"] = job
	n.markers.mu.Unlock()
	if d := n.markers.nextOf(job, "id"); d != nil {
		t.Errorf("markers are written for a transaction that is open: %+v", d)
	}
	if !errors.Is(markerError(coordinator.ErrLoading), ErrNotLeader) {
		t.Error("a group coordinator that loads is no reason to try again")
	}
}
