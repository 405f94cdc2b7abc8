package compact

import "math"

// Groups cuts segments into runs that fit into one segment each: by the size of batches and of indexes, and because offsets in a
// segment are kept relative to its first one. Without it, compaction would leave ever more and ever smaller segments. A segment without
// batches belongs to no group. The answer holds pairs: the index of the first segment and the one behind the last.
func Groups(segments []Segment, maxBytes, maxIndexBytes int64) (groups [][2]int) {
	var sum Segment
	begin := -1
	for i, s := range segments {
		if s.Size == 0 {
			begin = -1
			continue
		}
		fits := begin >= 0 && sum.Size+s.Size <= maxBytes && sum.IndexSize+s.IndexSize <= maxIndexBytes &&
			sum.TimeSize+s.TimeSize <= maxIndexBytes && s.Next-1-sum.Base <= math.MaxInt32
		if !fits {
			begin, sum = i, s
			groups = append(groups, [2]int{i, i + 1})
			continue
		}
		sum.Size, sum.IndexSize, sum.TimeSize = sum.Size+s.Size, sum.IndexSize+s.IndexSize, sum.TimeSize+s.TimeSize
		groups[len(groups)-1][1] = i + 1
	}
	return groups
}
