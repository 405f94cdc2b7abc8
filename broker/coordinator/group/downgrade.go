package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// downgrades tells whether the group, from which the last member of the consumer protocol may have gone, becomes a classic one.
func (c *consumers) downgrades() bool {
	return c.g.s.c.Migration.Downgrade && len(c.members) > 0 && len(c.members) <= c.g.s.c.MaxSize && c.classicMembers() == len(c.members)
}

// classicMembers counts the members of the classic protocol.
func (c *consumers) classicMembers() int {
	n := 0
	for _, m := range c.members {
		if m.classic != nil {
			n++
		}
	}
	return n
}

// downgrade makes the group a classic one. If somebody has left, the others share what it had.
func (c *consumers) downgrade(t *coordinator.Turn, left bool) {
	members, assigned := c.downgraded()
	s, id, epoch := c.g.s, c.g.id, c.epoch
	c.appendEnd(t)
	g := s.ensure(id)
	g.protocolType, g.generation = consumerType, epoch
	for _, m := range members {
		g.add(m)
	}
	g.protocol = g.choose()
	for _, m := range members {
		g.touch(m, t.Now)
	}
	err := g.store(t, func(m *member) []byte { return assigned[m.id] })
	if err != nil || left {
		// The state of a group that cannot be stored is that of one that is about to rebalance.
		g.state = Stable
		g.rebalance(t)
	}
}

// downgraded returns the members as they are in a classic group, and what they have there.
func (c *consumers) downgraded() (members []*member, assigned map[string][]byte) {
	assigned = make(map[string][]byte, len(c.members))
	for _, m := range c.sorted() {
		members = append(members, &member{
			id: m.id, instanceID: m.instanceID, clientID: m.clientID, clientHost: m.clientHost,
			rebalanceTimeout: m.rebalanceTimeout, sessionTimeout: m.classic.sessionTimeout, protocols: m.classic.protocols,
		})
		assigned[m.id] = encodeAssignment(c.g.s.c.Topics(), c.targets[m.id], m.classic.protocols)
	}
	return members, assigned
}

// encodeAssignment writes partitions in the form that consumers of the classic protocol read, in the version of their own
// metadata.
func encodeAssignment(topics Topics, partitions Partitions, protocols []Protocol) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	if s, err := readSubscription(protocols); err == nil {
		a.Version = min(max(s.Version, 0), 3)
	}
	for _, id := range partitions.Topics() {
		topic, ok := topics.ByID(id)
		if !ok {
			continue
		}
		at := kmsg.NewConsumerMemberAssignmentTopic()
		at.Topic, at.Partitions = topic.Name, partitions[id]
		a.Topics = append(a.Topics, at)
	}
	return a.AppendTo(nil)
}
