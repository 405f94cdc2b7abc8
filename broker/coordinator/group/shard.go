package group

import (
	"maps"
	"slices"
	"strings"
	"time"

	"moldau/broker/coordinator"
)

// Shard is the groups of one partition of __consumer_offsets.
type Shard struct {
	c            Config
	groups       map[string]*group
	transactions map[int64]map[*group]struct{} // groups with offsets in a producer's transaction
	topics       map[string]string             // names of topics, each held once
	deadlines    deadlines
	retention    time.Time // when offsets are next looked through for expired ones
	seq          int64     // counts what was replayed: which of two records is the younger
}

var _ coordinator.Shard = (*Shard)(nil)

// NewShard returns a shard without groups.
func NewShard(c Config) *Shard {
	return &Shard{
		c: c, groups: map[string]*group{}, transactions: map[int64]map[*group]struct{}{}, topics: map[string]string{},
	}
}

// Start implements coordinator.Shard: the sessions of all members begin anew.
func (s *Shard) Start(t *coordinator.Turn) {
	s.retention = t.Now.Add(s.c.OffsetsRetentionCheckInterval)
	for _, g := range s.sorted() {
		if g.idle() && !g.stored {
			s.drop(g)
			continue
		}
		if g.consumer != nil {
			g.consumer.begin(t.Now)
			g.settle()
			continue
		}
		for _, m := range g.members {
			g.touch(m, t.Now)
		}
		if len(g.members) > s.c.MaxSize { // the limit was lowered
			g.rebalance(t)
		}
	}
}

// NextDeadline implements coordinator.Shard.
func (s *Shard) NextDeadline() time.Time { return earliest(s.deadlines.next(), s.retention) }

// Expire implements coordinator.Shard.
func (s *Shard) Expire(t *coordinator.Turn) {
	for g := s.deadlines.take(t.Now); g != nil; g = s.deadlines.take(t.Now) {
		g.expire(t)
		if g.idle() && !g.stored {
			s.drop(g)
		} else if next := g.nextDeadline(); !next.IsZero() && s.groups[g.id] == g {
			g.wake(next)
		}
	}
	if !s.retention.IsZero() && !s.retention.After(t.Now) {
		s.retention = t.Now.Add(s.c.OffsetsRetentionCheckInterval)
		s.expireOffsets(t)
	}
}

// Stop implements coordinator.Shard.
func (s *Shard) Stop(err error) {
	for _, g := range s.groups {
		for _, m := range g.members {
			if m.join != nil {
				m.join.Fail(err)
			}
			if m.sync != nil {
				m.sync.Fail(err)
			}
		}
	}
}

// sorted returns the groups by id, so that what is decided about all of them does not depend on chance.
func (s *Shard) sorted() []*group {
	return slices.SortedFunc(maps.Values(s.groups), func(a, b *group) int { return strings.Compare(a.id, b.id) })
}

// ensure returns a group, which it makes if it isn't there.
func (s *Shard) ensure(id string) *group {
	g := s.groups[id]
	if g == nil {
		g = newGroup(s, id)
		s.groups[id] = g
	}
	return g
}

// settle is called after an operation that may have changed the protocol of a group.
func (s *Shard) settle(id string) {
	if g := s.groups[id]; g != nil {
		g.settle()
	}
}

// drop forgets a group.
func (s *Shard) drop(g *group) {
	s.deadlines.forget(g)
	if s.groups[g.id] == g {
		delete(s.groups, g.id)
	}
}

// intern returns one copy of a topic's name for all who hold it.
func (s *Shard) intern(topic string) string {
	if held, ok := s.topics[topic]; ok {
		return held
	}
	s.topics[topic] = topic
	return topic
}
