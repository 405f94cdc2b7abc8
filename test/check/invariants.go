package check

import "fmt"

// Lost finds acknowledged records that are not in the last pass.
func Lost(h History) []Violation {
	if len(h.Passes) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, r := range h.Passes[len(h.Passes)-1] {
		seen[r.Value] = true
	}
	var out []Violation
	for _, w := range h.Writes {
		if w.Acked && !seen[w.Value()] {
			out = append(out, Violation{"lost", fmt.Sprintf("%s, acknowledged at %d/%d", w.Value(), w.Partition, w.Offset)})
		}
	}
	return out
}

type position struct {
	partition int32
	offset    int64
}

// Moved finds offsets that held two values, over all passes and acknowledgements.
func Moved(h History) []Violation {
	at := map[position]string{}
	var out []Violation
	claim := func(p position, value string) {
		if old, ok := at[p]; ok && old != value {
			out = append(out, Violation{"moved", fmt.Sprintf("%d/%d held %s, then %s", p.partition, p.offset, old, value)})
			return
		}
		at[p] = value
	}
	for _, pass := range h.Passes {
		for _, r := range pass {
			claim(position{r.Partition, r.Offset}, r.Value)
		}
	}
	for _, w := range h.Writes {
		if w.Acked {
			claim(position{w.Partition, w.Offset}, w.Value())
		}
	}
	return out
}

// Duplicated finds records that idempotent producers wrote and a reader got twice.
func Duplicated(h History) []Violation {
	var out []Violation
	for _, pass := range h.Passes {
		first := map[string]Read{}
		for _, r := range pass {
			if f, ok := first[r.Value]; ok {
				out = append(out, Violation{"duplicated", fmt.Sprintf("%s at %d/%d and %d/%d", r.Value, f.Partition, f.Offset, r.Partition, r.Offset)})
				continue
			}
			first[r.Value] = r
		}
	}
	return out
}

// Reordered finds records of one producer that stand out of the order of their
// sequence within a partition.
func Reordered(h History) []Violation {
	type stream struct {
		producer  int
		partition int32
	}
	var out []Violation
	for _, pass := range h.Passes {
		last := map[stream]int{}
		for _, r := range pass {
			var w Write
			if _, err := fmt.Sscanf(r.Value, "%d-%d-%d", &w.Producer, &w.Partition, &w.Sequence); err != nil {
				out = append(out, Violation{"foreign", fmt.Sprintf("%q at %d/%d was never written", r.Value, r.Partition, r.Offset)})
				continue
			}
			s := stream{w.Producer, r.Partition}
			if l, ok := last[s]; ok && w.Sequence < l {
				out = append(out, Violation{"reordered", fmt.Sprintf("%s at %d/%d after sequence %d", r.Value, r.Partition, r.Offset, l)})
			}
			last[s] = w.Sequence
		}
	}
	return out
}

// OffsetsRise finds offsets that a reader got twice or backwards.
func OffsetsRise(h History) []Violation {
	var out []Violation
	for _, pass := range h.Passes {
		last := map[int32]int64{}
		for _, r := range pass {
			if l, ok := last[r.Partition]; ok && r.Offset <= l {
				out = append(out, Violation{"offsets", fmt.Sprintf("%d/%d after offset %d", r.Partition, r.Offset, l)})
			}
			last[r.Partition] = r.Offset
		}
	}
	return out
}
