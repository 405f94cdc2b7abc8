package group

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// Replay implements coordinator.Shard. Records of a kind or version that is not known are passed over.
func (s *Shard) Replay(r coordinator.Record) {
	s.seq++
	version, err := keyVersion(r.Key)
	if err == nil {
		switch version {
		case 0, offsetKeyVersion:
			err = s.replayOffset(r)
		case groupKeyVersion:
			err = s.replayGroup(r)
		case consumerGroupKey, consumerTopicsKey, consumerMemberKey, consumerTargetEpochKey, consumerTargetKey, consumerCurrentKey, consumerRegexKey:
			err = s.replayConsumer(version, r)
		default:
			err = fmt.Errorf("%w: %d", errUnknownKey, version)
		}
	}
	if err != nil && s.c.Skipped != nil {
		s.c.Skipped(r.Key, err)
	}
}

func (s *Shard) replayGroup(r coordinator.Record) error {
	var k kmsg.GroupMetadataKey
	if err := k.ReadFrom(r.Key); err != nil {
		return fmt.Errorf("key of a group: %w", err)
	}
	if r.Value == nil {
		if g := s.groups[k.Group]; g != nil && g.consumer == nil {
			g.reset()
			if g.idle() {
				s.drop(g)
			}
		}
		return nil
	}
	var v kmsg.GroupMetadataValue
	if err := v.ReadFrom(r.Value); err != nil {
		return fmt.Errorf("value of group %q: %w", k.Group, err)
	}
	s.ensure(k.Group).apply(&v)
	return nil
}

// apply takes over a record. Of members that are known already only the assignment is news: the rest of them, and what
// they wait for, is the group's own doing.
func (g *group) apply(v *kmsg.GroupMetadataValue) {
	g.stored, g.consumer = true, nil
	g.protocolType, g.protocol, g.leader = v.ProtocolType, text(v.Protocol), text(v.Leader)
	g.generation = v.Generation
	g.since = time.Time{}
	if v.CurrentStateTimestamp >= 0 {
		g.since = time.UnixMilli(v.CurrentStateTimestamp)
	}
	g.state = Empty
	if len(v.Members) > 0 {
		g.state = Stable
	}
	known := g.byID
	g.members, g.byID, g.static = g.members[:0], make(map[string]*member, len(v.Members)), make(map[string]*member)
	for i := range v.Members {
		o := &v.Members[i]
		m := known[o.MemberID]
		if m == nil {
			m = g.restore(o)
		}
		m.assignment = slices.Clone(o.Assignment)
		g.add(m)
	}
}

// restore makes a member of what a record says.
func (g *group) restore(o *kmsg.GroupMetadataValueMember) *member {
	m := &member{
		id: o.MemberID, instanceID: text(o.InstanceID), clientID: o.ClientID, clientHost: o.ClientHost,
		sessionTimeout: time.Duration(o.SessionTimeoutMillis) * time.Millisecond,
		protocols:      []Protocol{{Name: g.protocol, Metadata: slices.Clone(o.Subscription)}},
	}
	m.rebalanceTimeout = m.sessionTimeout // records of version 0 have none
	if o.RebalanceTimeoutMillis >= 0 {
		m.rebalanceTimeout = time.Duration(o.RebalanceTimeoutMillis) * time.Millisecond
	}
	return m
}

// reset takes away everything but the offsets.
func (g *group) reset() {
	g.s.deadlines.forget(g)
	for _, m := range append([]*member(nil), g.members...) {
		g.remove(m)
	}
	fresh := newGroup(g.s, g.id)
	fresh.offsets = g.offsets
	*g = *fresh
}

func (s *Shard) replayOffset(r coordinator.Record) error {
	var k kmsg.OffsetCommitKey
	if err := k.ReadFrom(r.Key); err != nil {
		return fmt.Errorf("key of an offset: %w", err)
	}
	tp := topicPartition{s.intern(k.Topic), k.Partition}
	if r.Value == nil {
		if g := s.groups[k.Group]; g != nil {
			g.offsets.remove(tp)
		}
		return nil
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(r.Value); err != nil {
		return fmt.Errorf("offset of group %q for %s-%d: %w", k.Group, k.Topic, k.Partition, err)
	}
	o := Offset{
		Offset: v.Offset, LeaderEpoch: -1, Metadata: v.Metadata, TopicID: v.TopicID,
		committed: time.UnixMilli(v.CommitTimestamp), seq: s.seq,
	}
	if v.Version >= 3 {
		o.LeaderEpoch = v.LeaderEpoch
	}
	if v.Version == 1 && v.ExpireTimestamp >= 0 {
		o.expires = time.UnixMilli(v.ExpireTimestamp)
	}
	g := s.ensure(k.Group)
	if r.Producer == coordinator.NoProducer {
		g.offsets.put(tp, o)
		return nil
	}
	g.offsets.putPending(r.Producer.ID, tp, o)
	s.open(r.Producer.ID, g)
	return nil
}

// ReplayMarker implements coordinator.Shard: the offsets of the producer's transaction count from now on, or never did.
func (s *Shard) ReplayMarker(m coordinator.Marker) {
	s.seq++
	for g := range s.transactions[m.ID] {
		g.offsets.end(m.ID, m.Commit)
	}
	delete(s.transactions, m.ID)
}

// open notes that a producer has offsets of a group in its transaction.
func (s *Shard) open(producer int64, g *group) {
	groups := s.transactions[producer]
	if groups == nil {
		groups = make(map[*group]struct{}, 1)
		s.transactions[producer] = groups
	}
	groups[g] = struct{}{}
}
