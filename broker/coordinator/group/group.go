package group

import (
	"slices"
	"time"
)

// State is the state of a group.
type State int8

// The states of a group.
const (
	Empty State = iota
	PreparingRebalance
	CompletingRebalance
	Stable
	// Assigning is the state of a group of the consumer protocol whose targets are behind its epoch.
	Assigning
	// Reconciling is the state of a group of the consumer protocol whose members are on their way to their targets.
	Reconciling
)

var stateNames = [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Assigning", "Reconciling"}

// String returns Kafka's name of the state.
func (s State) String() string { return stateNames[s] }

// consumerType is the protocol type of consumers.
const consumerType = "consumer"

// group is one group: its members, and the offsets it committed.
type group struct {
	s  *Shard
	id string

	state        State
	stored       bool   // the log has a record of the group
	protocolType string // empty: none yet, of a group that only commits offsets
	protocol     string // empty: none chosen
	generation   int32
	leader       string    // member id; empty: none
	since        time.Time // when the state of the last record began; zero: unknown

	members []*member // in the order of their joining
	byID    map[string]*member
	static  map[string]*member   // by instance id
	pending map[string]time.Time // member ids that were given out and not joined with yet, until when

	joinDeadline time.Time     // end of PreparingRebalance; zero: none
	initial      bool          // the rebalance began with an empty group: newcomers put off its end
	delayLeft    time.Duration // how far they still may
	newcomer     bool          // somebody joined since the end was put off
	syncDeadline time.Time     // when members that do not sync are removed; zero: none

	consumer *consumers // of a group of the consumer protocol, of which only this and offsets count; nil: a classic group

	offsets offsets

	due       time.Time // when the group wants to be looked at, or earlier; zero: not scheduled
	heapIndex int
}

func newGroup(s *Shard, id string) *group {
	return &group{
		s: s, id: id, byID: map[string]*member{}, static: map[string]*member{}, pending: map[string]time.Time{}, heapIndex: -1,
	}
}

// add takes in a member that is not in the group.
func (g *group) add(m *member) {
	if g.leader == "" {
		g.leader = m.id
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	if m.isStatic() {
		g.static[m.instanceID] = m
	}
	delete(g.pending, m.id)
}

// remove takes a member out and answers what it waits for. The leadership goes to another member.
func (g *group) remove(m *member) {
	m.answerJoin(JoinReply{Err: ErrUnknownMember})
	m.answerSync(ErrUnknownMember)
	g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
	delete(g.byID, m.id)
	if g.static[m.instanceID] == m {
		delete(g.static, m.instanceID)
	}
	if g.leader != m.id {
		return
	}
	g.leader = ""
	if len(g.members) > 0 {
		g.leader = g.members[0].id
	}
}

// find returns the member that a request speaks for, or why it does not.
func (g *group) find(memberID string, instanceID *string) (*member, error) {
	if instanceID != nil {
		m := g.static[*instanceID]
		switch {
		case m == nil:
			return nil, ErrUnknownMember
		case m.id != memberID:
			return nil, ErrFencedInstance
		}
	}
	m := g.byID[memberID]
	if m == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

// joined tells whether all members wait for the end of the rebalance, and nobody is expected any more.
func (g *group) joined() bool {
	for _, m := range g.members {
		if m.join == nil {
			return false
		}
	}
	return len(g.pending) == 0
}

// waiting is how many members wait for the end of the rebalance.
func (g *group) waiting() int {
	n := 0
	for _, m := range g.members {
		if m.join != nil {
			n++
		}
	}
	return n
}

// synced tells whether all members have asked for their assignment.
func (g *group) synced() bool {
	return !slices.ContainsFunc(g.members, func(m *member) bool { return m.awaitsSync })
}

// rebalanceTimeout is how long members may take to join: the longest that any of them asks for, nothing if there is none.
func (g *group) rebalanceTimeout() time.Duration {
	var d time.Duration
	for _, m := range g.members {
		d = max(d, m.rebalanceTimeout)
	}
	return d
}

// touch puts off the moment at which a member is taken for dead.
func (g *group) touch(m *member, now time.Time) { g.touchFor(m, now, m.sessionTimeout) }

func (g *group) touchFor(m *member, now time.Time, d time.Duration) {
	m.deadline = now.Add(d)
	g.wake(m.deadline)
}

// wake lets the group be looked at no later than at a time.
func (g *group) wake(at time.Time) {
	if g.due.IsZero() || at.Before(g.due) {
		g.due = at
		g.s.deadlines.schedule(g)
	}
}

// nextDeadline is when something happens to the group by itself; zero is never.
func (g *group) nextDeadline() time.Time {
	next := earliest(g.joinDeadline, g.syncDeadline)
	if g.consumer != nil {
		next = g.consumer.nextDeadline()
	}
	for _, m := range g.members {
		next = earliest(next, m.deadline)
	}
	for _, at := range g.pending {
		next = earliest(next, at)
	}
	return next
}

// earliest returns the earlier of two times, of which zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// idle tells whether nothing is left of the group but its record: no member, no offset.
func (g *group) idle() bool {
	return g.consumer == nil && g.state == Empty && len(g.members) == 0 && len(g.pending) == 0 && g.offsets.empty()
}

// current is the state of the group, of whatever protocol.
func (g *group) current() State {
	if g.consumer != nil {
		return g.consumer.state()
	}
	return g.state
}

// settle is called after an operation on a group of the consumer protocol: it forgets the group if nothing came of the operation.
func (g *group) settle() {
	if c := g.consumer; c != nil && c.epoch == 0 && len(c.members) == 0 {
		g.consumer = nil
	}
	if g.s.groups[g.id] == g && g.idle() && !g.stored {
		g.s.drop(g)
	}
}
