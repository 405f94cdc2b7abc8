package assignor

import (
	"cmp"
	"maps"
	"slices"
)

// Uniform gives all members as many partitions as their subscriptions permit, and leaves where they are as many as balance
// permits.
type Uniform struct{}

// Name implements Assignor.
func (Uniform) Name() string { return "uniform" }

// Assign implements Assignor.
func (Uniform) Assign(s *Spec) map[string]Partitions {
	b := newBalance(s)
	if len(b.members) == 0 {
		return map[string]Partitions{}
	}
	b.keep()
	if b.alike() {
		b.share()
	} else {
		b.fill()
		b.level()
	}
	return b.result()
}

// place is a partition on its way to a member.
type place struct {
	topic     TopicID
	partition int32
}

// bearer is a member with what it has been given so far.
type bearer struct {
	id   string
	held []place
}

// balance is an assignment in the making.
type balance struct {
	s           *Spec
	members     []*bearer // static ones first
	byID        map[string]*bearer
	topics      []TopicID // those with subscribers, the ones with the fewest first
	subscribers map[TopicID][]*bearer
	free        []place
}

func newBalance(s *Spec) *balance {
	b := &balance{s: s, byID: make(map[string]*bearer, len(s.Members)), subscribers: make(map[TopicID][]*bearer, len(s.Topics))}
	ids := s.sortedMembers()
	for _, id := range ids {
		m := &bearer{id: id}
		b.members = append(b.members, m)
		b.byID[id] = m
	}
	for topic, members := range s.subscribers(ids) {
		for _, id := range members {
			b.subscribers[topic] = append(b.subscribers[topic], b.byID[id])
		}
	}
	b.topics = slices.SortedFunc(maps.Keys(b.subscribers), func(x, y TopicID) int {
		return cmp.Or(cmp.Compare(len(b.subscribers[x]), len(b.subscribers[y])), CompareTopics(x, y))
	})
	return b
}

// keep leaves with the members what they have and may have, and finds what is free.
func (b *balance) keep() {
	taken := make(map[place]bool)
	for _, m := range b.members {
		member := b.s.Members[m.id]
		for _, topic := range member.Assigned.Topics() {
			if !member.subscribes(topic) {
				continue
			}
			for _, p := range member.Assigned[topic] {
				at := place{topic, p}
				if p < b.s.Topics[topic] && !taken[at] {
					taken[at] = true
					m.held = append(m.held, at)
				}
			}
		}
	}
	for _, topic := range b.topics {
		for p := range b.s.Topics[topic] {
			if at := (place{topic, p}); !taken[at] {
				b.free = append(b.free, at)
			}
		}
	}
}

// alike tells whether all members subscribe to the same topics.
func (b *balance) alike() bool {
	return !slices.ContainsFunc(b.topics, func(t TopicID) bool { return len(b.subscribers[t]) != len(b.members) })
}

// share gives all members the same number of partitions, or one more: those that have more than that give them up, so that
// nothing else moves.
func (b *balance) share() {
	total := len(b.free)
	for _, m := range b.members {
		total += len(m.held)
	}
	each, more := total/len(b.members), total%len(b.members)
	richest := slices.Clone(b.members)
	slices.SortStableFunc(richest, func(x, y *bearer) int { return cmp.Compare(len(y.held), len(x.held)) })
	for i, m := range richest {
		quota := each
		if i < more {
			quota++
		}
		if len(m.held) > quota {
			b.free = append(b.free, m.held[quota:]...)
			m.held = m.held[:quota:quota]
		}
	}
	for len(b.free) > 0 {
		for i, m := range richest { // one each in turn, so that the partitions of a topic are spread
			quota := each
			if i < more {
				quota++
			}
			if len(m.held) < quota {
				m.held = append(m.held, b.free[0])
				b.free = b.free[1:]
			}
		}
	}
}

// fill gives what is free to the subscribers that have the least.
func (b *balance) fill() {
	for _, at := range b.free {
		m := least(b.subscribers[at.topic])
		m.held = append(m.held, at)
	}
	b.free = nil
}

// level moves partitions to subscribers that have at least two less, until there is none. Each move brings the members closer to
// each other, so it comes to an end.
func (b *balance) level() {
	for moved := true; moved; {
		moved = false
		for _, m := range b.members {
			for i := len(m.held) - 1; i >= 0; i-- {
				to := least(b.subscribers[m.held[i].topic])
				if len(m.held) < len(to.held)+2 {
					continue
				}
				to.held = append(to.held, m.held[i])
				m.held = slices.Delete(m.held, i, i+1)
				moved = true
			}
		}
	}
}

// least returns the member with the fewest partitions, the first of several.
func least(members []*bearer) *bearer {
	return slices.MinFunc(members, func(x, y *bearer) int { return cmp.Compare(len(x.held), len(y.held)) })
}

func (b *balance) result() map[string]Partitions {
	out := make(map[string]Partitions, len(b.members))
	for _, m := range b.members {
		if len(m.held) == 0 {
			continue
		}
		p := Partitions{}
		for _, at := range m.held {
			p[at.topic] = append(p[at.topic], at.partition)
		}
		for _, list := range p {
			slices.Sort(list)
		}
		out[m.id] = p
	}
	return out
}
