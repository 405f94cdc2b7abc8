package group

import (
	"encoding/binary"
	"hash/fnv"
	"iter"
	"maps"
	"slices"

	"moldau/broker/coordinator/group/assignor"
)

// TopicID is the id of a topic.
type TopicID = assignor.TopicID

// Partitions are partitions by the ids of their topics.
type Partitions = assignor.Partitions

// Topics is what the coordinator knows of the cluster's topics: one revision, which does not change.
type Topics interface {
	// Rev grows with every change.
	Rev() int64
	// ByName returns a topic.
	ByName(name string) (Topic, bool)
	// ByID returns a topic.
	ByID(id TopicID) (Topic, bool)
	// All yields all topics, by name.
	All() iter.Seq[Topic]
}

// Topic is a topic as members are assigned it.
type Topic struct {
	ID         TopicID
	Name       string
	Partitions int32
}

// hashTopics returns a number that changes when one of the topics comes, goes, grows, or is made anew. That of no topics is 0.
func hashTopics(topics Topics, names map[string]struct{}) int64 {
	h, some := fnv.New64a(), false
	var buf []byte
	for _, name := range slices.Sorted(maps.Keys(names)) {
		topic, ok := topics.ByName(name)
		if !ok {
			continue
		}
		some = true
		buf = append(buf[:0], topic.ID[:]...)
		buf = binary.BigEndian.AppendUint32(buf, uint32(topic.Partitions))
		_, _ = h.Write(buf) // a hash takes everything
	}
	if !some {
		return 0
	}
	return int64(h.Sum64())
}
