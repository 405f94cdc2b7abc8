package check

import "fmt"

// GroupEventKind is what a member of a group noted.
type GroupEventKind int8

// What members note.
const (
	// Assigned is a partition that a member got in a generation.
	Assigned GroupEventKind = iota
	// Delivered is a record that a poll returned.
	Delivered
	// CommittedOffset is an offset whose commit was acknowledged: that of the next record to read.
	CommittedOffset
)

// GroupEvent is one thing that happened to a member.
type GroupEvent struct {
	Kind       GroupEventKind
	Member     string
	Generation int32
	Partition  int32
	Offset     int64 // of Delivered and CommittedOffset
}

// GroupHistory is what the members of one group noted, in one order: a commit comes after its acknowledgement, an assignment
// before the member asks where to begin. The topic has no gaps.
type GroupHistory struct {
	Events []GroupEvent
	// Instances are the group instance ids of the static members. A member that comes back with the instance id of another one
	// takes its place, in the same generation where nothing else changes.
	Instances map[string]string
	// Ends are the ends of the partitions when everything was read.
	Ends map[int32]int64
}

// CheckGroup runs every invariant of groups.
func CheckGroup(h GroupHistory) []Violation {
	var out []Violation
	for _, invariant := range []func(GroupHistory) []Violation{Skipped, OwnedTwice, CommitFell, CommitAhead, DeliveredAgain, Undelivered} {
		out = append(out, invariant(h)...)
	}
	return out
}

// owned is a partition in the hands of a member.
type owned struct {
	member    string
	partition int32
}

// tenure is a partition in a generation.
type tenure struct {
	generation, partition int32
}

// Skipped (I6) finds polls that leave out records, or go back, without an assignment in between.
func Skipped(h GroupHistory) []Violation {
	next := map[owned]int64{}
	var out []Violation
	for _, e := range h.Events {
		at := owned{e.Member, e.Partition}
		switch e.Kind {
		case Assigned:
			delete(next, at)
		case Delivered:
			if want, ok := next[at]; ok && e.Offset != want {
				out = append(out, Violation{"skipped", fmt.Sprintf("%s got %d/%d when %d was next", e.Member, e.Partition, e.Offset, want)})
			}
			next[at] = e.Offset + 1
		case CommittedOffset:
		}
	}
	return out
}

// owner is what makes members that follow each other in one place the same.
func (h GroupHistory) owner(member string) string {
	if instance := h.Instances[member]; instance != "" {
		return "instance " + instance
	}
	return member
}

// OwnedTwice (I13) finds partitions with two members in one generation.
func OwnedTwice(h GroupHistory) []Violation {
	by := map[tenure]string{}
	var out []Violation
	for _, e := range h.Events {
		at := tenure{e.Generation, e.Partition}
		if e.Kind != Assigned {
			continue
		}
		if other, ok := by[at]; ok && h.owner(other) != h.owner(e.Member) {
			out = append(out, Violation{"owned-twice", fmt.Sprintf("partition %d belongs to %s and %s in generation %d", e.Partition, other, e.Member, e.Generation)})
		}
		by[at] = e.Member
	}
	return out
}

// CommitFell (I13) finds commits below an earlier one of the same generation.
func CommitFell(h GroupHistory) []Violation {
	last := map[tenure]int64{}
	var out []Violation
	for _, e := range h.Events {
		at := tenure{e.Generation, e.Partition}
		if e.Kind != CommittedOffset {
			continue
		}
		if was, ok := last[at]; ok && e.Offset < was {
			out = append(out, Violation{"commit-fell", fmt.Sprintf("partition %d from %d to %d in generation %d", e.Partition, was, e.Offset, e.Generation)})
		}
		last[at] = e.Offset
	}
	return out
}

// CommitAhead (I13) finds commits of records that nobody was given.
func CommitAhead(h GroupHistory) []Violation {
	next := map[int32]int64{}
	var out []Violation
	for _, e := range h.Events {
		switch e.Kind {
		case Delivered:
			next[e.Partition] = max(next[e.Partition], e.Offset+1)
		case CommittedOffset:
			if e.Offset > next[e.Partition] {
				out = append(out, Violation{"commit-ahead", fmt.Sprintf("%s committed %d/%d, delivered was what is below %d", e.Member, e.Partition, e.Offset, next[e.Partition])})
			}
		case Assigned:
		}
	}
	return out
}

// DeliveredAgain finds records that came again although their commit was acknowledged before the assignment.
func DeliveredAgain(h GroupHistory) []Violation {
	committed, from := map[int32]int64{}, map[owned]int64{}
	var out []Violation
	for _, e := range h.Events {
		at := owned{e.Member, e.Partition}
		switch e.Kind {
		case CommittedOffset:
			committed[e.Partition] = max(committed[e.Partition], e.Offset)
		case Assigned:
			from[at] = committed[e.Partition]
		case Delivered:
			if e.Offset < from[at] {
				out = append(out, Violation{"delivered-again", fmt.Sprintf("%s got %d/%d, committed was %d", e.Member, e.Partition, e.Offset, from[at])})
			}
		}
	}
	return out
}

// Undelivered finds records that no member was given.
func Undelivered(h GroupHistory) []Violation {
	type record struct {
		partition int32
		offset    int64
	}
	seen := map[record]bool{}
	for _, e := range h.Events {
		if e.Kind == Delivered {
			seen[record{e.Partition, e.Offset}] = true
		}
	}
	var out []Violation
	for p, end := range h.Ends {
		for o := range end {
			if !seen[record{p, o}] {
				out = append(out, Violation{"undelivered", fmt.Sprintf("%d/%d", p, o)})
			}
		}
	}
	return out
}

// Watermark is what a reader was told about a partition, in the order in which it was told.
type Watermark struct {
	Partition, Epoch int32
	High, Stable     int64
}

// WatermarkFell (I7) finds high watermarks and last stable offsets that fell within a leader epoch.
func WatermarkFell(seen []Watermark) []Violation {
	last := map[tenure]Watermark{}
	var out []Violation
	for _, w := range seen {
		at := tenure{w.Epoch, w.Partition}
		if was, ok := last[at]; ok && (w.High < was.High || w.Stable < was.Stable) {
			out = append(out, Violation{"watermark-fell", fmt.Sprintf("partition %d from %d/%d to %d/%d in epoch %d", w.Partition, was.High, was.Stable, w.High, w.Stable, w.Epoch)})
		}
		if w.Stable > w.High {
			out = append(out, Violation{"watermark-fell", fmt.Sprintf("partition %d is stable up to %d, above %d", w.Partition, w.Stable, w.High)})
		}
		last[at] = w
	}
	return out
}
