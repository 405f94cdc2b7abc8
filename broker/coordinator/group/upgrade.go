package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// Migration says which groups may change their protocol while they have members.
type Migration struct {
	// Upgrade lets members of the consumer protocol into groups of the classic one.
	Upgrade bool
	// Downgrade makes a group a classic one when the last member of the consumer protocol leaves it.
	Downgrade bool
}

// ParseMigration reads a value of group.consumer.migration.policy.
func ParseMigration(policy string) (Migration, error) {
	switch policy {
	case "bidirectional":
		return Migration{Upgrade: true, Downgrade: true}, nil
	case "upgrade":
		return Migration{Upgrade: true}, nil
	case "downgrade":
		return Migration{Downgrade: true}, nil
	case "disabled":
		return Migration{}, nil
	default:
		return Migration{}, fmt.Errorf("%q is none of bidirectional, upgrade, downgrade and disabled", policy)
	}
}

// upgrade ends the classic group, because a member of the consumer protocol joins it. Its members stay: they have what they had,
// and join again when they hear of the new epoch.
func (g *group) upgrade(t *coordinator.Turn, r *ConsumerHeartbeat) error {
	if len(g.members) == 0 {
		g.end(t)
		return nil
	}
	members, err := g.upgraded(t, r)
	if err != nil {
		return err
	}
	for _, m := range g.members {
		m.answerJoin(refuseJoin(m.id, ErrRebalanceInProgress))
		m.answerSync(ErrRebalanceInProgress)
	}
	s, id, epoch := g.s, g.id, g.generation
	g.end(t)
	g = s.ensure(id)
	g.becomeConsumer()
	c := g.consumer
	for _, m := range members {
		c.appendMember(t, m.id, &m.profile)
	}
	c.appendEpoch(t, epoch, 0)
	for _, m := range members {
		c.appendTarget(t, m.id, m.assigned.partitions())
	}
	c.appendTargetEpoch(t, epoch, t.Now)
	for _, m := range members {
		c.appendStanding(t, m.id, &m.standing)
		c.touch(c.members[m.id], t.Now)
	}
	return nil
}

// end removes the classic group's record, and with it all but its offsets.
func (g *group) end(t *coordinator.Turn) {
	if g.stored {
		t.Append(g.key(), nil)
		return
	}
	g.reset()
}

// upgraded returns the members as they are in a group of the consumer protocol.
func (g *group) upgraded(t *coordinator.Turn, r *ConsumerHeartbeat) ([]*consumerMember, error) {
	switch {
	case !g.s.c.Migration.Upgrade:
		return nil, refuse(ErrNotFound, "Group %s is not a consumer group.", g.id)
	case g.protocolType != consumerType:
		return nil, refuse(ErrNotFound, "Group %s is not a consumer group.", g.id)
	case len(g.members) >= g.s.c.ConsumerMaxSize:
		return nil, ErrMaxSizeReached
	case g.byID[r.MemberID] != nil:
		return nil, ErrFencedEpoch
	}
	out := make([]*consumerMember, 0, len(g.members))
	for _, m := range g.members {
		n, err := g.upgradedMember(m)
		if err != nil {
			return nil, refuse(ErrNotFound, "Member %s of group %s cannot be read: %v.", m.id, g.id, err)
		}
		if len(m.id)+len(g.id)+len(n.profile.encode()) > t.RecordBytesMax-16 {
			return nil, ErrSubscriptionTooLarge
		}
		out = append(out, n)
	}
	return out, nil
}

func (g *group) upgradedMember(m *member) (*consumerMember, error) {
	subscription, err := readSubscription(m.protocols)
	if err != nil {
		return nil, err
	}
	n := newConsumerMember(m.id)
	n.profile = profile{
		instanceID: m.instanceID, rack: text(subscription.Rack), clientID: m.clientID, clientHost: m.clientHost,
		topics: sortedNames(subscription.Topics), rebalanceTimeout: m.rebalanceTimeout,
		classic: &classicProfile{sessionTimeout: m.sessionTimeout, protocols: m.protocols},
	}
	n.epoch, n.previous = g.generation, g.generation
	if len(m.assignment) == 0 {
		return n, nil
	}
	var assigned kmsg.ConsumerMemberAssignment
	if err := assigned.ReadFrom(m.assignment); err != nil {
		return nil, err
	}
	topics := g.s.c.Topics()
	for _, topic := range assigned.Topics {
		known, ok := topics.ByName(topic.Topic)
		for _, p := range topic.Partitions {
			if ok && p >= 0 && p < known.Partitions {
				n.assigned.put(known.ID, p, g.generation)
			}
		}
	}
	return n, nil
}

// readSubscription reads what a consumer said of itself, which is the same under all protocols.
func readSubscription(protocols []Protocol) (*kmsg.ConsumerMemberMetadata, error) {
	if len(protocols) == 0 {
		return nil, ErrInconsistentProtocol
	}
	var m kmsg.ConsumerMemberMetadata
	if err := m.ReadFrom(protocols[0].Metadata); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInconsistentProtocol, err)
	}
	return &m, nil
}
