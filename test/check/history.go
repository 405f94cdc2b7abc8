package check

import "fmt"

// Write is one record that a producer handed to its client.
type Write struct {
	// Producer and Sequence identify the record; a producer numbers its
	// records of one partition from 0 upwards.
	Producer, Sequence int
	Partition          int32
	// Acked is set when the broker acknowledged the record, at Offset.
	Acked  bool
	Offset int64
}

// Value is the record's content: unique over the history.
func (w Write) Value() string {
	return fmt.Sprintf("%d-%d-%d", w.Producer, w.Partition, w.Sequence)
}

// Read is one record that a reader got, in the order in which it got it.
type Read struct {
	Partition int32
	Offset    int64
	Value     string
}

// History is what happened, as the clients saw it. A Pass is one reader that
// read its partitions from their start.
type History struct {
	Writes []Write
	Passes [][]Read
}

// Violation is one way in which a history breaks an invariant.
type Violation struct {
	// Invariant is the invariant's short name, such as "lost".
	Invariant string
	// What names the record and the offsets.
	What string
}

// String is the invariant's name and what broke it.
func (v Violation) String() string { return v.Invariant + ": " + v.What }

// Check runs every invariant over the history.
func Check(h History) []Violation {
	var out []Violation
	for _, invariant := range []func(History) []Violation{Lost, Moved, Duplicated, Reordered, OffsetsRise} {
		out = append(out, invariant(h)...)
	}
	return out
}
