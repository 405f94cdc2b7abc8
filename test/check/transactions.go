package check

import (
	"fmt"
	"maps"
	"slices"
)

// Item is one record of a list-append history: the element that a transaction appended to the list of a partition. Elements are
// unique over the history.
type Item struct {
	Partition int32
	Element   int
}

// Outcome is what the client was told about the end of a transaction.
type Outcome int8

// The outcomes of a transaction.
const (
	// Unknown is a transaction whose client died or got no answer: it may have either end, but one only.
	Unknown Outcome = iota
	// Committed is what its client was told.
	Committed
	// Aborted is what its client asked for, or what must have become of it.
	Aborted
)

// Txn is one transaction: what it appended, in this order, and what it had read when it did.
type Txn struct {
	ID      int
	Appends []Item
	// Reads is, for each partition it read, the list as it saw it under read_committed.
	Reads   map[int32][]int
	Outcome Outcome
	// Fenced says that another producer of the same transactional id had begun before this one appended or committed: it must
	// not be committed.
	Fenced bool
	// Begin is before the first append and End after the commit was acknowledged, on one clock for the whole history. An End of 0
	// is not known. Reads are older than Begin.
	Begin, End int64
}

// TxnHistory is what transactions did, and what the lists were at the end: for each partition all elements in the order of
// their offsets, as a reader of committed records saw them.
type TxnHistory struct {
	Txns  []Txn
	Final map[int32][]int
}

// CheckTxns runs every invariant of transactions.
func CheckTxns(h TxnHistory) []Violation {
	var out []Violation
	for _, invariant := range []func(TxnHistory) []Violation{AbortedRead, Torn, IntermediateRead, Cyclic, ZombieCommitted, NotPrefix} {
		out = append(out, invariant(h)...)
	}
	return out
}

// writers tells which transaction appended an element.
func (h TxnHistory) writers() map[Item]*Txn {
	out := map[Item]*Txn{}
	for i := range h.Txns {
		for _, a := range h.Txns[i].Appends {
			out[a] = &h.Txns[i]
		}
	}
	return out
}

// reads calls f for every list that somebody read, the final ones under the id -1.
func (h TxnHistory) reads(f func(reader int, partition int32, list []int)) {
	for i := range h.Txns {
		for _, p := range slices.Sorted(maps.Keys(h.Txns[i].Reads)) {
			f(h.Txns[i].ID, p, h.Txns[i].Reads[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(h.Final)) {
		f(-1, p, h.Final[p])
	}
}

// AbortedRead (I8, G1a) finds elements of aborted transactions, and such as nobody wrote, in what was read.
func AbortedRead(h TxnHistory) []Violation {
	by := h.writers()
	var out []Violation
	h.reads(func(reader int, partition int32, list []int) {
		for _, e := range list {
			switch w := by[Item{partition, e}]; {
			case w == nil:
				out = append(out, Violation{"aborted-read", fmt.Sprintf("reader %d saw %d in %d, which nobody wrote", reader, e, partition)})
			case w.Outcome == Aborted:
				out = append(out, Violation{"aborted-read", fmt.Sprintf("reader %d saw %d in %d of aborted transaction %d", reader, e, partition, w.ID)})
			}
		}
	})
	return out
}

// Torn (I9) finds transactions of which the final lists have a part only, committed ones of which they have nothing, and elements
// that are there twice.
func Torn(h TxnHistory) []Violation {
	count := map[Item]int{}
	for p, list := range h.Final {
		for _, e := range list {
			count[Item{p, e}]++
		}
	}
	var out []Violation
	for i := range h.Txns {
		tx := &h.Txns[i]
		there := 0
		for _, a := range tx.Appends {
			if count[a] > 1 {
				out = append(out, Violation{"torn", fmt.Sprintf("%d of transaction %d is in %d %d times", a.Element, tx.ID, a.Partition, count[a])})
			}
			there += min(count[a], 1)
		}
		if there > 0 && there < len(tx.Appends) || there == 0 && len(tx.Appends) > 0 && tx.Outcome == Committed {
			out = append(out, Violation{"torn", fmt.Sprintf("of transaction %d (outcome %d) %d of %d appends are there", tx.ID, tx.Outcome, there, len(tx.Appends))})
		}
	}
	return out
}

// IntermediateRead (I10, G1b) finds reads of a list that have some of a transaction's elements and not the last one it
// appended to that list.
func IntermediateRead(h TxnHistory) []Violation {
	by := h.writers()
	last := map[int32]map[*Txn]int{}
	for i := range h.Txns {
		for _, a := range h.Txns[i].Appends {
			if last[a.Partition] == nil {
				last[a.Partition] = map[*Txn]int{}
			}
			last[a.Partition][&h.Txns[i]] = a.Element
		}
	}
	var out []Violation
	h.reads(func(reader int, partition int32, list []int) {
		if len(list) == 0 {
			return
		}
		e := list[len(list)-1]
		w := by[Item{partition, e}]
		if w != nil && w.ID != reader && last[partition][w] != e {
			out = append(out, Violation{"intermediate-read", fmt.Sprintf("reader %d saw %d as the end of %d, in the middle of transaction %d", reader, e, partition, w.ID)})
		}
	})
	return out
}

// ZombieCommitted (I12) finds transactions of fenced producers whose commit was acknowledged, or whose elements are there.
func ZombieCommitted(h TxnHistory) []Violation {
	there := map[Item]bool{}
	for p, list := range h.Final {
		for _, e := range list {
			there[Item{p, e}] = true
		}
	}
	var out []Violation
	for i := range h.Txns {
		tx := &h.Txns[i]
		if !tx.Fenced {
			continue
		}
		if tx.Outcome == Committed || slices.ContainsFunc(tx.Appends, func(a Item) bool { return there[a] }) {
			out = append(out, Violation{"zombie", fmt.Sprintf("transaction %d of a fenced producer counts", tx.ID)})
		}
	}
	return out
}

// NotPrefix finds reads that are not a prefix of the final list: what is stable stays, and comes in one order.
func NotPrefix(h TxnHistory) []Violation {
	var out []Violation
	h.reads(func(reader int, partition int32, list []int) {
		final := h.Final[partition]
		if len(list) > len(final) || !slices.Equal(list, final[:len(list)]) {
			out = append(out, Violation{"not-prefix", fmt.Sprintf("reader %d saw %v in %d, in the end it is %v", reader, clip(list), partition, clip(final))})
		}
	})
	return out
}

// clip keeps what is printed short.
func clip(list []int) []int { return list[max(0, len(list)-10):] }
