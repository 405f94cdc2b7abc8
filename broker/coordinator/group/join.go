package group

import (
	"time"

	"moldau/broker/coordinator"
)

// JoinRequest asks to become, or to stay, a member of a group.
type JoinRequest struct {
	Group                            string
	MemberID                         string  // empty for a new member
	InstanceID                       *string // of a static member (KIP-345)
	ClientID, ClientHost             string
	RebalanceTimeout, SessionTimeout time.Duration
	ProtocolType                     string
	Protocols                        []Protocol
	RequireMemberID                  bool // a new member is first given an id and has to join again with it (KIP-394)
	SkipAssignment                   bool // the client knows that a leader need not assign (KIP-814)
}

// JoinReply tells a member where the group stands.
type JoinReply struct {
	Err          error
	MemberID     string
	Generation   int32
	ProtocolType string // empty: none
	Protocol     string // empty: none
	Leader       string
	// SkipAssignment tells the leader of a stable group that its assignment holds.
	SkipAssignment bool
	// Members is for the leader only.
	Members []JoinedMember
}

// JoinedMember is a member as the leader is told of it.
type JoinedMember struct {
	ID         string
	InstanceID string // empty: none
	Metadata   []byte
}

// refuseJoin is the reply to a member that is not taken.
func refuseJoin(memberID string, err error) JoinReply {
	return JoinReply{Err: err, MemberID: memberID, Generation: -1}
}

// Join answers when the rebalance that the member takes part in is over.
func (s *Shard) Join(t *coordinator.Turn, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	switch {
	case r.Group == "":
		reply.SendNow(refuseJoin("", ErrInvalidGroupID))
		return
	case r.SessionTimeout < s.c.SessionTimeoutMin || r.SessionTimeout > s.c.SessionTimeoutMax:
		reply.SendNow(refuseJoin("", ErrInvalidSessionTimeout))
		return
	}
	g := s.groups[r.Group]
	if g != nil && g.consumer != nil {
		if len(g.consumer.members) > 0 {
			g.consumer.join(t, r, reply)
			s.settle(r.Group)
			return
		}
		if r.MemberID == "" { // an empty group takes any protocol
			g.consumer.appendEnd(t)
		}
		g = s.groups[r.Group]
	}
	if g == nil || g.consumer != nil {
		if r.MemberID != "" {
			reply.SendNow(refuseJoin(r.MemberID, ErrUnknownMember))
			return
		}
		g = s.ensure(r.Group)
	}
	switch {
	case !g.accepts(r.MemberID):
		g.turnAway(t, r.MemberID)
		reply.SendNow(refuseJoin("", ErrMaxSizeReached))
	case r.MemberID == "":
		g.joinNew(t, r, reply)
	default:
		g.rejoin(t, r, reply)
	}
	if g.idle() && !g.stored {
		s.drop(g)
	}
}

// accepts tells whether there is room for a member.
func (g *group) accepts(memberID string) bool {
	m := g.byID[memberID]
	switch g.state {
	case Empty:
		return true
	case PreparingRebalance: // members that do not come back make room
		return m != nil && m.join != nil || g.waiting() < g.s.c.MaxSize
	default:
		return m != nil || len(g.members) < g.s.c.MaxSize
	}
}

// turnAway removes a member for which there is no room any more.
func (g *group) turnAway(t *coordinator.Turn, memberID string) {
	delete(g.pending, memberID)
	if m := g.byID[memberID]; m != nil {
		g.lose(t, m)
	}
}

// joinNew takes in a member without an id.
func (g *group) joinNew(t *coordinator.Turn, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	if !g.supports(r.ProtocolType, r.Protocols) {
		reply.SendNow(refuseJoin("", ErrInconsistentProtocol))
		return
	}
	if r.InstanceID != nil {
		id := *r.InstanceID + "-" + g.s.c.NewID()
		if old := g.static[*r.InstanceID]; old != nil {
			g.replace(t, old, id, r, reply)
			return
		}
		g.takeIn(t, id, r, reply)
		return
	}
	id := r.ClientID + "-" + g.s.c.NewID()
	switch {
	case !r.RequireMemberID:
		g.takeIn(t, id, r, reply)
	case len(g.pending) >= maxPendingMembers:
		reply.SendNow(refuseJoin("", ErrMaxSizeReached))
	default:
		g.pending[id] = t.Now.Add(r.SessionTimeout)
		g.wake(g.pending[id])
		reply.SendNow(refuseJoin(id, ErrMemberIDRequired))
	}
}

// takeIn adds a member, which begins a rebalance.
func (g *group) takeIn(t *coordinator.Turn, id string, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	m := &member{id: id, isNew: true, join: reply}
	if r.InstanceID != nil {
		m.instanceID = *r.InstanceID
	}
	m.update(r)
	if len(g.members) == 0 {
		g.protocolType = r.ProtocolType
	}
	if g.state == PreparingRebalance && g.initial {
		g.newcomer = true
	}
	g.add(m)
	g.touchFor(m, t.Now, newMemberJoinTimeout)
	g.rebalance(t)
}

// rejoin lets a member with an id take part in the next generation, or tells it the current one if that still holds.
func (g *group) rejoin(t *coordinator.Turn, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	if !g.supports(r.ProtocolType, r.Protocols) {
		reply.SendNow(refuseJoin(r.MemberID, ErrInconsistentProtocol))
		return
	}
	if _, ok := g.pending[r.MemberID]; ok && r.InstanceID == nil {
		g.takeIn(t, r.MemberID, r, reply)
		return
	}
	m, err := g.find(r.MemberID, r.InstanceID)
	if err != nil {
		reply.SendNow(refuseJoin(r.MemberID, err))
		return
	}
	same := m.matches(r.Protocols)
	switch {
	case g.state == Empty: // no member can be in an empty group
		reply.SendNow(refuseJoin(r.MemberID, ErrUnknownMember))
	case g.state == CompletingRebalance && same:
		// It seems to have missed the answer.
		reply.Send(t, g.generationFor(m))
	case g.state == Stable && same && g.leader != m.id:
		// A follower that has nothing new to say gets its assignment from the sync that follows. A leader that joins wants
		// a rebalance, for reasons that its metadata need not show.
		reply.Send(t, g.generationFor(m))
	default:
		g.joinAgain(m, r, reply)
		g.rebalance(t)
	}
}

// joinAgain makes a known member wait for the end of the rebalance. A request of the same member that still waits was given
// up by its client; it is answered all the same.
func (g *group) joinAgain(m *member, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	m.answerJoin(refuseJoin(m.id, ErrRebalanceInProgress))
	m.update(r)
	m.join = reply
}

// replace gives the place of a static member to a client that came anew with its instance id. Who had the place before
// is fenced.
func (g *group) replace(t *coordinator.Turn, old *member, id string, r *JoinRequest, reply *coordinator.Reply[JoinReply]) {
	leader := g.leader
	fenced := refuseJoin(old.id, ErrFencedInstance)
	old.answerJoin(fenced)
	old.answerSync(ErrFencedInstance)
	delete(g.byID, old.id)
	m := old // keeps its place and its assignment
	if g.leader == old.id {
		g.leader = id
	}
	m.id = id
	g.byID[id] = m
	m.update(r)
	m.join = reply
	g.touch(m, t.Now)
	if g.state != Stable || g.choose() != g.protocol {
		// In CompletingRebalance the leader may have assigned to the old member id.
		g.rebalance(t)
		return
	}
	// The assignment holds: the new member id is noted, and nobody else is disturbed.
	if err := g.store(t, func(m *member) []byte { return m.assignment }); err != nil {
		m.join = nil
		reply.SendNow(refuseJoin(id, err))
		return
	}
	m.join = nil
	out := g.generationFor(m)
	if r.SkipAssignment {
		out.SkipAssignment = g.leader == m.id
	} else {
		// A client that cannot skip the assignment must not take itself for the leader: what it assigned would reach
		// nobody in a stable group. The old member id tells it that somebody else leads.
		out.Leader, out.Members = leader, nil
	}
	reply.Send(t, out)
}

// generationFor tells a member the current generation.
func (g *group) generationFor(m *member) JoinReply {
	out := JoinReply{
		MemberID: m.id, Generation: g.generation, ProtocolType: g.protocolType, Protocol: g.protocol, Leader: g.leader,
	}
	if g.leader != m.id {
		return out
	}
	out.Members = make([]JoinedMember, len(g.members))
	for i, o := range g.members {
		out.Members[i] = JoinedMember{ID: o.id, InstanceID: o.instanceID, Metadata: o.metadata(g.protocol)}
	}
	return out
}
