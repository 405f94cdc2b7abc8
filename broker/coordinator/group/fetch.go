package group

import (
	"maps"
	"slices"
)

// FetchRequest asks for committed offsets.
type FetchRequest struct {
	Group string
	// MemberID is nil, and MemberEpoch negative, where the client does not tell them.
	MemberID    *string
	MemberEpoch int32
	// All asks for all partitions, Topics then is nothing.
	All    bool
	Topics []FetchTopic
	// RequireStable wants no offset that a transaction under way is about to change (KIP-447).
	RequireStable bool
}

// FetchTopic names partitions of a topic.
type FetchTopic struct {
	Topic      string
	Partitions []int32
}

// FetchedTopic is the answer for a topic.
type FetchedTopic struct {
	Topic      string
	Partitions []FetchedOffset
}

// FetchedOffset is the answer for a partition. Offset is -1 where the group has none.
type FetchedOffset struct {
	Partition int32
	Err       error
	Offset
}

// none is an offset that was not committed.
var none = Offset{Offset: -1, LeaderEpoch: -1}

// FetchOffsets answers every partition that is asked for, in the order of the request; of all of them, by name and number.
func (s *Shard) FetchOffsets(r *FetchRequest) ([]FetchedTopic, error) {
	g := s.groups[r.Group]
	if g != nil && g.consumer != nil {
		if err := g.consumer.mayFetch(r); err != nil {
			return nil, err
		}
	}
	if r.All {
		return g.fetchAll(r.RequireStable), nil
	}
	out := make([]FetchedTopic, len(r.Topics))
	for i, topic := range r.Topics {
		out[i] = FetchedTopic{Topic: topic.Topic, Partitions: make([]FetchedOffset, len(topic.Partitions))}
		for j, p := range topic.Partitions {
			out[i].Partitions[j] = g.fetch(topicPartition{topic.Topic, p}, r.RequireStable)
		}
	}
	return out, nil
}

// fetch returns the offset of one partition. A group that does not exist has none.
func (g *group) fetch(tp topicPartition, stable bool) FetchedOffset {
	out := FetchedOffset{Partition: tp.partition, Offset: none}
	switch {
	case g == nil:
	case stable && g.offsets.unstable(tp):
		out.Err = ErrUnstableOffset
	default:
		if v, ok := g.offsets.get(tp); ok {
			out.Offset = v
		}
	}
	return out
}

func (g *group) fetchAll(stable bool) []FetchedTopic {
	if g == nil {
		return nil
	}
	var out []FetchedTopic
	for _, topic := range slices.Sorted(maps.Keys(g.offsets.committed)) {
		f := FetchedTopic{Topic: topic}
		for _, p := range slices.Sorted(maps.Keys(g.offsets.committed[topic])) {
			f.Partitions = append(f.Partitions, g.fetch(topicPartition{topic, p}, stable))
		}
		out = append(out, f)
	}
	return out
}
