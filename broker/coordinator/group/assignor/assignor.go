package assignor

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// TopicID is the id of a topic.
type TopicID = [16]byte

// Partitions are partitions by the ids of their topics, each list in ascending order and none of them empty.
type Partitions map[TopicID][]int32

// Count returns how many partitions there are.
func (p Partitions) Count() int {
	n := 0
	for _, list := range p {
		n += len(list)
	}
	return n
}

// Has tells whether a partition is among them.
func (p Partitions) Has(topic TopicID, partition int32) bool {
	_, found := slices.BinarySearch(p[topic], partition)
	return found
}

// Equal tells whether both are the same partitions.
func (p Partitions) Equal(q Partitions) bool {
	return maps.EqualFunc(p, q, func(a, b []int32) bool { return slices.Equal(a, b) })
}

// Topics returns the ids of the topics in their order.
func (p Partitions) Topics() []TopicID { return slices.SortedFunc(maps.Keys(p), CompareTopics) }

// CompareTopics orders ids of topics.
func CompareTopics(a, b TopicID) int { return bytes.Compare(a[:], b[:]) }

// Spec is what an assignor knows.
type Spec struct {
	// Members are the members of the group by their ids.
	Members map[string]Member
	// Topics is how many partitions the topics have that anybody subscribes to.
	Topics map[TopicID]int32
}

// Member is a member as an assignor sees it.
type Member struct {
	InstanceID string // of a static member
	// Topics are what it subscribes to, in the order of CompareTopics.
	Topics []TopicID
	// Assigned is what the assignment before gave to it.
	Assigned Partitions
}

// subscribes tells whether the member subscribes to a topic.
func (m *Member) subscribes(topic TopicID) bool {
	_, found := slices.BinarySearchFunc(m.Topics, topic, CompareTopics)
	return found
}

// Assignor assigns partitions to members.
type Assignor interface {
	// Name is what clients call it by.
	Name() string
	// Assign returns the partitions of every member that gets any.
	Assign(s *Spec) map[string]Partitions
}

// All returns the assignors, the default one first.
func All() []Assignor { return []Assignor{Uniform{}, Range{}} }

// sortedMembers returns the ids of members: static ones first, by their instance ids, so that they keep their place when they
// come back under another member id.
func (s *Spec) sortedMembers() []string {
	return slices.SortedFunc(maps.Keys(s.Members), func(a, b string) int {
		x, y := s.Members[a].InstanceID, s.Members[b].InstanceID
		if (x == "") != (y == "") {
			if x != "" {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(x, y), strings.Compare(a, b))
	})
}

// subscribers returns, by topic, the members that subscribe to it, in the order of sortedMembers.
func (s *Spec) subscribers(members []string) map[TopicID][]string {
	out := make(map[TopicID][]string, len(s.Topics))
	for _, id := range members {
		for _, topic := range s.Members[id].Topics {
			if s.Topics[topic] > 0 {
				out[topic] = append(out[topic], id)
			}
		}
	}
	return out
}
