package group

import (
	"time"

	"moldau/broker/coordinator"
)

// consumerLeave lets a member go. A static one may say that it comes back: what it has is kept for it while its session lasts.
func (s *Shard) consumerLeave(t *coordinator.Turn, r *ConsumerHeartbeat) (ConsumerHeartbeatReply, error) {
	g := s.groups[r.Group]
	if g == nil || g.consumer == nil {
		return ConsumerHeartbeatReply{}, refuse(ErrNotFound, "Group %s not found.", r.Group)
	}
	c := g.consumer
	m := c.members[r.MemberID]
	if r.InstanceID != nil {
		if m = c.static[*r.InstanceID]; m != nil && m.id != r.MemberID {
			return ConsumerHeartbeatReply{}, ErrFencedInstance
		}
	}
	if m == nil {
		return ConsumerHeartbeatReply{}, c.unknown(r.MemberID)
	}
	defer g.settle()
	out := ConsumerHeartbeatReply{MemberID: m.id, Epoch: r.MemberEpoch}
	if r.MemberEpoch != leaveStaticEpoch {
		c.lose(t, m)
		return out, nil
	}
	has := m.standing
	has.epoch, has.revoking = leaveStaticEpoch, held{}
	c.appendStanding(t, m.id, &has)
	m.revokeDeadline = time.Time{}
	return out, nil
}

// lose removes a member; the others share what it had as they come. If nobody is left that speaks the consumer protocol, the group
// goes back to the classic one.
func (c *consumers) lose(t *coordinator.Turn, m *consumerMember) {
	c.appendRemoval(t, m.id)
	c.left(t, m.classic == nil)
}

// left is called when members are gone: consumers says that one of them spoke the consumer protocol.
func (c *consumers) left(t *coordinator.Turn, consumers bool) {
	if consumers && c.downgrades() {
		c.downgrade(t, true)
		return
	}
	c.dropRegexes(t)
	c.raise(t, hashTopics(c.g.s.c.Topics(), c.subscribed()))
	if len(c.members) == 0 { // there is nothing to assign
		c.appendTargetEpoch(t, c.epoch, t.Now)
	}
}

// dropRegexes forgets the regular expressions that nobody has any more.
func (c *consumers) dropRegexes(t *coordinator.Turn) {
	for _, expression := range sortedKeys(c.regexes) {
		used := false
		for _, m := range c.members {
			used = used || m.regex == expression
		}
		if !used {
			c.appendRegexEnd(t, expression)
		}
	}
}

// expire does what is due.
func (c *consumers) expire(t *coordinator.Turn) {
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(t.Now) }
	for _, m := range c.sorted() {
		if due(m.nextDeadline()) {
			c.lose(t, m)
			if c.g.consumer != c { // it is a classic group now
				return
			}
		}
	}
}

// begin lets all members live on after their coordinator has moved.
func (c *consumers) begin(now time.Time) {
	for _, m := range c.members {
		c.touch(m, now)
		if m.classic == nil && m.state == MemberUnrevoked {
			c.await(&m.revokeDeadline, now.Add(m.rebalanceTimeout))
		}
	}
}
