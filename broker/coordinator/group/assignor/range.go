package assignor

import (
	"maps"
	"slices"
)

// Range gives each subscriber of a topic one run of its partitions, so that partitions with the same number of topics with the
// same subscribers and as many partitions come to the same member.
type Range struct{}

// Name implements Assignor.
func (Range) Name() string { return "range" }

// Assign implements Assignor.
func (Range) Assign(s *Spec) map[string]Partitions {
	out := make(map[string]Partitions, len(s.Members))
	subscribers := s.subscribers(s.sortedMembers())
	for _, topic := range slices.SortedFunc(maps.Keys(subscribers), CompareTopics) {
		members := subscribers[topic]
		each, more := s.Topics[topic]/int32(len(members)), s.Topics[topic]%int32(len(members))
		next := int32(0)
		for i, id := range members {
			n := each
			if int32(i) < more {
				n++
			}
			if n == 0 {
				break
			}
			if out[id] == nil {
				out[id] = Partitions{}
			}
			for range n {
				out[id][topic] = append(out[id][topic], next)
				next++
			}
		}
	}
	return out
}
