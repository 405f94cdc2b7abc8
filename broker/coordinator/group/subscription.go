package group

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// subscribed returns the topics that the members of a group of consumers subscribe to; known is false where that cannot be
// read.
func (g *group) subscribed() (topics map[string]struct{}, known bool) {
	topics = make(map[string]struct{})
	if g.protocolType != consumerType || g.protocol == "" {
		return topics, false
	}
	for _, m := range g.members {
		var c kmsg.ConsumerMemberMetadata
		if err := c.ReadFrom(m.metadata(g.protocol)); err != nil {
			return nil, false
		}
		for _, t := range c.Topics {
			topics[t] = struct{}{}
		}
	}
	return topics, true
}

// idleMembers returns how many members of a stable group of consumers were assigned no partition.
func (g *group) idleMembers() int {
	if g.state != Stable || g.protocolType != consumerType {
		return 0
	}
	n := 0
	for _, m := range g.members {
		if !assigned(m.assignment) {
			n++
		}
	}
	return n
}

// assigned tells whether an assignment of Kafka's consumers holds a partition. Bytes of another form count as one.
func assigned(assignment []byte) bool {
	if len(assignment) == 0 {
		return false
	}
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(assignment); err != nil {
		return true
	}
	return slices.ContainsFunc(a.Topics, func(t kmsg.ConsumerMemberAssignmentTopic) bool { return len(t.Partitions) > 0 })
}
