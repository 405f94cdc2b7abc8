package metadata

import (
	"fmt"
	"slices"
	"strings"
)

// topicState is everything stored about one topic, shown or not. It is immutable once its image is published.
type topicState struct {
	identity *TopicIdentity
	record   TopicRecord
	modRev   Rev
	parts    []*Partition // by index; may be longer than record.Partitions, and have holes there
	topic    *Topic       // the shown form, nil while the topic is not shown
}

// builder makes the next image out of one image and a batch of events. Each topic is copied at most once per batch,
// however many of its partitions change.
type builder struct {
	prev    *Image
	next    *Image
	owned   map[TopicID]*topicState // copied for this batch; nil: deleted
	claims  edits[string, TopicID]
	floors  edits[string, epochFloor]
	configs edits[Resource, configState]
	brokers bool // some broker key changed
}

func newBuilder(prev *Image) *builder {
	return &builder{
		prev:    prev,
		next:    prev.clone(),
		owned:   map[TopicID]*topicState{},
		claims:  edits[string, TopicID]{},
		floors:  edits[string, epochFloor]{},
		configs: edits[Resource, configState]{},
	}
}

// applyAll takes topic records first and their deletions last: inside one revision a partition may come before its topic.
func (b *builder) applyAll(events []Event) error {
	for _, e := range events {
		if e.Kind == EventPut && strings.HasPrefix(e.KV.Key, topicPrefix) {
			if err := b.putTopic(e.KV); err != nil {
				return inKey(e, err)
			}
		}
	}
	for _, e := range events {
		if err := b.applyOne(e); err != nil {
			return inKey(e, err)
		}
	}
	for _, e := range events {
		if e.Kind == EventDelete && strings.HasPrefix(e.KV.Key, topicPrefix) {
			if err := b.deleteTopic(e.KV.Key); err != nil {
				return inKey(e, err)
			}
		}
	}
	return nil
}

func inKey(e Event, err error) error { return fmt.Errorf("key %s: %w", e.KV.Key, err) }

// applyOne takes every event but those of topic records.
func (b *builder) applyOne(e Event) error {
	dir, rest, _ := strings.Cut(e.KV.Key, "/")
	switch dir + "/" {
	case partPrefix:
		return b.partition(e, rest)
	case namesPrefix:
		return b.claim(e, rest)
	case floorPrefix:
		return b.floor(e, rest)
	case brokersPrefix:
		return b.registration(e, rest)
	case statePrefix:
		return b.status(e, rest)
	case configPrefix:
		return b.config(e, rest)
	case floorAllKey + "/":
		return b.floorAll(e)
	case clusterKey + "/":
		return b.cluster(e)
	}
	return nil // a key of another room
}

// own returns a copy of a topic's state that this batch may change, nil when there is none.
func (b *builder) own(id TopicID) *topicState {
	if s, ok := b.owned[id]; ok {
		return s
	}
	old, ok := b.prev.states.get(id)
	if !ok {
		return nil
	}
	s := *old
	s.parts = slices.Clone(old.parts)
	b.owned[id] = &s
	return &s
}

func (b *builder) putTopic(kv KV) error {
	id, err := ParseTopicID(strings.TrimPrefix(kv.Key, topicPrefix))
	if err != nil {
		return err
	}
	var r TopicRecord
	if err := Decode(kv.Value, &r); err != nil {
		return err
	}
	if r.Partitions < 0 || r.Name == "" {
		return fmt.Errorf("%w: topic without a name or with %d partitions", ErrCorrupt, r.Partitions)
	}
	s := b.own(id)
	if s == nil {
		s = &topicState{identity: &TopicIdentity{Name: r.Name, ID: id, Internal: r.Internal}}
		b.owned[id] = s
	}
	s.record, s.modRev = r, kv.ModRev
	return nil
}

func (b *builder) deleteTopic(key string) error {
	id, err := ParseTopicID(strings.TrimPrefix(key, topicPrefix))
	if err != nil {
		return err
	}
	b.owned[id] = nil
	return nil
}

func (b *builder) partition(e Event, rest string) error {
	id, index, err := parsePartitionKey(rest)
	if err != nil {
		return err
	}
	s := b.own(id)
	if s == nil {
		return nil // remains of a deleted topic
	}
	if e.Kind == EventDelete {
		if int(index) < len(s.parts) {
			s.parts[index] = nil
			s.parts = trimNil(s.parts)
		}
		return nil
	}
	p, err := newPartition(s.identity, index, e.KV)
	if err != nil {
		return err
	}
	if index > maxPartitionIndex {
		return fmt.Errorf("%w: partition index %d", ErrCorrupt, index)
	}
	if n := int(index) + 1 - len(s.parts); n > 0 {
		s.parts = append(s.parts, make([]*Partition, n)...)
	}
	s.parts[index] = p
	return nil
}

// maxPartitionIndex bounds the memory that one damaged key can claim.
const maxPartitionIndex = 1 << 20

func trimNil(parts []*Partition) []*Partition {
	for len(parts) > 0 && parts[len(parts)-1] == nil {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func newPartition(topic *TopicIdentity, index int32, kv KV) (*Partition, error) {
	var r PartitionRecord
	if err := Decode(kv.Value, &r); err != nil {
		return nil, err
	}
	if len(r.Replicas) == 0 {
		return nil, fmt.Errorf("%w: partition without replicas", ErrCorrupt)
	}
	return &Partition{
		Topic: topic, Index: index,
		Replicas: r.Replicas, ISR: r.ISR, Adding: r.Adding, Removing: r.Removing,
		ELR: r.ELR, LastKnownELR: r.LastKnownELR,
		Leader: r.Leader, LeaderEpoch: r.LeaderEpoch, PartitionEpoch: int32(kv.ModRev), ModRev: kv.ModRev,
	}, nil
}

func (b *builder) claim(e Event, rest string) error {
	if e.Kind == EventDelete {
		b.claims.del(rest)
		return nil
	}
	var r TopicNameRecord
	if err := Decode(e.KV.Value, &r); err != nil {
		return err
	}
	b.claims.set(rest, r.ID)
	return nil
}

func (b *builder) floor(e Event, rest string) error {
	if e.Kind == EventDelete {
		b.floors.del(rest)
		return nil
	}
	var r EpochFloorRecord
	if err := Decode(e.KV.Value, &r); err != nil {
		return err
	}
	b.floors.set(rest, epochFloor{r.LeaderEpoch, e.KV.ModRev})
	return nil
}

func (b *builder) floorAll(e Event) error {
	if e.Kind == EventDelete {
		b.next.floorAll = epochFloor{}
		return nil
	}
	var r EpochFloorRecord
	if err := Decode(e.KV.Value, &r); err != nil {
		return err
	}
	b.next.floorAll = epochFloor{r.LeaderEpoch, e.KV.ModRev}
	return nil
}

func (b *builder) cluster(e Event) error {
	if e.Kind == EventDelete {
		b.next.clusterID = ""
		return nil
	}
	var r ClusterRecord
	if err := Decode(e.KV.Value, &r); err != nil {
		return err
	}
	b.next.clusterID = r.ID
	return nil
}

func (b *builder) registration(e Event, rest string) error {
	id, err := parseBrokerID(rest)
	if err != nil {
		return err
	}
	b.brokers = true
	if e.Kind == EventDelete {
		delete(b.next.regs, id)
		return nil
	}
	reg := registration{createRev: e.KV.CreateRev, modRev: e.KV.ModRev}
	if err := Decode(e.KV.Value, &reg.record); err != nil {
		return err
	}
	b.next.regs[id] = reg
	return nil
}

func (b *builder) status(e Event, rest string) error {
	id, err := parseBrokerID(rest)
	if err != nil {
		return err
	}
	b.brokers = true
	if e.Kind == EventDelete {
		delete(b.next.statuses, id)
		return nil
	}
	var r BrokerStateRecord
	if err := Decode(e.KV.Value, &r); err != nil {
		return err
	}
	b.next.statuses[id] = r
	return nil
}

func (b *builder) config(e Event, rest string) error {
	resource, ok := parseResource(rest)
	if !ok {
		return nil // a kind of resource that a later version has added
	}
	if e.Kind == EventDelete {
		b.configs.del(resource)
		return nil
	}
	var r ConfigRecord
	if err := Decode(e.KV.Value, &r); err != nil {
		return err
	}
	b.configs.set(resource, configState{r.Config, e.KV.ModRev})
	return nil
}
