package metadata

import (
	"cmp"
	"iter"
	"maps"
	"strings"
)

// Image is the metadata of the cluster at one revision. It is immutable and safe for concurrent use; a newer revision is
// a new image that shares what did not change. Nothing that it returns may be written to.
type Image struct {
	rev        Rev
	clusterID  ClusterID
	topics     sorted[string, *Topic]       // shown topics by name
	states     sorted[TopicID, *topicState] // all topics, half created and half deleted ones too
	claims     sorted[string, TopicID]      // collision form of a name -> topic
	floors     sorted[string, epochFloor]   // by topic name
	floorAll   epochFloor
	configs    sorted[Resource, configState]
	brokers    []*Broker // by id
	regs       map[int32]registration
	statuses   map[int32]BrokerStateRecord
	partitions int           // of shown topics
	replicas   map[int32]int // of shown topics, by broker
}

// epochFloor is a remembered leader epoch and the revision that wrote it.
type epochFloor struct {
	epoch  int32
	modRev Rev
}

// configState is the dynamic configuration of a resource, and the revision that last changed it.
type configState struct {
	overrides map[string]string
	modRev    Rev
}

// registration is a broker's own record, before the controller's word on it is looked at.
type registration struct {
	record    BrokerRecord
	createRev Rev
	modRev    Rev
}

// NewImage returns the empty image, of revision 0.
func NewImage() *Image {
	return &Image{
		topics:   sorted[string, *Topic]{cmp: strings.Compare},
		states:   sorted[TopicID, *topicState]{cmp: TopicID.Compare},
		claims:   sorted[string, TopicID]{cmp: strings.Compare},
		floors:   sorted[string, epochFloor]{cmp: strings.Compare},
		configs:  sorted[Resource, configState]{cmp: compareResources},
		regs:     map[int32]registration{},
		statuses: map[int32]BrokerStateRecord{},
		replicas: map[int32]int{},
	}
}

// BuildImage returns the image of a whole store, as List returns it.
func BuildImage(rev Rev, kvs []KV) (*Image, error) {
	events := make([]Event, len(kvs))
	for i, kv := range kvs {
		events[i] = Event{Kind: EventPut, KV: kv}
	}
	img, _, err := NewImage().Apply(rev, events)
	return img, err
}

// Apply returns the image that follows by a batch of a watch, and what differs. The error is ErrCorrupt or ErrNewerFormat
// and names the key.
func (i *Image) Apply(rev Rev, events []Event) (*Image, Delta, error) {
	b := newBuilder(i)
	if err := b.applyAll(events); err != nil {
		return nil, Delta{}, err
	}
	b.next.rev = rev
	return b.finish()
}

func compareResources(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name))
}

// Rev is the revision of the store that the image shows.
func (i *Image) Rev() Rev { return i.rev }

// ClusterID is the identity of the cluster, empty until there is one.
func (i *Image) ClusterID() ClusterID { return i.clusterID }

// Topic returns a topic by name.
func (i *Image) Topic(name string) (*Topic, bool) { return i.topics.get(name) }

// TopicByID returns a topic by id.
func (i *Image) TopicByID(id TopicID) (*Topic, bool) {
	s, ok := i.states.get(id)
	if !ok || s.topic == nil {
		return nil, false
	}
	return s.topic, true
}

// Partition returns a partition by topic name and index.
func (i *Image) Partition(topic string, index int32) (*Partition, bool) {
	t, ok := i.topics.get(topic)
	if !ok || index < 0 || int(index) >= len(t.Partitions) {
		return nil, false
	}
	return t.Partitions[index], true
}

// Topics yields all topics in the order of their names.
func (i *Image) Topics() iter.Seq[*Topic] {
	return func(yield func(*Topic) bool) {
		for _, t := range i.topics.all() {
			if !yield(t) {
				return
			}
		}
	}
}

// TopicCount is the number of topics.
func (i *Image) TopicCount() int { return i.topics.len() }

// PartitionCount is the number of partitions of all topics together.
func (i *Image) PartitionCount() int { return i.partitions }

// ReplicaCount is the number of partition replicas that a broker has or will have.
func (i *Image) ReplicaCount(broker int32) int { return i.replicas[broker] }

// PartitionRecords is the number below which the partition records of a topic lie, shown or not.
func (i *Image) PartitionRecords(id TopicID) int32 {
	s, ok := i.states.get(id)
	if !ok {
		return 0
	}
	return int32(len(s.parts))
}

// Brokers returns all registered brokers in the order of their ids, fenced ones too.
func (i *Image) Brokers() []*Broker { return i.brokers }

// Broker returns a registered broker.
func (i *Image) Broker(id int32) (*Broker, bool) {
	for _, b := range i.brokers {
		if b.ID == id {
			return b, true
		}
	}
	return nil, false
}

// Config returns the dynamic configuration of a resource, overrides only; nil when there is none. The name of a broker
// resource is its id, or "" for the default of all brokers. The map must not be written to.
func (i *Image) Config(t ResourceType, name string) map[string]string {
	if t == TopicResource {
		if topic, ok := i.topics.get(name); ok {
			return topic.Config
		}
		return nil
	}
	config, _ := i.configs.get(Resource{t, name})
	return config.overrides
}

// ConfigRev is the revision that last changed the dynamic configuration of a resource other than a topic, 0 when it has
// none.
func (i *Image) ConfigRev(t ResourceType, name string) Rev {
	config, _ := i.configs.get(Resource{t, name})
	return config.modRev
}

// Resources yields the names of all resources of a type, other than topics, that have a dynamic configuration, in order.
func (i *Image) Resources(t ResourceType) iter.Seq[string] {
	return func(yield func(string) bool) {
		for r := range i.configs.all() {
			if r.Type == t && !yield(r.Name) {
				return
			}
		}
	}
}

// NameClaim returns the topic that holds the claim on a name or on one that collides with it. The topic may be one that
// is still being created, which Topic does not show.
func (i *Image) NameClaim(name string) (id TopicID, holder string, ok bool) {
	id, ok = i.claims.get(CollisionForm(name))
	if !ok {
		return TopicID{}, "", false
	}
	if s, found := i.states.get(id); found {
		holder = s.record.Name
	}
	return id, holder, true
}

// EpochFloor returns the leader epoch at which a new topic of this name must begin, and the revisions of the two keys
// that say so (0 for a key that is absent), for a transaction that must not miss a later change of them.
func (i *Image) EpochFloor(name string) (epoch int32, own, all Rev) {
	floor, _ := i.floors.get(name)
	return max(floor.epoch, i.floorAll.epoch), floor.modRev, i.floorAll.modRev
}

// EpochFloorCount is the number of topic names that have an epoch floor of their own.
func (i *Image) EpochFloorCount() int { return i.floors.len() }

// OldestEpochFloor returns the floor that was written first.
func (i *Image) OldestEpochFloor() (name string, epoch int32, rev Rev, ok bool) {
	for n, f := range i.floors.all() {
		if !ok || f.modRev < rev {
			name, epoch, rev, ok = n, f.epoch, f.modRev, true
		}
	}
	return name, epoch, rev, ok
}

// Unfinished yields the topics that a creation or deletion has left half done, and the topics that have partition records
// beyond their count. In a cluster at rest there are none.
func (i *Image) Unfinished() iter.Seq[Unfinished] {
	return func(yield func(Unfinished) bool) {
		for id := range i.states.all() {
			if u, ok := i.UnfinishedTopic(id); ok && !yield(u) {
				return
			}
		}
	}
}

// UnfinishedTopic returns a topic if it is one that Unfinished yields.
func (i *Image) UnfinishedTopic(id TopicID) (Unfinished, bool) {
	s, ok := i.states.get(id)
	if !ok || s.record.State == TopicLive && len(s.parts) <= int(s.record.Partitions) {
		return Unfinished{}, false
	}
	return Unfinished{
		ID: id, Name: s.record.Name, State: s.record.State,
		Partitions: s.record.Partitions, Records: int32(len(s.parts)), ModRev: s.modRev,
	}, true
}

// Unfinished is a topic that a crash has left half created, half deleted or half grown.
type Unfinished struct {
	ID         TopicID
	Name       string
	State      TopicState
	Partitions int32 // how many partitions count
	Records    int32 // partition records have indexes below this
	ModRev     Rev
}

// clone returns a copy that may be changed in place by a builder; maps are copied, sorted maps share.
func (i *Image) clone() *Image {
	next := *i
	next.regs, next.statuses, next.replicas = maps.Clone(i.regs), maps.Clone(i.statuses), maps.Clone(i.replicas)
	return &next
}
