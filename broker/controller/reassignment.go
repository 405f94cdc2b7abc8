package controller

import (
	"slices"

	"moldau/broker/metadata"
)

// Reassignment asks for other replicas of a partition (KIP-455).
type Reassignment struct {
	TopicPartition
	// Replicas is the list that the partition shall have, the preferred leader first; nil cancels the reassignment in
	// progress.
	Replicas []int32
	// AllowFactorChange permits a list of another length than the partition has now (KIP-860).
	AllowFactorChange bool
}

// Reassign decides about a reassignment. One that needs no replica to catch up is complete at once.
func Reassign(img *metadata.Image, spec Reassignment) (Plan, error) {
	if _, ok := img.Topic(spec.Topic); !ok {
		return nil, refuse(ErrUnknownTopicOrPartition, "Unable to find a topic named %s.", clip(spec.Topic))
	}
	p, ok := img.Partition(spec.Topic, spec.Partition)
	if !ok {
		return nil, refuse(ErrUnknownTopicOrPartition, "Unable to find partition %s:%d.", spec.Topic, spec.Partition)
	}
	if spec.Replicas == nil {
		return cancelReassignment(img, p)
	}
	if err := checkAssignment(img, spec.Replicas, 0); err != nil {
		return nil, err
	}
	if before := len(without(p.Replicas, p.Adding...)); !spec.AllowFactorChange && before != len(spec.Replicas) {
		return nil, refuse(ErrInvalidReplicationFactor, "The replication factor is changed from %d to %d", before, len(spec.Replicas))
	}
	if slices.Equal(p.Replicas, spec.Replicas) && !reassigning(p) {
		return nil, nil
	}
	next := partitionRecord(p)
	next.Adding = without(spec.Replicas, without(p.Replicas, p.Adding...)...)
	next.Removing = without(p.Replicas, spec.Replicas...)
	next.Replicas = append(slices.Clone(spec.Replicas), next.Removing...)
	complete(&next)
	return settle(img, p, next)
}

// reassigning reports whether a reassignment is in progress.
func reassigning(p *metadata.Partition) bool { return len(p.Adding) > 0 || len(p.Removing) > 0 }

// complete ends a reassignment whose new replicas are all in sync.
func complete(r *metadata.PartitionRecord) {
	isr := without(r.ISR, r.Removing...)
	if len(isr) == 0 || len(without(r.Adding, isr...)) > 0 {
		return
	}
	r.Replicas, r.ISR = without(r.Replicas, r.Removing...), isr
	r.ELR, r.LastKnownELR = without(r.ELR, r.Removing...), without(r.LastKnownELR, r.Removing...)
	r.Adding, r.Removing = nil, nil
}

// cancelReassignment takes back the replicas that were being added.
func cancelReassignment(img *metadata.Image, p *metadata.Partition) (Plan, error) {
	if !reassigning(p) {
		return nil, refuse(ErrNoReassignmentInProgress, "No partition reassignment is in progress.")
	}
	next := partitionRecord(p)
	next.Replicas, next.ISR = without(p.Replicas, p.Adding...), without(p.ISR, p.Adding...)
	next.ELR, next.LastKnownELR = without(p.ELR, p.Adding...), without(p.LastKnownELR, p.Adding...)
	next.Adding, next.Removing = nil, nil
	if len(next.Replicas) == 0 || len(next.ISR) == 0 {
		return nil, refuse(ErrInvalidReplicaAssignment, "The reassignment of %s-%d cannot be canceled: none of the original replicas is in sync.", p.Topic.Name, p.Index)
	}
	return settle(img, p, next)
}

// settle elects another leader when the old one has left, and begins a new leader epoch when the leader or the set of
// replicas changed.
func settle(img *metadata.Image, p *metadata.Partition, next metadata.PartitionRecord) (Plan, error) {
	if p.Leader != metadata.NoLeader && !slices.Contains(next.ISR, p.Leader) {
		next.Leader = metadata.NoLeader
		elect(img, &next, false)
	}
	if next.Leader != p.Leader || len(without(p.Replicas, next.Replicas...)) > 0 {
		next.LeaderEpoch++
	}
	return Plan{changePartition(p, next)}, nil
}
