package check

import "testing"

// goodGroup is a partition that a reads and commits, and b takes over; what a did not commit comes again.
func goodGroup() GroupHistory {
	return GroupHistory{
		Events: []GroupEvent{
			{Assigned, "a", 1, 0, 0},
			{Delivered, "a", 1, 0, 0},
			{Delivered, "a", 1, 0, 1},
			{CommittedOffset, "a", 1, 0, 2},
			{Delivered, "a", 1, 0, 2},
			{Assigned, "b", 2, 0, 0},
			{Delivered, "b", 2, 0, 2},
			{Delivered, "b", 2, 0, 3},
			{CommittedOffset, "b", 2, 0, 4},
		},
		Ends: map[int32]int64{0: 4},
	}
}

// A static member that comes back has what was its own, in the same generation.
func TestStaticMemberComesBack(t *testing.T) {
	h := goodGroup()
	for i := range h.Events {
		h.Events[i].Generation = 1
	}
	h.Instances = map[string]string{"a": "one", "b": "one"}
	if v := CheckGroup(h); len(v) != 0 {
		t.Fatal(v)
	}
}

// TestSeededGroupBugs plants one bug at a time, each of which one invariant has to find.
func TestSeededGroupBugs(t *testing.T) {
	if v := CheckGroup(goodGroup()); len(v) != 0 {
		t.Fatal(v)
	}
	for _, c := range []struct {
		name, invariant string
		check           func(GroupHistory) []Violation
		plant           func(h *GroupHistory)
	}{
		{"a poll skips", "skipped", Skipped, func(h *GroupHistory) { h.Events[2].Offset = 2 }},
		{"a poll goes back", "skipped", Skipped, func(h *GroupHistory) { h.Events[4].Offset = 1 }},
		{"two owners", "owned-twice", OwnedTwice, func(h *GroupHistory) { h.Events[5].Generation = 1 }},
		{"two owners that are static", "owned-twice", OwnedTwice, func(h *GroupHistory) {
			h.Events[5].Generation, h.Instances = 1, map[string]string{"a": "first", "b": "second"}
		}},
		{"a commit falls", "commit-fell", CommitFell, func(h *GroupHistory) { h.Events[8].Generation, h.Events[8].Offset = 1, 1 }},
		{"a commit of what nobody got", "commit-ahead", CommitAhead, func(h *GroupHistory) { h.Events[3].Offset = 3 }},
		{"a commit is forgotten", "delivered-again", DeliveredAgain, func(h *GroupHistory) { h.Events[6].Offset = 1 }},
		{"a record comes to nobody", "undelivered", Undelivered, func(h *GroupHistory) { h.Ends[0] = 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := goodGroup()
			c.plant(&h)
			found := c.check(h)
			if len(found) == 0 || found[0].Invariant != c.invariant || len(CheckGroup(h)) == 0 {
				t.Errorf("not found by %s: %v; all find %v", c.invariant, found, CheckGroup(h))
			}
		})
	}
}

func TestSeededWatermarkBugs(t *testing.T) {
	good := []Watermark{{0, 0, 5, 3}, {0, 0, 6, 3}, {1, 0, 2, 2}, {0, 1, 4, 4}, {0, 1, 5, 4}}
	if v := WatermarkFell(good); len(v) != 0 {
		t.Fatal(v)
	}
	for name, bad := range map[string]Watermark{
		"high": {0, 1, 4, 4}, "stable": {0, 1, 5, 3}, "stable above high": {0, 1, 6, 7},
	} {
		if len(WatermarkFell(append(good[:len(good):len(good)], bad))) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// TestSeededCompactionBugs does the same for compacted logs.
func TestSeededCompactionBugs(t *testing.T) {
	good := func() CompactedHistory {
		return CompactedHistory{
			Writes: []KeyWrite{{"a", "1", true, 0}, {"b", "2", true, 1}, {"a", "3", true, 2}, {"b", "", true, 3}, {"c", "4", true, 4}, {"c", "5", false, 0}},
			Reads:  []KeyRead{{"a", "3", 2}, {"c", "4", 4}, {"c", "5", 5}},
		}
	}
	if v := CheckCompacted(good()); len(v) != 0 {
		t.Fatal(v)
	}
	for _, c := range []struct {
		name, invariant string
		check           func(CompactedHistory) []Violation
		plant           func(h *CompactedHistory)
	}{
		{"the last record of a key is removed", "key-lost", KeyLost, func(h *CompactedHistory) { h.Reads = h.Reads[1:] }},
		{"an older record is kept instead", "key-lost", KeyLost, func(h *CompactedHistory) { h.Reads[0] = KeyRead{"a", "1", 0} }},
		{"a record moves", "key-changed", KeyChanged, func(h *CompactedHistory) { h.Reads[0].Offset = 1 }},
		{"a value of another record", "key-changed", KeyChanged, func(h *CompactedHistory) { h.Reads[0].Value = "9" }},
		{"a record from nowhere", "key-changed", KeyChanged, func(h *CompactedHistory) { h.Reads[2].Value = "9" }},
		{"a segment is there twice", "key-changed", KeyChanged, func(h *CompactedHistory) { h.Reads = append(h.Reads, h.Reads[1]) }},
		{"what was deleted comes back", "key-rose", KeyRose, func(h *CompactedHistory) { h.Reads = append([]KeyRead{{"b", "2", 1}}, h.Reads...) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := good()
			c.plant(&h)
			found := c.check(h)
			if len(found) == 0 || found[0].Invariant != c.invariant || len(CheckCompacted(h)) == 0 {
				t.Errorf("not found by %s: %v; all find %v", c.invariant, found, CheckCompacted(h))
			}
		})
	}
}
