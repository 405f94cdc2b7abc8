package group

import (
	"maps"
	"slices"
	"time"
)

// MemberState says how far a member of the consumer protocol is on its way to its target. The numbers are those of records.
type MemberState int8

// The states of a member.
const (
	// MemberStable has all that its target gives to it, as of its epoch.
	MemberStable MemberState = 0
	// MemberUnrevoked has been told to give partitions up, and has not said yet that it did.
	MemberUnrevoked MemberState = 1
	// MemberUnreleased waits for partitions that others have not given up yet.
	MemberUnreleased MemberState = 2
	// MemberUnknown was written by a newer version.
	MemberUnknown MemberState = 127
)

// The epochs that say that a member leaves.
const (
	leaveEpoch       int32 = -1
	leaveStaticEpoch int32 = -2 // and comes back
)

// held are partitions with the epochs in which they were assigned.
type held map[TopicID]map[int32]int32

func (h held) has(topic TopicID, partition int32) bool {
	_, ok := h[topic][partition]
	return ok
}

func (h held) put(topic TopicID, partition, epoch int32) {
	if h[topic] == nil {
		h[topic] = make(map[int32]int32)
	}
	h[topic][partition] = epoch
}

// partitions returns the partitions alone.
func (h held) partitions() Partitions {
	out := make(Partitions, len(h))
	for topic, partitions := range h {
		out[topic] = slices.Sorted(maps.Keys(partitions))
	}
	return out
}

func (h held) equal(o held) bool {
	return maps.EqualFunc(h, o, func(a, b map[int32]int32) bool { return maps.Equal(a, b) })
}

// standing is what a member has, and how far it is.
type standing struct {
	epoch, previous int32 // previous is accepted of a member that missed the answer with the epoch
	state           MemberState
	assigned        held
	revoking        held // no longer assigned, and not given up yet
}

func (s *standing) equal(o *standing) bool {
	return s.epoch == o.epoch && s.previous == o.previous && s.state == o.state && s.assigned.equal(o.assigned) && s.revoking.equal(o.revoking)
}

// profile is what a member says of itself.
type profile struct {
	instanceID, rack     string // empty: none
	clientID, clientHost string
	topics               []string // in order, each once
	regex                string   // empty: none
	rebalanceTimeout     time.Duration
	assignor             string // empty: any
	classic              *classicProfile
}

// classicProfile is what a member of the classic protocol says in a group of the consumer protocol.
type classicProfile struct {
	sessionTimeout time.Duration
	protocols      []Protocol
}

func (c *classicProfile) equal(o *classicProfile) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.sessionTimeout == o.sessionTimeout && sameProtocols(c.protocols, o.protocols)
}

func (p *profile) equal(o *profile) bool {
	return p.instanceID == o.instanceID && p.rack == o.rack && p.clientID == o.clientID && p.clientHost == o.clientHost &&
		slices.Equal(p.topics, o.topics) && p.regex == o.regex && p.rebalanceTimeout == o.rebalanceTimeout && p.assignor == o.assignor &&
		p.classic.equal(o.classic)
}

// consumerMember is a member of a group of the consumer protocol. Only Replay changes profile and standing; what is behind them
// does not outlive a restart.
type consumerMember struct {
	id string
	profile
	standing

	deadline       time.Time // when it is taken for dead
	revokeDeadline time.Time // when it must have given partitions up; zero: it need not
	joinDeadline   time.Time // when a member of the classic protocol must have joined again; zero: it need not
	syncDeadline   time.Time // when it must have asked for its assignment; zero: it need not
}

func newConsumerMember(id string) *consumerMember {
	return &consumerMember{id: id, standing: standing{previous: -1, assigned: held{}, revoking: held{}}}
}

// reconciledTo tells whether a member has all of its target of an epoch.
func (m *consumerMember) reconciledTo(epoch int32) bool {
	return m.state == MemberStable && m.epoch == epoch
}

func (m *consumerMember) nextDeadline() time.Time {
	return earliest(earliest(m.deadline, m.revokeDeadline), earliest(m.joinDeadline, m.syncDeadline))
}
