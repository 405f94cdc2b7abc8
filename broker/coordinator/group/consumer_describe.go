package group

import (
	"slices"
)

// ConsumerDescription is a group of the consumer protocol as it stands.
type ConsumerDescription struct {
	ID                     string
	State                  State
	Epoch, AssignmentEpoch int32
	Assignor               string
	Members                []ConsumerMemberDescription
}

// ConsumerMemberDescription is a member of a group of the consumer protocol.
type ConsumerMemberDescription struct {
	ID, InstanceID, Rack string // the latter two are empty where there are none
	ClientID, ClientHost string
	Epoch                int32
	Topics               []string
	Regex                string
	Classic              bool // it speaks the classic protocol
	Assigned, Target     []AssignedTopic
}

// AssignedTopic is partitions of a topic.
type AssignedTopic struct {
	ID         TopicID
	Name       string
	Partitions []int32
}

// DescribeConsumer returns a group of the consumer protocol, or ErrNotFound.
func (s *Shard) DescribeConsumer(groupID string) (ConsumerDescription, error) {
	g := s.groups[groupID]
	switch {
	case g == nil:
		return ConsumerDescription{}, refuse(ErrNotFound, "Group %s not found.", groupID)
	case g.consumer == nil:
		return ConsumerDescription{}, refuse(ErrNotFound, "Group %s is not a consumer group.", groupID)
	}
	c, topics := g.consumer, s.c.Topics()
	d := ConsumerDescription{ID: groupID, State: c.state(), Epoch: c.epoch, AssignmentEpoch: c.assignmentEpoch, Assignor: c.assignor()}
	for _, m := range c.sorted() {
		d.Members = append(d.Members, ConsumerMemberDescription{
			ID: m.id, InstanceID: m.instanceID, Rack: m.rack, ClientID: m.clientID, ClientHost: m.clientHost, Epoch: m.epoch,
			Topics: slices.Clone(m.topics), Regex: m.regex, Classic: m.classic != nil,
			Assigned: named(topics, m.assigned.partitions()), Target: named(topics, c.targets[m.id]),
		})
	}
	return d, nil
}

// named tells partitions with the names of their topics. Topics that are gone are left out.
func named(topics Topics, partitions Partitions) []AssignedTopic {
	out := make([]AssignedTopic, 0, len(partitions))
	for _, id := range partitions.Topics() {
		if topic, ok := topics.ByID(id); ok {
			out = append(out, AssignedTopic{ID: id, Name: topic.Name, Partitions: slices.Clone(partitions[id])})
		}
	}
	return out
}
