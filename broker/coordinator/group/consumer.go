package group

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// consumers is what makes a group one of the consumer protocol (KIP-848): the coordinator assigns, and members move to their
// targets one by one. Only Replay changes what is not marked.
type consumers struct {
	g               *group
	epoch           int32
	topicsHash      int64 // of the topics that members subscribe to, as of epoch
	assignmentEpoch int32 // the epoch of targets
	members         map[string]*consumerMember
	static          map[string]*consumerMember // by instance id
	targets         map[string]Partitions      // by member id
	regexes         map[string][]string        // expression -> names of topics, in order
	owners          map[TopicID]map[int32]*consumerMember

	topicsRev int64     // the revision of the topics that was last looked at; not durable
	resolved  time.Time // when regular expressions were last resolved; not durable
}

func newConsumers(g *group) *consumers {
	return &consumers{
		g: g, members: map[string]*consumerMember{}, static: map[string]*consumerMember{}, targets: map[string]Partitions{},
		regexes: map[string][]string{}, owners: map[TopicID]map[int32]*consumerMember{}, topicsRev: -1,
	}
}

// sorted returns the members by id.
func (c *consumers) sorted() []*consumerMember {
	return slices.SortedFunc(maps.Values(c.members), func(a, b *consumerMember) int { return strings.Compare(a.id, b.id) })
}

// state works out the state of the group.
func (c *consumers) state() State {
	switch {
	case len(c.members) == 0:
		return Empty
	case c.epoch > c.assignmentEpoch:
		return Assigning
	}
	for _, m := range c.members {
		if !m.reconciledTo(c.assignmentEpoch) {
			return Reconciling
		}
	}
	return Stable
}

// free tells whether nobody has a partition.
func (c *consumers) free(topic TopicID, partition int32) bool {
	return c.owners[topic][partition] == nil
}

// own notes what a member has, or that it has it no longer.
func (c *consumers) own(m *consumerMember, partitions held) {
	for topic, list := range partitions {
		if c.owners[topic] == nil {
			c.owners[topic] = make(map[int32]*consumerMember, len(list))
		}
		for p := range list {
			c.owners[topic][p] = m
		}
	}
}

func (c *consumers) disown(m *consumerMember, partitions held) {
	for topic, list := range partitions {
		for p := range list {
			if c.owners[topic][p] == m {
				delete(c.owners[topic], p)
			}
		}
		if len(c.owners[topic]) == 0 {
			delete(c.owners, topic)
		}
	}
}

// put sets a member's standing.
func (c *consumers) put(m *consumerMember, s standing) {
	c.disown(m, m.assigned)
	c.disown(m, m.revoking)
	m.standing = s
	c.own(m, m.assigned)
	c.own(m, m.revoking)
}

// topicsOf returns the names of all topics that a member subscribes to.
func (c *consumers) topicsOf(p *profile) []string {
	if p.regex == "" {
		return p.topics
	}
	names := slices.Concat(p.topics, c.regexes[p.regex])
	slices.Sort(names)
	return slices.Compact(names)
}

// subscribed returns the names of all topics that members subscribe to.
func (c *consumers) subscribed() map[string]struct{} {
	names := make(map[string]struct{})
	for _, m := range c.members {
		for _, list := range [][]string{m.topics, c.regexes[m.regex]} {
			for _, name := range list {
				names[name] = struct{}{}
			}
		}
	}
	return names
}

// assignor returns the name of the assignor that most members ask for, or else the default one.
func (c *consumers) assignor() string {
	votes := make(map[string]int)
	best := ""
	for _, m := range c.sorted() {
		if m.assignor == "" {
			continue
		}
		votes[m.assignor]++
		if best == "" || votes[m.assignor] > votes[best] {
			best = m.assignor
		}
	}
	if c.g.s.c.assignor(best) == nil {
		return c.g.s.c.Assignors[0].Name()
	}
	return best
}

// idleMembers returns how many members of a stable group have no partition.
func (c *consumers) idleMembers() int {
	if c.state() != Stable {
		return 0
	}
	n := 0
	for _, m := range c.members {
		if len(m.assigned) == 0 {
			n++
		}
	}
	return n
}

// nextDeadline is when something happens to the group by itself; zero is never.
func (c *consumers) nextDeadline() time.Time {
	var next time.Time
	for _, m := range c.members {
		next = earliest(next, m.nextDeadline())
	}
	return next
}
