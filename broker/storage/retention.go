package storage

// retainState is what the choice of segments to delete needs to know of a log. Segments are in order, the last one active.
type retainState struct {
	segments       []retainSegment
	start          int64 // log start offset
	end            int64 // log end offset
	limit          int64 // high watermark: what lies above it is kept whatever its age
	nowMs          int64
	retentionMs    int64 // -1: for ever
	retentionBytes int64 // -1: all
	deletePolicy   bool  // cleanup.policy has delete; without it only what lies below the log start offset goes
}

type retainSegment struct {
	base      int64
	size      int64
	largestMs int64 // largest timestamp, or the file's modification time where records have none
}

// retainChoice returns how many segments from the front are to be deleted, and why. All segments may be chosen, if the active one
// holds records and is due too: the caller then rolls first.
func retainChoice(s retainState) (n int, why string) {
	total := int64(0)
	for _, seg := range s.segments {
		total += seg.size
	}
	for i, seg := range s.segments {
		upper := s.end
		last := i == len(s.segments)-1
		if !last {
			upper = s.segments[i+1].base
		}
		if upper > s.limit || last && seg.size == 0 {
			break
		}
		reason := ""
		switch {
		case !last && upper <= s.start:
			reason = "start offset"
		case !s.deletePolicy:
		case s.retentionMs >= 0 && s.nowMs-seg.largestMs > s.retentionMs:
			reason = "time"
		case s.retentionBytes >= 0 && total-s.retentionBytes >= seg.size:
			reason = "size"
		}
		if reason == "" {
			break
		}
		total -= seg.size
		n, why = i+1, reason
	}
	return n, why
}
