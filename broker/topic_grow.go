package broker

import (
	"context"

	"moldau/broker/controller"
)

// NewPartitions says how many partitions a topic shall have.
type NewPartitions struct {
	Topic string
	// Count is the number of partitions afterwards.
	Count int32
	// Assignments choose the replicas of the new partitions, in their order; nil leaves it to the broker.
	Assignments [][]int32
}

// TopicOutcome says how a change of a topic went.
type TopicOutcome struct {
	Topic string
	Err   error
}

// CreatePartitions adds partitions to topics, or with validateOnly only says whether it would. Every topic is answered
// once, in the order of the request. New partitions serve when it returns. When ctx ends, the rest is answered with
// ErrTimedOut.
func (n *Node) CreatePartitions(ctx context.Context, _ *Caller, topics []NewPartitions, validateOnly bool) []TopicOutcome {
	times := make(map[string]int, len(topics))
	for _, t := range topics {
		times[t.Topic]++
	}
	answers := make([]TopicOutcome, 0, len(topics))
	for _, t := range topics {
		a := TopicOutcome{Topic: t.Topic}
		switch {
		case times[t.Topic] == 0:
			continue // refused before
		case times[t.Topic] > 1:
			times[t.Topic] = 0
			a.Err = refuse(ErrInvalidRequest, "Duplicate topic name.")
		case ctx.Err() != nil:
			a.Err = ErrTimedOut
		default:
			a.Err = n.createPartitions(ctx, t, validateOnly)
		}
		answers = append(answers, a)
	}
	return answers
}

func (n *Node) createPartitions(ctx context.Context, t NewPartitions, validateOnly bool) error {
	spec := controller.PartitionsSpec{Topic: t.Topic, Count: t.Count, Assignments: t.Assignments}
	if validateOnly {
		return controllerError(n.controller.CheckPartitions(spec))
	}
	return controllerError(n.controller.CreatePartitions(ctx, spec))
}
