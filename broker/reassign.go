package broker

import (
	"context"
	"slices"

	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// Reassignment asks for other replicas of a partition (KIP-455).
type Reassignment struct {
	TopicPartition
	// Replicas are the replicas that the partition shall have, the preferred leader first; nil cancels the reassignment
	// that goes on.
	Replicas []int32
}

// AlterPartitionReassignments begins, changes or cancels reassignments, and answers each in the order of the request.
// allowFactorChange permits another number of replicas than the partition has (KIP-860).
func (n *Node) AlterPartitionReassignments(ctx context.Context, _ *Caller, reassignments []Reassignment, allowFactorChange bool) []PartitionOutcome {
	specs := make([]controller.Reassignment, len(reassignments))
	for i, r := range reassignments {
		specs[i] = controller.Reassignment{
			TopicPartition: controller.TopicPartition(r.TopicPartition), Replicas: r.Replicas, AllowFactorChange: allowFactorChange,
		}
	}
	if len(specs) == 0 {
		return nil
	}
	answers := make([]PartitionOutcome, len(reassignments))
	errs := n.controller.Reassign(ctx, specs)
	for i, r := range reassignments {
		answers[i] = PartitionOutcome{r.TopicPartition, controllerError(errs[i])}
	}
	return answers
}

// ListPartitionReassignments returns the partitions, of those given or of all for nil, whose replicas are being
// reassigned, by topic and number.
func (n *Node) ListPartitionReassignments(_ *Caller, partitions []TopicPartition) []*metadata.Partition {
	img := n.Image()
	var found []*metadata.Partition
	add := func(p *metadata.Partition) {
		if len(p.Adding) > 0 || len(p.Removing) > 0 {
			found = append(found, p)
		}
	}
	if partitions == nil {
		for t := range img.Topics() {
			for _, p := range t.Partitions {
				add(p)
			}
		}
		return found
	}
	for _, tp := range partitions {
		if p, ok := img.Partition(tp.Topic, tp.Partition); ok && !slices.Contains(found, p) {
			add(p)
		}
	}
	return found
}
