package group

import (
	"slices"
	"time"

	"moldau/broker/coordinator"
)

// expireOffsets removes what nobody has used for offsets.retention.minutes, and groups of which nothing is left.
func (s *Shard) expireOffsets(t *coordinator.Turn) {
	for _, g := range s.sorted() {
		g.expireOffsets(t)
		if c := g.consumer; c != nil && len(c.members) == 0 && g.offsets.empty() {
			c.appendEnd(t) // which drops it
			continue
		}
		if !g.idle() {
			continue
		}
		if g.stored {
			t.Append(g.key(), nil) // which drops it
		} else {
			s.drop(g)
		}
	}
}

// expireOffsets removes the group's expired offsets. As of KIP-211 the time counts
//
//   - from when the last member left, in a group that had members,
//   - from the last commit of a partition, in a group that only commits, and of topics that the members of a stable group
//     do not subscribe to.
func (g *group) expireOffsets(t *coordinator.Turn) {
	var subscribed map[string]struct{}
	switch {
	case g.consumer != nil:
		subscribed = g.consumer.subscribed()
	case g.protocolType == "" || g.state == Empty:
	case g.state == Stable && g.protocolType == consumerType:
		var known bool
		if subscribed, known = g.subscribed(); !known {
			return
		}
	default:
		return
	}
	var gone []topicPartition
	for topic, partitions := range g.offsets.committed {
		if _, used := subscribed[topic]; used {
			continue
		}
		for p, o := range partitions {
			tp := topicPartition{topic, p}
			if g.expired(&o, t.Now) && !g.offsets.unstable(tp) {
				gone = append(gone, tp)
			}
		}
	}
	g.appendTombstones(t, gone)
}

// appendTombstones removes offsets, in an order that does not depend on chance.
func (g *group) appendTombstones(t *coordinator.Turn, gone []topicPartition) {
	slices.SortFunc(gone, comparePartitions)
	for _, tp := range gone {
		t.Append(offsetKey(g.id, tp), nil)
	}
}

// expired tells whether an offset that nobody uses has been kept long enough.
func (g *group) expired(o *Offset, now time.Time) bool {
	if !o.expires.IsZero() {
		return !o.expires.After(now)
	}
	unused := o.committed
	if g.consumer == nil && g.protocolType != "" && g.state == Empty && !g.since.IsZero() {
		unused = g.since
	}
	return now.Sub(unused) >= g.s.c.OffsetsRetention
}
