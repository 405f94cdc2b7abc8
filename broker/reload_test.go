package broker

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/txn"
	"moldau/internal/vfs"
)

// Coordinators with much to read are there soon after a restart. Until one has read its partition it sends everybody away to come
// again, and never says that something does not exist.
func TestManyGroupsAndTransactionsAfterRestart(t *testing.T) {
	const groups, ids = 10_000, 1_000
	n := startNode(t, relaxed)
	n.topic("t", 1)
	n.coordinateGroups()
	n.commitMany(groups)
	producers := n.openMany(ids)

	began := time.Now()
	n.restart(nil)
	restarted := time.Since(began)
	sentAway := 0
	for i := 0; i < ids || n.txns.Loading()+n.groups.Loading() > 0; i++ {
		id := i % ids
		switch tx, err := n.DescribeTransaction(testCaller, txnID(id)).Wait(t.Context()); {
		case errors.Is(err, ErrCoordinatorLoading):
			sentAway++
		case err != nil || tx.State != txn.Ongoing || tx.ProducerID != producers[id].ID:
			t.Fatalf("%s after the restart: %+v, %v", txnID(id), tx, err)
		}
	}
	t.Logf("restarted in %v, everything read in %v; %d were sent away", restarted, time.Since(began), sentAway)
	for g := range groups {
		if o := n.offsetOf(groupName(g), "t"); o != int64(g) {
			t.Fatalf("%s has offset %d", groupName(g), o)
		}
	}
	list, err := n.ListTransactions(t.Context(), testCaller, &TransactionFilter{States: []TransactionState{txn.Ongoing}, LongerThan: -1})
	if err != nil || len(list) != ids {
		t.Errorf("%d transactions are open, %v", len(list), err)
	}
	for i, p := range producers {
		if _, err := n.end(txnID(i), p, i%2 == 0, TxnVersion2); err != nil {
			t.Fatalf("end of %s: %v", txnID(i), err)
		}
	}
}

// TestDamagedCoordinatorSaysNothing starts on partitions of coordinators that cannot be read: nobody may hear that a group has no
// offsets, or that a transactional id is new, because what is known of them is out of reach.
func TestDamagedCoordinatorSaysNothing(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.FS = faulty })
	n.topic("t", 1)
	n.coordinateGroups()
	n.commitMany(1)
	p := n.openMany(1)[0]
	remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpRead}, Path: "/node/log/__*/*.log", Err: syscall.EIO})
	n.restart(nil)
	if _, err := n.DescribeTransaction(testCaller, txnID(0)).Wait(t.Context()); !errors.Is(err, coordinator.ErrNotCoordinator) {
		t.Errorf("a transaction whose partition cannot be read: %v", err)
	}
	if got, err := n.OffsetFetch(testCaller, &OffsetFetchRequest{
		Group: groupName(0), Topics: []OffsetFetchTopic{{Topic: "t", Partitions: []int32{0}}},
	}).Wait(t.Context()); !errors.Is(err, coordinator.ErrNotCoordinator) {
		t.Errorf("a group whose partition cannot be read: %+v, %v", got, err)
	}
	remove()
	n.restart(nil)
	n.await(txnID(0), txn.Ongoing)
	if o := n.offsetOf(groupName(0), "t"); o != 0 {
		t.Errorf("the group's offset is %d", o)
	}
	_, err := n.end(txnID(0), p, true, TxnVersion2)
	must(t, err)
}

func groupName(g int) string { return fmt.Sprint("g", g) }

func txnID(i int) string { return fmt.Sprint("id", i) }

// commitMany makes groups, each with its number as offset.
func (n *testNode) commitMany(groups int) {
	n.t.Helper()
	replies := make([]*coordinator.Reply[[]error], groups)
	for g := range replies {
		replies[g] = n.OffsetCommit(testCaller, &OffsetCommitRequest{
			Group: groupName(g), Generation: -1, Retention: -1, Offsets: []PartitionOffset{{Topic: "t", Offset: int64(g)}},
		})
	}
	for _, r := range replies {
		errs, err := r.Wait(n.t.Context())
		must(n.t, errors.Join(append(errs, err)...))
	}
}

// openMany begins transactions.
func (n *testNode) openMany(ids int) []ProducerIdentity {
	n.t.Helper()
	out := make([]ProducerIdentity, ids)
	for i := range out {
		out[i] = n.producer(txnID(i), 10*time.Minute)
		must(n.t, n.add(txnID(i), out[i], TxnPartition{Topic: "t"}))
	}
	return out
}
