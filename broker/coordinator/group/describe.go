package group

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

func comparePartitions(a, b topicPartition) int {
	return cmp.Or(strings.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

// Description is a group as it stands.
type Description struct {
	ID           string
	State        State
	ProtocolType string
	Protocol     string // empty unless Stable
	Generation   int32
	Members      []MemberDescription
	// IdleMembers is how many members of a stable group of consumers have no partition.
	IdleMembers int
}

// MemberDescription is a member of a group. Metadata is told in Stable only; Assignment is what it has until the next
// generation is stable.
type MemberDescription struct {
	ID, InstanceID       string
	ClientID, ClientHost string
	Metadata, Assignment []byte
}

// Describe returns a group, or ErrNotFound.
func (s *Shard) Describe(groupID string) (Description, error) {
	g := s.groups[groupID]
	switch {
	case g == nil:
		return Description{}, refuse(ErrNotFound, "Group %s not found.", groupID)
	case g.consumer != nil:
		return Description{}, refuse(ErrNotFound, "Group %s is not a classic group.", groupID)
	}
	d := Description{
		ID: g.id, State: g.state, ProtocolType: g.protocolType, Generation: g.generation, IdleMembers: g.idleMembers(),
		Members: make([]MemberDescription, len(g.members)),
	}
	if g.state == Stable {
		d.Protocol = g.protocol
	}
	for i, m := range g.members {
		d.Members[i] = MemberDescription{
			ID: m.id, InstanceID: m.instanceID, ClientID: m.clientID, ClientHost: m.clientHost, Assignment: m.assignment,
		}
		if g.state == Stable {
			d.Members[i].Metadata = m.metadata(g.protocol)
		}
	}
	return d, nil
}

// Listing is a group in a list.
type Listing struct {
	ID           string
	ProtocolType string
	State        State
	Type         Type
}

// Type is the protocol of a group, by Kafka's name.
type Type string

// The types of groups.
const (
	Classic  Type = "classic"  // members assign
	Consumer Type = "consumer" // the coordinator assigns (KIP-848)
)

// List returns all groups by id.
func (s *Shard) List() []Listing {
	out := make([]Listing, 0, len(s.groups))
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[id]
		l := Listing{ID: id, ProtocolType: g.protocolType, State: g.state, Type: Classic}
		if g.consumer != nil {
			l.ProtocolType, l.State, l.Type = consumerType, g.current(), Consumer
		}
		out = append(out, l)
	}
	return out
}

// Counts are numbers about the groups of a shard.
type Counts struct {
	Groups    map[State]int // classic ones
	Consumers map[State]int // those of the consumer protocol
	Offsets   int
	// Members and IdleMembers are by group; only groups with members are named.
	Members, IdleMembers map[string]int
}

// Committed is what a group has committed.
type Committed struct {
	Group   string
	Members int
	// Offsets are by topic and partition.
	Offsets map[string]map[int32]int64
}

// Committed returns what all groups have committed, in no order.
func (s *Shard) Committed() []Committed {
	out := make([]Committed, 0, len(s.groups))
	for id, g := range s.groups {
		c := Committed{Group: id, Members: len(g.members), Offsets: make(map[string]map[int32]int64, len(g.offsets.committed))}
		if g.consumer != nil {
			c.Members = len(g.consumer.members)
		}
		for topic, partitions := range g.offsets.committed {
			offsets := make(map[int32]int64, len(partitions))
			for p, o := range partitions {
				offsets[p] = o.Offset
			}
			c.Offsets[topic] = offsets
		}
		out = append(out, c)
	}
	return out
}

// Count counts.
func (s *Shard) Count() Counts {
	c := Counts{Groups: map[State]int{}, Consumers: map[State]int{}, Members: map[string]int{}, IdleMembers: map[string]int{}}
	for id, g := range s.groups {
		if g.consumer != nil {
			c.Consumers[g.current()]++
			if n := len(g.consumer.members); n > 0 {
				c.Members[id], c.IdleMembers[id] = n, g.consumer.idleMembers()
			}
		} else {
			c.Groups[g.state]++
		}
		for _, partitions := range g.offsets.committed {
			c.Offsets += len(partitions)
		}
		if len(g.members) > 0 {
			c.Members[id], c.IdleMembers[id] = len(g.members), g.idleMembers()
		}
	}
	return c
}
