package group

import (
	"math"
	"slices"
	"strings"
	"time"

	"moldau/broker/coordinator"
)

// ConsumerHeartbeat is what a member of the consumer protocol says.
type ConsumerHeartbeat struct {
	Group    string
	MemberID string
	// MemberIDRequired says that the client chooses the member id (KIP-1082).
	MemberIDRequired     bool
	MemberEpoch          int32 // 0 joins, -1 leaves, -2 leaves and comes back
	InstanceID, Rack     *string
	RebalanceTimeout     int32 // in milliseconds; -1: not told
	ClientID, ClientHost string
	Topics               []string // nil: not told
	Regex                *string  // nil: not told
	Assignor             *string
	Owned                Partitions // nil: not told
}

// ConsumerHeartbeatReply tells a member what it has.
type ConsumerHeartbeatReply struct {
	MemberID string
	Epoch    int32
	Interval time.Duration // until the next heartbeat; zero for a member that left
	// Assigned is nil where it is what the member was told last.
	Assigned Partitions
}

// joins tells whether the member wants to become one.
func (r *ConsumerHeartbeat) joins() bool { return r.MemberEpoch == 0 }

// full tells whether the member said everything that there is to say, because it joins or missed answers.
func (r *ConsumerHeartbeat) full() bool {
	return r.joins() || r.RebalanceTimeout != -1 && (r.Topics != nil || r.Regex != nil) && r.Owned != nil
}

// blank tells whether a string is there and has nothing in it.
func blank(s *string) bool { return s != nil && strings.TrimSpace(*s) == "" }

// validate refuses what no member says.
func (r *ConsumerHeartbeat) validate(c *Config) error {
	wrong := func(text string) error { return refuse(ErrInvalidRequest, "%s", text) }
	switch {
	case blank(&r.Group):
		return wrong("GroupId can't be empty.")
	case blank(r.InstanceID):
		return wrong("InstanceId can't be empty.")
	case blank(r.Rack):
		return wrong("RackId can't be empty.")
	case blank(&r.MemberID) && (r.MemberIDRequired || r.MemberEpoch != 0):
		return wrong("MemberId can't be empty.")
	case len(r.Group) > math.MaxInt16 || len(r.MemberID) > math.MaxInt16:
		return wrong("GroupId and MemberId can't be longer than 32767 bytes.")
	case r.MemberEpoch < leaveStaticEpoch:
		return wrong("MemberEpoch is invalid.")
	case r.MemberEpoch == leaveStaticEpoch && r.InstanceID == nil:
		return wrong("InstanceId can't be null.")
	case !r.joins():
	case r.RebalanceTimeout == -1:
		return wrong("RebalanceTimeoutMs must be provided in first request.")
	case r.Owned == nil || len(r.Owned) > 0:
		return wrong("TopicPartitions must be empty when (re-)joining.")
	case r.Topics == nil && r.Regex == nil:
		return wrong("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
	}
	if r.Assignor != nil && c.assignor(*r.Assignor) == nil {
		return refuse(ErrUnsupportedAssignor, "ServerAssignor %s is not supported. Supported assignors: %s.", *r.Assignor, c.assignorNames())
	}
	if r.Regex != nil && *r.Regex != "" {
		if _, err := compileRegex(*r.Regex); err != nil {
			return err
		}
	}
	return nil
}

// ConsumerHeartbeat takes a member in, keeps it alive, takes it towards its target, or lets it go.
func (s *Shard) ConsumerHeartbeat(t *coordinator.Turn, r *ConsumerHeartbeat) (ConsumerHeartbeatReply, error) {
	if err := r.validate(&s.c); err != nil {
		return ConsumerHeartbeatReply{}, err
	}
	if r.MemberEpoch < 0 {
		return s.consumerLeave(t, r)
	}
	c, err := s.consumersFor(t, r)
	if err != nil {
		return ConsumerHeartbeatReply{}, err
	}
	defer c.g.settle()
	return c.heartbeat(t, r)
}

// consumersFor returns the group that a heartbeat speaks to. One that joins makes it if it isn't there, or of a group that has the
// classic protocol.
func (s *Shard) consumersFor(t *coordinator.Turn, r *ConsumerHeartbeat) (*consumers, error) {
	g := s.groups[r.Group]
	switch {
	case g != nil && g.consumer != nil:
		return g.consumer, nil
	case !r.joins():
		return nil, refuse(ErrNotFound, "Consumer group %s not found.", r.Group)
	case g != nil:
		if err := g.upgrade(t, r); err != nil {
			return nil, err
		}
	}
	g = s.ensure(r.Group)
	g.becomeConsumer()
	return g.consumer, nil
}

func (c *consumers) heartbeat(t *coordinator.Turn, r *ConsumerHeartbeat) (ConsumerHeartbeatReply, error) {
	m, err := c.speaker(t, r)
	if err != nil {
		return ConsumerHeartbeatReply{}, err
	}
	before := m.assigned.partitions()
	says := r.profile(&m.profile)
	if m, err = c.update(t, m, &says); err != nil {
		return ConsumerHeartbeatReply{}, err
	}
	c.touch(m, t.Now)
	if err := c.reconcile(t, m, r.Owned, r.Owned != nil); err != nil {
		return ConsumerHeartbeatReply{}, err
	}
	out := ConsumerHeartbeatReply{MemberID: m.id, Epoch: m.epoch, Interval: c.g.s.c.consumerInterval(c.g.id)}
	if after := m.assigned.partitions(); r.full() || !after.Equal(before) {
		out.Assigned = after
	}
	return out, nil
}

// speaker finds the member that a heartbeat comes from, or makes it. A static member that comes back gets what its predecessor
// had.
func (c *consumers) speaker(t *coordinator.Turn, r *ConsumerHeartbeat) (*consumerMember, error) {
	id := r.MemberID
	if len(c.members) >= c.g.s.c.ConsumerMaxSize && c.members[id] == nil {
		return nil, ErrMaxSizeReached
	}
	if id == "" {
		id = c.g.s.c.NewID()
	}
	if r.InstanceID == nil {
		m := c.members[id]
		switch {
		case m == nil && !r.joins():
			return nil, c.unknown(id)
		case m == nil:
			return newConsumerMember(id), nil
		}
		return m, m.admit(r.MemberEpoch, r.Owned)
	}
	old := c.static[*r.InstanceID]
	switch {
	case old == nil && !r.joins():
		return nil, refuse(ErrUnknownMember, "Instance id %s is unknown.", *r.InstanceID)
	case old == nil && c.members[id] != nil:
		return c.members[id], c.members[id].admit(r.MemberEpoch, r.Owned)
	case old == nil:
		return newConsumerMember(id), nil
	case !r.joins() && old.id != id:
		return nil, ErrFencedInstance
	case !r.joins():
		return old, old.admit(r.MemberEpoch, r.Owned)
	case old.classic == nil && old.epoch != leaveStaticEpoch:
		return nil, ErrUnreleasedInstance
	}
	return c.replace(t, old, id), nil
}

// unknown says that a member is not in the group.
func (c *consumers) unknown(id string) error {
	return refuse(ErrUnknownMember, "Member %s is not a member of group %s.", id, c.g.id)
}

// admit checks the epoch that a member comes with. The one before is good where the member has nothing that it should not have:
// it missed the answer that told it the new one. Who joins anew has nothing, and goes on with what it was given.
func (m *consumerMember) admit(epoch int32, owned Partitions) error {
	switch {
	case epoch == m.epoch, epoch == 0:
		return nil
	case epoch > m.epoch || epoch != m.previous || owned == nil:
		return ErrFencedEpoch
	}
	for topic, list := range owned {
		for _, p := range list {
			if !m.assigned.has(topic, p) {
				return ErrFencedEpoch
			}
		}
	}
	return nil
}

// replace gives the place of a static member to another member id.
func (c *consumers) replace(t *coordinator.Turn, old *consumerMember, id string) *consumerMember {
	says, has, target := old.profile, old.standing, c.targets[old.id]
	has.epoch, has.previous = 0, 0
	c.appendRemoval(t, old.id)
	c.appendMember(t, id, &says)
	c.appendTarget(t, id, target)
	c.appendStanding(t, id, &has)
	m := c.members[id]
	c.touch(m, t.Now) // whatever comes of its request
	return m
}

// profile returns what a member says of itself, with what it said before where it says nothing.
func (r *ConsumerHeartbeat) profile(before *profile) profile {
	p := *before
	p.clientID, p.clientHost, p.classic = r.ClientID, r.ClientHost, nil
	if r.InstanceID != nil {
		p.instanceID = *r.InstanceID
	}
	if r.Rack != nil {
		p.rack = *r.Rack
	}
	if r.RebalanceTimeout != -1 {
		p.rebalanceTimeout = time.Duration(r.RebalanceTimeout) * time.Millisecond
	}
	if r.Assignor != nil {
		p.assignor = *r.Assignor
	}
	if r.Topics != nil {
		p.topics = sortedNames(r.Topics)
	}
	if r.Regex != nil {
		p.regex = *r.Regex
	}
	return p
}

// sortedNames returns names in order, each once.
func sortedNames(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}

// touch puts off the moment at which a member is taken for dead.
func (c *consumers) touch(m *consumerMember, now time.Time) {
	c.await(&m.deadline, now.Add(c.sessionTimeout(m)))
}

// await sets a deadline.
func (c *consumers) await(deadline *time.Time, at time.Time) {
	*deadline = at
	c.g.wake(at)
}

func (c *consumers) sessionTimeout(m *consumerMember) time.Duration {
	if m.classic != nil {
		return m.classic.sessionTimeout
	}
	return c.g.s.c.consumerSession(c.g.id)
}

// reconcile takes a member towards its target, and sets the time that it has for giving partitions up.
func (c *consumers) reconcile(t *coordinator.Turn, m *consumerMember, owned Partitions, told bool) error {
	if m.reconciledTo(c.assignmentEpoch) {
		return nil
	}
	next, err := reconcile(&m.standing, c.targets[m.id], c.assignmentEpoch, owned, told, c.free)
	if err != nil || next.equal(&m.standing) {
		return err
	}
	c.appendStanding(t, m.id, &next)
	m.revokeDeadline = time.Time{}
	if m.classic == nil && m.state == MemberUnrevoked {
		c.await(&m.revokeDeadline, t.Now.Add(m.rebalanceTimeout))
	}
	return nil
}
