package group

import (
	"time"

	"moldau/broker/coordinator"
)

// SyncRequest asks for a member's assignment, and in the leader's case brings those of all members.
type SyncRequest struct {
	Group                  string
	Generation             int32
	MemberID               string
	InstanceID             *string
	ProtocolType, Protocol *string           // nil: not checked (before KIP-559)
	Assignments            map[string][]byte // by member id
}

// SyncReply is a member's assignment, the leader's bytes as they were.
type SyncReply struct {
	Err          error
	ProtocolType string
	Protocol     string
	Assignment   []byte
}

// Sync answers when the leader has brought the assignments and they are committed.
func (s *Shard) Sync(t *coordinator.Turn, r *SyncRequest, reply *coordinator.Reply[SyncReply]) {
	if g := s.groups[r.Group]; g != nil && g.consumer != nil {
		g.consumer.syncClassic(t, r, reply)
		g.settle()
		return
	}
	g, m, err := s.member(r.Group, r.MemberID, r.InstanceID)
	switch {
	case err != nil:
	case r.Generation != g.generation:
		err = ErrIllegalGeneration
	case r.ProtocolType != nil && *r.ProtocolType != g.protocolType, r.Protocol != nil && *r.Protocol != g.protocol:
		err = ErrInconsistentProtocol
	case g.state == Empty:
		err = ErrUnknownMember
	case g.state == PreparingRebalance:
		err = ErrRebalanceInProgress
	}
	if err != nil {
		reply.SendNow(SyncReply{Err: err})
		return
	}
	m.awaitsSync = false
	if g.state == Stable {
		reply.Send(t, g.assignmentOf(m))
	} else {
		m.answerSync(ErrRebalanceInProgress) // an earlier request of the same member, given up by its client
		m.sync = reply
		if g.leader == m.id {
			g.assign(t, r.Assignments)
		}
	}
	if g.synced() {
		g.syncDeadline = time.Time{}
	}
}

// assign gives the leader's assignments to the members, which makes the group stable. Members that the leader left out get
// nothing.
func (g *group) assign(t *coordinator.Turn, assignments map[string][]byte) {
	if err := g.store(t, func(m *member) []byte { return assignments[m.id] }); err != nil {
		g.failSyncs(err)
		g.rebalance(t)
		return
	}
	for _, m := range g.members {
		if m.sync != nil {
			m.sync.Send(t, g.assignmentOf(m))
			m.sync = nil
		}
	}
}

func (g *group) assignmentOf(m *member) SyncReply {
	return SyncReply{ProtocolType: g.protocolType, Protocol: g.protocol, Assignment: m.assignment}
}

// store writes the group with its members as a stable generation.
func (g *group) store(t *coordinator.Turn, assignment func(*member) []byte) error {
	key, value := g.key(), g.encode(t.Now, assignment)
	if len(key)+len(value) > t.RecordBytesMax {
		return ErrAssignmentTooLarge
	}
	t.Append(key, value)
	return nil
}
