package check

import "testing"

// goodTxns is a history of four transactions over two partitions: 1 and 3 committed, 2 aborted, 4 died.
func goodTxns() TxnHistory {
	return TxnHistory{
		Txns: []Txn{
			{ID: 1, Appends: []Item{{0, 10}, {1, 11}, {0, 12}}, Outcome: Committed, Begin: 1, End: 2},
			{ID: 2, Appends: []Item{{0, 20}, {1, 21}}, Outcome: Aborted, Fenced: true, Begin: 3},
			{ID: 3, Appends: []Item{{1, 30}, {0, 31}}, Reads: map[int32][]int{0: {10, 12}, 1: {11}}, Outcome: Committed, Begin: 4, End: 7},
			{ID: 4, Appends: []Item{{0, 40}, {1, 41}}, Reads: map[int32][]int{0: {10, 12, 31}}, Begin: 5},
		},
		Final: map[int32][]int{0: {10, 12, 31}, 1: {11, 30}},
	}
}

func TestGoodTxns(t *testing.T) {
	h := goodTxns()
	if v := CheckTxns(h); len(v) != 0 {
		t.Fatal(v)
	}
	h.Final[1], h.Txns[0].End = []int{30, 11}, 6 // Kafka orders the appends of transactions only that were not open at once
	h.Txns[2].Reads = nil
	if v := CheckTxns(h); len(v) != 0 {
		t.Fatal(v)
	}
	h.Final[0], h.Final[1] = append(h.Final[0], 40), append(h.Final[1], 41) // what died may have committed
	if v := CheckTxns(h); len(v) != 0 {
		t.Fatal(v)
	}
}

// TestSeededTxnBugs plants one bug at a time, each of which one invariant has to find.
func TestSeededTxnBugs(t *testing.T) {
	for _, c := range []struct {
		name, invariant string
		check           func(TxnHistory) []Violation
		plant           func(h *TxnHistory)
	}{
		{"aborted elements are shown", "aborted-read", AbortedRead, func(h *TxnHistory) { h.Txns[3].Reads[0] = []int{10, 12, 20} }},
		{"an element from nowhere", "aborted-read", AbortedRead, func(h *TxnHistory) { h.Final[0] = append(h.Final[0], 99) }},
		{"a marker reached one partition only", "torn", Torn, func(h *TxnHistory) { h.Final[0] = append(h.Final[0], 40) }},
		{"a committed transaction is lost", "torn", Torn, func(h *TxnHistory) { h.Final = map[int32][]int{0: {10, 12}, 1: {11}} }},
		{"an element twice", "torn", Torn, func(h *TxnHistory) { h.Final[1] = append(h.Final[1], 30) }},
		{"the last stable offset inside a transaction", "intermediate-read", IntermediateRead, func(h *TxnHistory) { h.Txns[2].Reads[0] = []int{10} }},
		{"two transactions read each other", "cycle", Cyclic, func(h *TxnHistory) { h.Txns[0].Reads = map[int32][]int{1: {11, 30}} }},
		{"an append that comes too late lands behind a later transaction", "cycle", Cyclic, func(h *TxnHistory) {
			h.Txns[2].Reads, h.Final[1] = nil, []int{30, 11}
		}},
		{"a read of what had not begun", "cycle", Cyclic, func(h *TxnHistory) {
			h.Txns[0].Reads, h.Txns[2].Reads = map[int32][]int{0: {31}}, nil
		}},
		{"a zombie's commit is acknowledged", "zombie", ZombieCommitted, func(h *TxnHistory) { h.Txns[1].Outcome = Committed }},
		{"a zombie's elements count", "zombie", ZombieCommitted, func(h *TxnHistory) { h.Final[0] = append(h.Final[0], 20) }},
		{"the order changes", "not-prefix", NotPrefix, func(h *TxnHistory) { h.Txns[3].Reads[0] = []int{12, 10} }},
		{"what was stable disappears", "not-prefix", NotPrefix, func(h *TxnHistory) { h.Final[0] = []int{10, 12} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := goodTxns()
			c.plant(&h)
			found := c.check(h)
			if len(found) == 0 || found[0].Invariant != c.invariant {
				t.Errorf("not found by %s: %v; all find %v", c.invariant, found, CheckTxns(h))
			}
			if len(CheckTxns(h)) == 0 {
				t.Error("CheckTxns leaves the invariant out")
			}
		})
	}
}

// TestLongCycle has a circle through more transactions than a recursion should be deep.
func TestLongCycle(t *testing.T) {
	const n = 50_000
	g := graph{}
	for i := range n {
		g[i] = []int{(i + 1) % n}
	}
	if c := g.components(); len(c) != 1 || len(c[0]) != n {
		t.Fatalf("%d components", len(c))
	}
	g[n-1] = nil
	if c := g.components(); len(c) != n {
		t.Fatalf("%d components without the last edge, want %d", len(c), n)
	}
}
