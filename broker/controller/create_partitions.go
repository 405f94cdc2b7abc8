package controller

import (
	"slices"

	"moldau/broker/metadata"
)

// PartitionsSpec says how a topic shall grow.
type PartitionsSpec struct {
	Topic       string
	Count       int32     // partitions that the topic shall have then
	Assignments [][]int32 // replicas of each new partition; nil lets the controller choose
	Seed        uint64    // where placement begins. Controller sets it.
}

// CreatePartitions decides about a topic's growth. The new partitions are shown by the last transaction of the plan.
func CreatePartitions(img *metadata.Image, limits Limits, pending Pending, spec PartitionsSpec) (Plan, error) {
	t, err := TopicRef{Name: spec.Topic}.find(img)
	if err != nil {
		return nil, err
	}
	records, err := morePartitions(img, limits, t, spec)
	if err != nil {
		return nil, err
	}
	if err := limits.checkBrokers(img, pending, records); err != nil {
		return nil, err
	}
	topic := topicRecord(t)
	topic.Partitions = spec.Count
	key := metadata.TopicKey(t.ID)
	ops := partitionOps(t.ID, int32(len(t.Partitions)), records)
	ops = append(ops, metadata.Put(key, metadata.Encode(topic)))
	return chunked([]metadata.Cmp{metadata.ModifiedAt(key, t.ModRev)}, ops), nil
}

// morePartitions checks the count or the assignments and returns the new partitions.
func morePartitions(img *metadata.Image, limits Limits, t *metadata.Topic, spec PartitionsSpec) ([]metadata.PartitionRecord, error) {
	have := int32(len(t.Partitions))
	switch {
	case spec.Count == have:
		return nil, refuse(ErrInvalidPartitions, "Topic already has %d partition(s).", have)
	case spec.Count < have:
		return nil, refuse(ErrInvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", t.Name, have, spec.Count)
	}
	n := int(spec.Count) - int(have)
	if err := limits.checkRequest(n); err != nil {
		return nil, err
	}
	factor := len(t.Partitions[0].Replicas)
	epoch, _, _ := img.EpochFloor(t.Name)
	if spec.Assignments == nil {
		return placed(img, n, factor, spec.Seed, epoch)
	}
	if len(spec.Assignments) != n {
		return nil, refuse(ErrInvalidReplicaAssignment, "Attempted to add %d additional partition(s), but only %d assignment(s) were specified.", n, len(spec.Assignments))
	}
	for _, replicas := range spec.Assignments {
		if err := checkAssignment(img, replicas, factor); err != nil {
			return nil, err
		}
	}
	return assigned(img, have, slices.Clone(spec.Assignments), epoch)
}
