package compact

import "math"

// Segment is what the decisions need to know of a segment.
type Segment struct {
	Base, Next int64 // offsets: the first one, and the one behind the last
	Size       int64 // bytes of batches
	IndexSize  int64 // bytes of the offset index
	TimeSize   int64 // bytes of the time index
	// LargestMs is the largest timestamp. It counts only with a minimum lag.
	LargestMs int64
	// FirstMs is the timestamp of the first batch, -1 if unknown. It counts only with a maximum lag.
	FirstMs int64
}

// State is what the decision to compact a log needs to know.
type State struct {
	// Segments are all but the active one, in order.
	Segments []Segment
	// ActiveBase is where the active segment begins.
	ActiveBase int64
	// Start and End are the log start and the log end offset.
	Start, End int64
	// Cleaned is the offset up to which the log was compacted before, 0 if never.
	Cleaned int64
	// Stable is the offset that compaction must not pass: the last stable offset.
	Stable int64
	// NowMs is the time.
	NowMs int64
	// MinLagMs and MaxLagMs are min.compaction.lag.ms and max.compaction.lag.ms.
	MinLagMs, MaxLagMs int64
	// MinDirtyRatio is min.cleanable.dirty.ratio.
	MinDirtyRatio float64
}

// Plan says what part of a log may be compacted.
type Plan struct {
	// First is where the dirty part begins, Bound where the part ends that may be compacted. It is the base of a segment.
	First, Bound int64
	// CleanBytes were compacted before, DirtyBytes may be compacted now.
	CleanBytes, DirtyBytes int64
	// DelayMs is for how long the oldest dirty record has been waiting beyond the maximum lag.
	DelayMs int64
	// Reset says that Cleaned lay outside of the log.
	Reset bool
	// Due says that it is worth it.
	Due bool
}

// Ratio returns the part of the log that is dirty.
func (p Plan) Ratio() float64 {
	if p.CleanBytes+p.DirtyBytes == 0 {
		return 0
	}
	return float64(p.DirtyBytes) / float64(p.CleanBytes+p.DirtyBytes)
}

// Decide says what part of a log may be compacted, and whether it should be.
func Decide(s State) Plan {
	p := Plan{First: max(s.Cleaned, s.Start)}
	if s.Cleaned > s.End { // the log lost its end
		p.First = s.Start
	}
	p.Reset = s.Cleaned != 0 && p.First != s.Cleaned
	p.Bound = max(p.First, s.bound(p.First))
	first := p.First
	for _, seg := range s.Segments {
		if seg.Base < first {
			p.CleanBytes += seg.Size
		}
		if seg.Next > first && seg.Base < p.Bound {
			p.DirtyBytes += seg.Size
		}
	}
	p.DelayMs = s.delay(first)
	p.Due = p.DirtyBytes > 0 && (p.DelayMs > 0 || p.Ratio() > s.MinDirtyRatio)
	return p
}

// bound returns the base of the first segment that may not be compacted: the one that is active, that holds the last stable offset, or
// that holds a record which is too young.
func (s *State) bound(first int64) int64 {
	bound := s.ActiveBase
	for i := len(s.Segments) - 1; i >= 0; i-- {
		seg := s.Segments[i]
		if seg.Next <= first {
			break
		}
		tooYoung := s.MinLagMs > 0 && seg.LargestMs > s.NowMs-s.MinLagMs
		if seg.Next > s.Stable || tooYoung {
			bound = seg.Base
		}
	}
	return bound
}

// delay returns for how long the oldest dirty record has waited beyond the maximum lag.
func (s *State) delay(first int64) int64 {
	if s.MaxLagMs == math.MaxInt64 {
		return 0
	}
	oldest := int64(math.MaxInt64)
	for _, seg := range s.Segments {
		if seg.Next > first && seg.FirstMs > 0 {
			oldest = min(oldest, seg.FirstMs)
		}
	}
	if until := s.NowMs - max(s.MaxLagMs, 0); oldest < until {
		return until - oldest
	}
	return 0
}
