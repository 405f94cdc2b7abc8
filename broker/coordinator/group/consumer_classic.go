package group

import (
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// Members of the classic protocol in a group of the consumer protocol join, sync and heartbeat as they know it. Nobody leads: their
// epoch is the generation that they are told, and what the coordinator assigns is their assignment.

// join takes a member of the classic protocol in, or further towards its target.
func (c *consumers) join(t *coordinator.Turn, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	id := r.MemberID
	if id == "" {
		prefix := r.ClientID
		if r.InstanceID != nil {
			prefix = *r.InstanceID
		}
		id = prefix + "-" + c.g.s.c.NewID()
	}
	subscription, err := readSubscription(r.Protocols)
	switch {
	case len(c.members) >= c.g.s.c.ConsumerMaxSize && c.members[id] == nil:
		err = ErrMaxSizeReached
	case r.ProtocolType != consumerType || !c.supports(r.Protocols):
		err = ErrInconsistentProtocol
	case err != nil:
	case r.RequireMemberID && r.MemberID == "" && r.InstanceID == nil:
		err = ErrMemberIDRequired
	}
	if err != nil {
		if !errors.Is(err, ErrMemberIDRequired) {
			id = r.MemberID
		}
		reply.SendNow(refuseJoin(id, err))
		return
	}
	m, last, err := c.joiner(t, id, r)
	if err == nil {
		says := m.profile
		says.clientID, says.clientHost, says.rebalanceTimeout = r.ClientID, r.ClientHost, r.RebalanceTimeout
		says.topics, says.regex, says.assignor = sortedNames(subscription.Topics), "", ""
		says.classic = &classicProfile{sessionTimeout: r.SessionTimeout, protocols: r.Protocols}
		if r.InstanceID != nil {
			says.instanceID = *r.InstanceID
		}
		if subscription.Rack != nil {
			says.rack = *subscription.Rack
		}
		m, err = c.update(t, m, &says)
	}
	if err == nil {
		err = c.reconcile(t, m, c.ownedBy(subscription.OwnedPartitions), true)
	}
	if err != nil {
		reply.SendNow(refuseJoin(r.MemberID, err))
		return
	}
	c.touch(m, t.Now)
	m.joinDeadline = time.Time{}
	c.await(&m.syncDeadline, t.Now.Add(m.rebalanceTimeout))
	out := JoinReply{MemberID: m.id, Generation: m.epoch, ProtocolType: consumerType, Protocol: m.classic.protocols[0].Name}
	if last && c.downgrades() {
		c.downgrade(t, false)
	}
	reply.Send(t, out)
}

// supports tells whether a member of the classic protocol fits those that are in the group: there is a protocol that all have.
func (c *consumers) supports(protocols []Protocol) bool {
	return slices.ContainsFunc(protocols, func(p Protocol) bool {
		for _, m := range c.members {
			if m.classic != nil && !slices.ContainsFunc(m.classic.protocols, func(o Protocol) bool { return o.Name == p.Name }) {
				return false
			}
		}
		return true
	})
}

// joiner finds the member that a JoinGroup comes from, or makes it. last tells that it took the place of a static member of the
// consumer protocol.
func (c *consumers) joiner(t *coordinator.Turn, id string, r *JoinRequest) (m *consumerMember, last bool, err error) {
	var old *consumerMember
	if r.InstanceID != nil {
		old = c.static[*r.InstanceID]
	}
	switch {
	case r.InstanceID != nil && r.MemberID != "" && old == nil:
		return nil, false, ErrUnknownMember
	case r.InstanceID != nil && r.MemberID != "" && old.id != r.MemberID:
		return nil, false, ErrFencedInstance
	case r.InstanceID != nil && r.MemberID == "" && old != nil:
		last = old.classic == nil
		return c.replace(t, old, id), last, nil
	case c.members[id] != nil:
		return c.members[id], false, nil
	default:
		return newConsumerMember(id), false, nil
	}
}

// ownedBy returns the partitions that a member of the classic protocol says it has.
func (c *consumers) ownedBy(owned []kmsg.ConsumerMemberMetadataOwnedPartition) Partitions {
	topics, out := c.g.s.c.Topics(), Partitions{}
	for _, o := range owned {
		if topic, ok := topics.ByName(o.Topic); ok && len(o.Partitions) > 0 {
			out[topic.ID] = append(out[topic.ID], o.Partitions...)
		}
	}
	return out
}

// member finds the member of the classic protocol that a request speaks for.
func (c *consumers) member(memberID string, instanceID *string) (*consumerMember, error) {
	m := c.members[memberID]
	if instanceID != nil {
		if m = c.static[*instanceID]; m != nil && m.id != memberID {
			return nil, ErrFencedInstance
		}
	}
	if m == nil || m.classic == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

// syncClassic tells a member of the classic protocol what it has.
func (c *consumers) syncClassic(t *coordinator.Turn, r *SyncRequest, reply *coordinator.Reply[SyncReply]) {
	m, err := c.member(r.MemberID, r.InstanceID)
	switch {
	case err != nil:
	case r.Generation != m.epoch:
		err = ErrIllegalGeneration
	case r.ProtocolType != nil && *r.ProtocolType != consumerType, r.Protocol != nil && *r.Protocol != m.classic.protocols[0].Name:
		err = ErrInconsistentProtocol
	case c.epoch > m.epoch && m.state != MemberUnrevoked:
		c.expectJoin(m, t.Now)
		err = ErrRebalanceInProgress
	}
	if err != nil {
		reply.SendNow(SyncReply{Err: err})
		return
	}
	m.syncDeadline = time.Time{}
	c.touch(m, t.Now)
	reply.Send(t, SyncReply{
		ProtocolType: consumerType, Protocol: m.classic.protocols[0].Name,
		Assignment: encodeAssignment(c.g.s.c.Topics(), m.assigned.partitions(), m.classic.protocols),
	})
}

// expectJoin sets the time within which a member of the classic protocol has to join again.
func (c *consumers) expectJoin(m *consumerMember, now time.Time) {
	if m.joinDeadline.IsZero() {
		c.await(&m.joinDeadline, now.Add(m.rebalanceTimeout))
	}
}

// heartbeatClassic keeps a member of the classic protocol alive, and tells it to join again when there is something new for it.
func (c *consumers) heartbeatClassic(t *coordinator.Turn, memberID string, instanceID *string, generation int32) error {
	m, err := c.member(memberID, instanceID)
	switch {
	case err != nil:
		return err
	case generation != m.epoch:
		return ErrIllegalGeneration
	}
	c.touch(m, t.Now)
	if m.epoch < c.epoch || m.state == MemberUnrevoked || m.state == MemberUnreleased && !c.waits(m) {
		c.expectJoin(m, t.Now)
		return ErrRebalanceInProgress
	}
	return nil
}

// waits tells whether a member's target has partitions that somebody else has not given up.
func (c *consumers) waits(m *consumerMember) bool {
	for topic, list := range c.targets[m.id] {
		for _, p := range list {
			if !m.assigned.has(topic, p) && !c.free(topic, p) {
				return true
			}
		}
	}
	return false
}

// leaveBy removes members for LeaveGroup, those of the consumer protocol too, and returns an error for each that is not in the
// group.
func (c *consumers) leaveBy(t *coordinator.Turn, members []Leaving) []error {
	errs, left, consumers := make([]error, len(members)), false, false
	for i, l := range members {
		m, err := c.leaver(l)
		if errs[i] = err; err == nil {
			left, consumers = true, consumers || m.classic == nil
			c.appendRemoval(t, m.id)
		}
	}
	if left {
		c.left(t, consumers)
	}
	return errs
}

// leaver finds the member that leaves: by its id, or by its instance id alone.
func (c *consumers) leaver(l Leaving) (*consumerMember, error) {
	m := c.members[l.MemberID]
	if l.InstanceID != nil {
		m = c.static[*l.InstanceID]
	}
	switch {
	case m == nil:
		return nil, ErrUnknownMember
	case l.InstanceID != nil && l.MemberID != "" && m.id != l.MemberID:
		return nil, ErrFencedInstance
	}
	return m, nil
}
