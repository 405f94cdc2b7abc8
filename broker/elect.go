package broker

import (
	"context"
	"slices"

	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// The kinds of elections; the numbers are the protocol's.
const (
	PreferredElection int8 = 0
	UncleanElection   int8 = 1
)

// TopicPartition names a partition by its topic's name.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// PartitionOutcome says how a change of a partition went.
type PartitionOutcome struct {
	TopicPartition
	Err error
}

// ElectLeaders holds elections for the given partitions and answers each, in the order of the request. nil stands for all
// partitions; then those that need no election are left out of the answer.
func (n *Node) ElectLeaders(ctx context.Context, _ *Caller, kind int8, partitions []TopicPartition) []PartitionOutcome {
	if err := CheckElection(kind); err != nil {
		return each(partitions, err)
	}
	if partitions == nil {
		partitions = inNeedOf(kind, n.Image())
	}
	if len(partitions) == 0 {
		return nil
	}
	tps := make([]controller.TopicPartition, len(partitions))
	for i, p := range partitions {
		tps[i] = controller.TopicPartition(p)
	}
	answers := make([]PartitionOutcome, len(partitions))
	for i, err := range n.controller.ElectLeaders(ctx, controller.Election(kind), tps) {
		answers[i] = PartitionOutcome{partitions[i], controllerError(err)}
	}
	return answers
}

// CheckElection refuses kinds of elections that aren't there.
func CheckElection(kind int8) error {
	if kind != PreferredElection && kind != UncleanElection {
		return refuse(ErrInvalidRequest, "Unknown election type %d", kind)
	}
	return nil
}

// inNeedOf returns the partitions that an election of this kind could give another leader.
func inNeedOf(kind int8, img *metadata.Image) []TopicPartition {
	var need []TopicPartition
	for t := range img.Topics() {
		for _, p := range t.Partitions {
			preferred := slices.Index(p.Replicas, p.Leader) == 0
			if kind == PreferredElection && !preferred || kind == UncleanElection && p.Leader == metadata.NoLeader {
				need = append(need, TopicPartition{t.Name, p.Index})
			}
		}
	}
	return need
}

// each answers all partitions alike.
func each(partitions []TopicPartition, err error) []PartitionOutcome {
	answers := make([]PartitionOutcome, len(partitions))
	for i, p := range partitions {
		answers[i] = PartitionOutcome{p, err}
	}
	return answers
}
