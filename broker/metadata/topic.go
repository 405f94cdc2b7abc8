package metadata

// TopicIdentity is what never changes in the life of a topic.
type TopicIdentity struct {
	Name     string
	ID       TopicID
	Internal bool // made by the broker for itself: __consumer_offsets, __transaction_state
}

// Topic is a topic of an image. It is immutable.
type Topic struct {
	Name       string
	ID         TopicID
	Internal   bool
	Partitions []*Partition      // by index, whole: Partitions[i].Index == i
	Config     map[string]string // overrides only; nil when there are none
	ModRev     Rev               // revision of the last change of the topic's own record (config, partition count)
}

// Partition is one partition of a topic of an image. It is immutable.
type Partition struct {
	Topic          *TopicIdentity
	Index          int32
	Replicas       []int32 // broker ids, the preferred leader first
	ISR            []int32 // in-sync replicas
	Adding         []int32 // replicas that a reassignment is adding
	Removing       []int32 // replicas that a reassignment will remove
	ELR            []int32 // eligible leader replicas (KIP-966)
	LastKnownELR   []int32
	Leader         int32 // broker id, NoLeader when there is none
	LeaderEpoch    int32
	PartitionEpoch int32 // grows with every change of the partition
	ModRev         Rev   // for compare-and-swap
}

// NoLeader is the leader of a partition that has none.
const NoLeader int32 = -1
