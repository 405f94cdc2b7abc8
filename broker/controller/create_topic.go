package controller

import (
	"maps"

	"moldau/broker/metadata"
)

// TopicSpec says what topic to create.
type TopicSpec struct {
	Name              string
	Partitions        int32             // -1: the default
	ReplicationFactor int16             // -1: the default
	Assignments       map[int32][]int32 // replicas of each partition, chosen by the caller; then the two above must be -1
	Config            map[string]string // overrides, already checked
	Internal          bool
	// ID is the id that the topic shall have. The zero id lets Controller choose.
	ID metadata.TopicID
	// Seed decides where placement begins. Controller sets it.
	Seed uint64
}

// TopicResult is a topic as it was, or would be, created.
type TopicResult struct {
	Name              string
	ID                metadata.TopicID
	Partitions        int32
	ReplicationFactor int16
	Config            map[string]string
	Replicas          [][]int32 // of each partition
}

// CreateTopic decides about a new topic. The plan is one transaction for up to 126 partitions; a larger topic is written
// in steps and shown by the last one.
func CreateTopic(img *metadata.Image, limits Limits, pending Pending, spec TopicSpec) (Plan, TopicResult, error) {
	if err := ValidateTopicName(spec.Name); err != nil {
		return nil, TopicResult{}, err
	}
	if err := checkNameFree(img, spec.Name); err != nil {
		return nil, TopicResult{}, err
	}
	epoch, ownRev, allRev := img.EpochFloor(spec.Name)
	records, err := firstPartitions(img, limits, spec, epoch)
	if err != nil {
		return nil, TopicResult{}, err
	}
	if err := limits.checkBrokers(img, pending, records); err != nil {
		return nil, TopicResult{}, err
	}
	topic := metadata.TopicRecord{Name: spec.Name, Partitions: int32(len(records)), Internal: spec.Internal, Config: maps.Clone(spec.Config)}
	if n := len(metadata.Encode(&topic)); n > metadata.MaxValueBytes {
		return nil, TopicResult{}, refuse(ErrPolicyViolation, "The configuration of topic '%s' takes %d bytes, more than %d.", spec.Name, n, metadata.MaxValueBytes)
	}
	result := TopicResult{
		Name: spec.Name, ID: spec.ID, Partitions: int32(len(records)),
		ReplicationFactor: int16(len(records[0].Replicas)), Config: topic.Config,
		Replicas: replicaLists(records),
	}
	first := metadata.Txn{
		Cmps: []metadata.Cmp{
			metadata.Absent(metadata.TopicNameKey(spec.Name)),
			metadata.ModifiedAt(metadata.EpochFloorKey(spec.Name), ownRev),
			metadata.ModifiedAt(metadata.EpochFloorAllKey(), allRev),
		},
		Ops: []metadata.Op{metadata.Put(metadata.TopicNameKey(spec.Name), metadata.Encode(&metadata.TopicNameRecord{ID: spec.ID}))},
	}
	return creation(first, topic, spec.ID, records), result, nil
}

// creation spreads the records of a topic over transactions.
func creation(first metadata.Txn, topic metadata.TopicRecord, id metadata.TopicID, records []metadata.PartitionRecord) Plan {
	key, ops := metadata.TopicKey(id), partitionOps(id, 0, records)
	show := metadata.Put(key, metadata.Encode(&topic))
	if len(first.Ops)+1+len(ops) <= metadata.MaxOps {
		first.Ops = append(append(first.Ops, show), ops...)
		return Plan{first}
	}
	topic.State = metadata.TopicCreating
	first.Ops = append(first.Ops, metadata.Put(key, metadata.Encode(&topic)))
	n := metadata.MaxOps - len(first.Ops)
	first.Ops = append(first.Ops, ops[:n]...)
	return append(Plan{first}, chunked([]metadata.Cmp{metadata.ModifiedAt(key, sinceFirst)}, append(ops[n:], show))...)
}

// firstPartitions checks the counts or the assignments of a new topic and returns its partitions.
func firstPartitions(img *metadata.Image, limits Limits, spec TopicSpec, epoch int32) ([]metadata.PartitionRecord, error) {
	if len(spec.Assignments) > 0 {
		return manualPartitions(img, limits, spec, epoch)
	}
	n, factor := spec.Partitions, spec.ReplicationFactor
	if factor < -1 || factor == 0 {
		return nil, refuse(ErrInvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	}
	if n < -1 || n == 0 {
		return nil, refuse(ErrInvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	if n == -1 {
		n = limits.DefaultPartitions
	}
	if factor == -1 {
		factor = limits.DefaultReplicationFactor
	}
	if err := limits.checkRequest(int(n)); err != nil {
		return nil, err
	}
	records, err := placed(img, int(n), int(factor), spec.Seed, epoch)
	if err != nil {
		return nil, refuse(ErrInvalidReplicationFactor, "Unable to replicate the partition %d time(s): %s", factor, err)
	}
	return records, nil
}

func manualPartitions(img *metadata.Image, limits Limits, spec TopicSpec, epoch int32) ([]metadata.PartitionRecord, error) {
	switch {
	case spec.ReplicationFactor != -1:
		return nil, refuse(ErrInvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	case spec.Partitions != -1:
		return nil, refuse(ErrInvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	if err := limits.checkRequest(len(spec.Assignments)); err != nil {
		return nil, err
	}
	lists := make([][]int32, len(spec.Assignments))
	for i := range lists {
		replicas, ok := spec.Assignments[int32(i)]
		if !ok {
			return nil, refuse(ErrInvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
		factor := 0
		if i > 0 {
			factor = len(lists[0])
		}
		if err := checkAssignment(img, replicas, factor); err != nil {
			return nil, err
		}
		lists[i] = replicas
	}
	return assigned(img, 0, lists, epoch)
}
