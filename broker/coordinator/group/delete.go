package group

import (
	"maps"
	"slices"

	"moldau/broker/coordinator"
)

// Delete removes a group without members, with its offsets.
func (s *Shard) Delete(t *coordinator.Turn, groupID string) error {
	g := s.groups[groupID]
	switch {
	case g == nil:
		return ErrNotFound
	case g.current() != Empty:
		return ErrNonEmpty
	}
	g.removeOffsets(t, func(string) bool { return true })
	if g.consumer != nil {
		g.consumer.appendEnd(t)
		return nil
	}
	t.Append(g.key(), nil)
	return nil
}

// removeOffsets removes the offsets of some topics, those of transactions under way included.
func (g *group) removeOffsets(t *coordinator.Turn, of func(topic string) bool) {
	gone := make(map[topicPartition]struct{})
	for topic, partitions := range g.offsets.committed {
		for p := range partitions {
			if of(topic) {
				gone[topicPartition{topic, p}] = struct{}{}
			}
		}
	}
	for _, held := range g.offsets.pending {
		for tp := range held {
			if of(tp.topic) {
				gone[tp] = struct{}{}
			}
		}
	}
	g.appendTombstones(t, slices.Collect(maps.Keys(gone)))
}

// DeleteTopics removes the offsets of topics that were deleted from all groups.
func (s *Shard) DeleteTopics(t *coordinator.Turn, topics map[string]struct{}) {
	for _, g := range s.sorted() {
		g.removeOffsets(t, func(topic string) bool {
			_, deleted := topics[topic]
			return deleted
		})
	}
}

// Partition names a partition whose offset is to be deleted.
type Partition struct {
	Topic     string
	Partition int32
}

// DeleteOffsets removes offsets of partitions that no member subscribes to, and returns an error for each, or one for all.
// An offset that is not there is no error.
func (s *Shard) DeleteOffsets(t *coordinator.Turn, groupID string, partitions []Partition) ([]error, error) {
	if groupID == "" {
		return nil, ErrInvalidGroupID
	}
	g := s.groups[groupID]
	if g == nil {
		return nil, ErrNotFound
	}
	var subscribed map[string]struct{}
	known := true
	switch {
	case g.consumer != nil:
		subscribed = g.consumer.subscribed()
	case g.state != Empty:
		if g.protocolType != consumerType {
			return nil, ErrNonEmpty
		}
		subscribed, known = g.subscribed()
	}
	errs := make([]error, len(partitions))
	for i, p := range partitions {
		if _, used := subscribed[p.Topic]; used || !known {
			errs[i] = ErrSubscribed
			continue
		}
		tp := topicPartition{p.Topic, p.Partition}
		if _, ok := g.offsets.get(tp); ok || g.offsets.unstable(tp) {
			t.Append(offsetKey(g.id, tp), nil)
		}
	}
	return errs, nil
}
