package check

import "fmt"

// KeyWrite is a record of a compacted partition. Without a Value it is a tombstone. Values are unique over the history.
type KeyWrite struct {
	Key, Value string
	// Acked is set when the broker acknowledged the record, at Offset.
	Acked  bool
	Offset int64
}

// KeyRead is a record that a reader found.
type KeyRead struct {
	Key, Value string
	Offset     int64
}

// CompactedHistory is what was written to one compacted partition, in the order of each key's writes, and what a reader found
// from its start to its end.
type CompactedHistory struct {
	Writes []KeyWrite
	Reads  []KeyRead
}

// CheckCompacted runs every invariant of compacted logs.
func CheckCompacted(h CompactedHistory) []Violation {
	var out []Violation
	for _, invariant := range []func(CompactedHistory) []Violation{KeyLost, KeyChanged, KeyRose} {
		out = append(out, invariant(h)...)
	}
	return out
}

// KeyLost finds acknowledged records that are gone although nothing newer with their key is there. Tombstones may go.
func KeyLost(h CompactedHistory) []Violation {
	newest := map[string]int64{}
	for _, r := range h.Reads {
		newest[r.Key] = max(newest[r.Key], r.Offset+1)
	}
	covered := map[string]int64{} // by a later tombstone, which may be gone itself
	for _, w := range h.Writes {
		if w.Acked && w.Value == "" {
			covered[w.Key] = max(covered[w.Key], w.Offset+1)
		}
	}
	var out []Violation
	for _, w := range h.Writes {
		if w.Acked && w.Value != "" && newest[w.Key] <= w.Offset && covered[w.Key] <= w.Offset {
			out = append(out, Violation{"key-lost", fmt.Sprintf("%s=%s, acknowledged at %d", w.Key, w.Value, w.Offset)})
		}
	}
	return out
}

// KeyChanged finds records that are not what was written at their offset, or that nobody wrote.
func KeyChanged(h CompactedHistory) []Violation {
	at, written := map[int64]KeyWrite{}, map[[2]string]bool{}
	for _, w := range h.Writes {
		written[[2]string{w.Key, w.Value}] = true
		if w.Acked {
			at[w.Offset] = w
		}
	}
	var out []Violation
	last := int64(-1)
	for _, r := range h.Reads {
		w, ok := at[r.Offset]
		switch {
		case r.Offset <= last:
			out = append(out, Violation{"key-changed", fmt.Sprintf("offset %d after %d", r.Offset, last)})
		case ok && (w.Key != r.Key || w.Value != r.Value):
			out = append(out, Violation{"key-changed", fmt.Sprintf("%d is %s=%s, was %s=%s", r.Offset, r.Key, r.Value, w.Key, w.Value)})
		case !ok && !written[[2]string{r.Key, r.Value}]:
			out = append(out, Violation{"key-changed", fmt.Sprintf("nobody wrote %s=%s at %d", r.Key, r.Value, r.Offset)})
		}
		last = r.Offset
	}
	return out
}

// KeyRose finds keys whose newest record is older than an acknowledged tombstone: what was deleted has come back.
func KeyRose(h CompactedHistory) []Violation {
	deleted := map[string]int64{}
	for _, w := range h.Writes {
		if w.Acked && w.Value == "" {
			deleted[w.Key] = max(deleted[w.Key], w.Offset)
		}
	}
	newest := map[string]KeyRead{}
	for _, r := range h.Reads {
		newest[r.Key] = r
	}
	var out []Violation
	for _, r := range newest {
		if d, ok := deleted[r.Key]; ok && r.Value != "" && r.Offset < d {
			out = append(out, Violation{"key-rose", fmt.Sprintf("%s=%s at %d, deleted at %d", r.Key, r.Value, r.Offset, d)})
		}
	}
	return out
}
