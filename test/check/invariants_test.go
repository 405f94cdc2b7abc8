package check

import "testing"

// good is a history of two producers and two passes that keeps every
// invariant; the records of producer 1 past sequence 1 were not acknowledged.
func good() History {
	var h History
	offset := map[int32]int64{}
	var pass []Read
	for seq := range 3 {
		for producer := range 2 {
			for partition := range int32(2) {
				w := Write{Producer: producer, Sequence: seq, Partition: partition, Offset: offset[partition]}
				w.Acked = producer == 0 || seq < 2
				h.Writes = append(h.Writes, w)
				pass = append(pass, Read{Partition: partition, Offset: w.Offset, Value: w.Value()})
				offset[partition]++
			}
		}
	}
	h.Passes = [][]Read{pass[:6], append([]Read(nil), pass...)}
	return h
}

func TestGoodHistory(t *testing.T) {
	if v := Check(good()); len(v) != 0 {
		t.Fatal(v)
	}
}

func TestUnackedRecordMayBeMissing(t *testing.T) {
	h := good()
	last := &h.Passes[1]
	*last = (*last)[:len(*last)-2] // producer 1, sequence 2
	if v := Check(h); len(v) != 0 {
		t.Fatal(v)
	}
}

// TestSeededBugs plants one bug per invariant and demands that it is found
// under that invariant's name.
func TestSeededBugs(t *testing.T) {
	for _, c := range []struct {
		invariant string
		plant     func(h *History)
	}{
		{"lost", func(h *History) { h.Passes[1] = h.Passes[1][1:] }},
		{"moved", func(h *History) { h.Writes[0].Offset += 7; h.Passes[1][0].Offset, h.Writes[4].Offset = 0, 0 }},
		{"moved", func(h *History) { h.Passes[0][2].Value = "9-0-0" }},
		{"duplicated", func(h *History) {
			h.Passes[1] = append(h.Passes[1], Read{Partition: 0, Offset: 99, Value: h.Passes[1][0].Value})
		}},
		{"reordered", func(h *History) {
			p := h.Passes[1]
			p[0].Value, p[4].Value = p[4].Value, p[0].Value
		}},
		{"offsets", func(h *History) { h.Passes[1] = append(h.Passes[1], Read{Partition: 0, Offset: 0, Value: "5-0-0"}) }},
		{"foreign", func(h *History) { h.Passes[1][0].Value = "noise" }},
	} {
		h := good()
		c.plant(&h)
		found := false
		for _, v := range Check(h) {
			found = found || v.Invariant == c.invariant
		}
		if !found {
			t.Errorf("%s: the planted bug was not found: %v", c.invariant, Check(h))
		}
	}
}
