package storage

import "math"

// rollState is what the decision to roll needs to know of the active segment.
type rollState struct {
	base         int64 // base offset
	size         int64 // bytes
	firstMs      int64 // timestamp of the segment's first batch, -1 if none or without timestamp
	createdMs    int64 // when the segment was created
	jitterMs     int64 // taken off segment.ms
	offsetFull   bool  // the offset index has no room
	timeFull     bool  // the time index has no room
	appendBytes  int64 // what is about to be appended
	appendLast   int64 // last offset of that
	appendMaxMs  int64 // its largest timestamp, -1 if none
	nowMs        int64
	segmentBytes int64
	segmentMs    int64
}

// rollReason says why a segment is rolled; "" means that it isn't.
func rollReason(s rollState) string {
	switch {
	case s.appendLast-s.base > math.MaxInt32:
		return "offset"
	case s.size == 0:
		return ""
	case s.size > s.segmentBytes-s.appendBytes:
		return "size"
	case waitedMs(s) > s.segmentMs-s.jitterMs:
		return "time"
	case s.offsetFull, s.timeFull:
		return "index"
	}
	return ""
}

// waitedMs is the age that counts for segment.ms: by the records' clock where they have one, so that a log which is copied later
// rolls where the original did, else by ours.
func waitedMs(s rollState) int64 {
	if s.firstMs >= 0 {
		return s.appendMaxMs - s.firstMs
	}
	return s.nowMs - s.createdMs
}
