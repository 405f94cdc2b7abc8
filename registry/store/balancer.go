package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// protocol is the name of the way in which the group assigns.
const protocol = "moldau-registry-v1"

// member is what a replica tells the others, as the user data of its subscription.
type member struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Since int64  `json:"since,omitempty"` // the generation in which it became the owner
}

// verdict is what the leader of the group tells each replica, as the user data of its assignment.
type verdict struct {
	Owner   member `json:"owner"`
	Members int    `json:"members"`
}

// balancer assigns the one partition to one replica: to the one that has it already, else to the one whose id is the
// lowest. It implements kgo.GroupBalancer.
type balancer struct {
	seat  *seat
	topic string
}

// ProtocolName implements kgo.GroupBalancer.
func (*balancer) ProtocolName() string { return protocol }

// IsCooperative implements kgo.GroupBalancer.
func (*balancer) IsCooperative() bool { return false }

// JoinGroupMetadata implements kgo.GroupBalancer.
func (b *balancer) JoinGroupMetadata([]string, map[string][]int32, int32) []byte {
	var m kmsg.ConsumerMemberMetadata
	m.Topics = []string{b.topic}
	m.UserData = encode(b.seat.self())
	return m.AppendTo(nil)
}

// ParseSyncAssignment implements kgo.GroupBalancer. It is where this replica learns who the owner is.
func (b *balancer) ParseSyncAssignment(raw []byte) (map[string][]int32, error) {
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(raw); err != nil {
		return nil, fmt.Errorf("read the assignment: %w", err)
	}
	var v verdict
	if err := json.Unmarshal(a.UserData, &v); err != nil {
		return nil, fmt.Errorf("read the assignment: %w", err)
	}
	b.seat.assign(v.Owner, v.Members, v.Owner.Since+1)
	out := map[string][]int32{}
	for _, t := range a.Topics {
		out[t.Topic] = t.Partitions
	}
	return out, nil
}

// MemberBalancer implements kgo.GroupBalancer.
func (b *balancer) MemberBalancer(members []kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	plan := &plan{topic: b.topic}
	for _, m := range members {
		var meta kmsg.ConsumerMemberMetadata
		if err := meta.ReadFrom(m.ProtocolMetadata); err != nil {
			return nil, nil, fmt.Errorf("read the subscription of %s: %w", m.MemberID, err)
		}
		c := candidate{group: m.MemberID}
		if err := json.Unmarshal(meta.UserData, &c.member); err != nil {
			return nil, nil, fmt.Errorf("read the subscription of %s: %w", m.MemberID, err)
		}
		plan.candidates = append(plan.candidates, c)
	}
	return plan, map[string]struct{}{b.topic: {}}, nil
}

// plan is one assignment.
type plan struct {
	topic      string
	candidates []candidate
}

type candidate struct {
	member
	group string // its id in the group
}

// Balance implements kgo.GroupMemberBalancer.
func (p *plan) Balance(map[string]int32) kgo.IntoSyncAssignment { return p }

// owner chooses. The latest of those who say they own the topic is right about it.
func (p *plan) owner() candidate {
	return slices.MaxFunc(p.candidates, func(a, b candidate) int {
		if a.Since != b.Since {
			return int(max(min(a.Since-b.Since, 1), -1))
		}
		if a.ID < b.ID {
			return 1
		}
		return -1
	})
}

// IntoSyncAssignment implements kgo.IntoSyncAssignment.
func (p *plan) IntoSyncAssignment() []kmsg.SyncGroupRequestGroupAssignment {
	owner := p.owner()
	told := encode(verdict{owner.member, len(p.candidates)})
	out := make([]kmsg.SyncGroupRequestGroupAssignment, 0, len(p.candidates))
	for _, c := range p.candidates {
		var a kmsg.ConsumerMemberAssignment
		a.UserData = told
		if c.group == owner.group {
			a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: p.topic, Partitions: []int32{0}}}
		}
		out = append(out, kmsg.SyncGroupRequestGroupAssignment{MemberID: c.group, MemberAssignment: a.AppendTo(nil)})
	}
	return out
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("registry store: %v", err)) // strings and numbers only
	}
	return b
}
