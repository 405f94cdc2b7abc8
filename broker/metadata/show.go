package metadata

import (
	"cmp"
	"fmt"
	"slices"

	"moldau/internal/invariant"
)

// finish shows the changed topics and brokers, and lists what differs from the image before.
func (b *builder) finish() (*Image, Delta, error) {
	if err := b.showTopics(); err != nil {
		return nil, Delta{}, err
	}
	b.next.claims = b.next.claims.with(b.claims)
	b.next.floors = b.next.floors.with(b.floors)
	b.next.configs = b.next.configs.with(b.configs)
	if b.brokers {
		b.next.brokers = b.next.showBrokers(b.prev.brokers)
	}
	var d Delta
	for id, s := range b.owned {
		before, _ := b.prev.TopicByID(id)
		var after *Topic
		if s != nil {
			after = s.topic
		}
		d.addTopic(before, after)
	}
	for r := range b.configs {
		d.Configs = append(d.Configs, r)
	}
	d.addBrokers(b.prev.brokers, b.next.brokers)
	d.sort()
	b.next.count(d.Topics)
	invariant.Check(b.next.partitions >= 0, "%d partitions", b.next.partitions)
	return b.next, d, nil
}

// showTopics puts the changed topics into the image: first those that vanish, so that a name can change hands.
func (b *builder) showTopics() error {
	topics, states := edits[string, *Topic]{}, edits[TopicID, *topicState]{}
	for id := range b.owned {
		if old, ok := b.prev.TopicByID(id); ok {
			topics.del(old.Name)
		}
	}
	for id, s := range b.owned {
		if s == nil {
			states.del(id)
			continue
		}
		if err := s.show(); err != nil {
			return err
		}
		states.set(id, s)
		if s.topic != nil {
			topics.set(s.topic.Name, s.topic)
		}
	}
	b.next.topics, b.next.states = b.next.topics.with(topics), b.next.states.with(states)
	return nil
}

// count brings the totals up to date with what changed.
func (i *Image) count(changes []TopicChange) {
	for _, t := range changes {
		for _, p := range t.Partitions {
			i.countPartition(p.Prev, -1)
			i.countPartition(p.Next, 1)
		}
	}
}

func (i *Image) countPartition(p *Partition, sign int) {
	if p == nil {
		return
	}
	i.partitions += sign
	for _, id := range p.Replicas {
		if i.replicas[id] += sign; i.replicas[id] == 0 {
			delete(i.replicas, id)
		}
	}
}

// show makes the shown form of a topic out of what is stored.
func (s *topicState) show() error {
	s.topic = nil
	if s.record.State != TopicLive {
		return nil
	}
	n := int(s.record.Partitions)
	if n > len(s.parts) || slices.Contains(s.parts[:n], nil) {
		return fmt.Errorf("%w: topic %s (%s) lacks some of its %d partitions", ErrCorrupt, s.record.Name, s.identity.ID, n)
	}
	s.topic = &Topic{
		Name: s.identity.Name, ID: s.identity.ID, Internal: s.identity.Internal,
		Partitions: s.parts[:n:n], Config: s.record.Config, ModRev: s.modRev,
	}
	return nil
}

// showBrokers makes the list of brokers, keeping the entries of old that did not change.
func (i *Image) showBrokers(old []*Broker) []*Broker {
	brokers := make([]*Broker, 0, len(i.regs))
	for id, reg := range i.regs {
		state := i.statuses[id]
		fenced := state.Epoch != int64(reg.createRev) || state.Status == BrokerFenced
		b := &Broker{ID: id, Epoch: int64(reg.createRev), Rack: reg.record.Rack, Endpoints: reg.record.Endpoints, Fenced: fenced, Draining: !fenced && state.Status == BrokerDraining, modRev: reg.modRev}
		for _, o := range old {
			if o.same(b) {
				b = o
			}
		}
		brokers = append(brokers, b)
	}
	slices.SortFunc(brokers, func(a, b *Broker) int { return cmp.Compare(a.ID, b.ID) })
	return brokers
}
