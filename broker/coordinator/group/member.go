package group

import (
	"bytes"
	"slices"
	"time"

	"moldau/broker/coordinator"
)

// Protocol is a way of assigning that a member supports, with what the member has to say under it.
type Protocol struct {
	Name     string
	Metadata []byte
}

// member is one member of a group.
type member struct {
	id, instanceID       string // instanceID is empty for a dynamic member
	clientID, clientHost string
	rebalanceTimeout     time.Duration
	sessionTimeout       time.Duration
	protocols            []Protocol // in order of preference
	assignment           []byte     // of the last stable generation
	isNew                bool       // has not seen the end of its first rebalance
	awaitsSync           bool       // has been told the generation and has not asked for its assignment
	deadline             time.Time  // when it is taken for dead
	join                 *coordinator.Reply[JoinReply]
	sync                 *coordinator.Reply[SyncReply]
}

func (m *member) isStatic() bool { return m.instanceID != "" }

// metadata returns what the member said under a protocol.
func (m *member) metadata(protocol string) []byte {
	for i := range m.protocols {
		if m.protocols[i].Name == protocol {
			return m.protocols[i].Metadata
		}
	}
	return nil
}

func (m *member) supports(protocol string) bool {
	return slices.ContainsFunc(m.protocols, func(p Protocol) bool { return p.Name == protocol })
}

// matches tells whether protocols are the ones the member has, in the same order and with the same metadata.
func (m *member) matches(protocols []Protocol) bool {
	return sameProtocols(m.protocols, protocols)
}

func sameProtocols(a, b []Protocol) bool {
	return slices.EqualFunc(a, b, func(a, b Protocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// satisfied tells whether the member counts as alive without a heartbeat: it waits for the others. New members do not,
// because they may be gone.
func (m *member) satisfied() bool { return !m.isNew && (m.join != nil || m.sync != nil) }

// update takes over what a member says of itself when it joins.
func (m *member) update(r *JoinRequest) {
	m.clientID, m.clientHost = r.ClientID, r.ClientHost
	m.rebalanceTimeout, m.sessionTimeout = r.RebalanceTimeout, r.SessionTimeout
	m.protocols = r.Protocols
}

// answerJoin answers a waiting JoinGroup at once.
func (m *member) answerJoin(v JoinReply) {
	if m.join != nil {
		m.join.SendNow(v)
		m.join = nil
	}
}

// answerSync answers a waiting SyncGroup at once.
func (m *member) answerSync(err error) {
	if m.sync != nil {
		m.sync.SendNow(SyncReply{Err: err})
		m.sync = nil
	}
}
