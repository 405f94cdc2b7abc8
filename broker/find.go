package broker

import (
	"errors"
	"fmt"

	"moldau/broker/partition"
	"moldau/broker/storage"
)

// find returns a topic of this node and its replica of a partition. Where there is an error the topic is nil, unless it
// is known and only the partition isn't here.
func (n *Node) find(ref TopicRef, index int32) (*partition.Topic, *partition.Partition, error) {
	t, err := n.topic(ref)
	if err != nil {
		return nil, nil, err
	}
	if p := t.Partition(index); p != nil {
		return t, p, nil
	}
	if _, ok := n.Image().Partition(t.Name, index); ok {
		return t, nil, ErrNotLeader
	}
	return t, nil, ErrUnknownTopicOrPartition
}

// topic returns a topic of this node.
func (n *Node) topic(ref TopicRef) (*partition.Topic, error) {
	if ref.ID.IsZero() && ref.Name != "" {
		if t, ok := n.partitions.Topic(ref.Name); ok {
			return t, nil
		}
		return nil, ErrUnknownTopicOrPartition
	}
	t, ok := n.partitions.TopicByID(ref.ID)
	switch {
	case !ok:
		return nil, ErrUnknownTopicID
	case ref.Name != "" && ref.Name != t.Name:
		return nil, ErrInconsistentTopicID
	}
	return t, nil
}

// dataError turns what the rooms below answered into what callers may see. Damage on disk is logged here, where it is
// known who was asked; the caller is told that the storage failed.
func (n *Node) dataError(t *partition.Topic, index int32, err error) error {
	switch {
	case errors.Is(err, storage.ErrCorrupt):
		n.log.Error("log is damaged", "topic", t.Name, "partition", index, "err", err)
		return fmt.Errorf("%w: %w", ErrStorage, err)
	case errors.Is(err, partition.ErrUnknown):
		return ErrUnknownTopicOrPartition
	case errors.Is(err, storage.ErrClosed):
		return ErrNotLeader
	}
	return err
}

// leaderHint tells who leads a partition, where the error is one that a better address would avoid.
func (n *Node) leaderHint(topic string, index int32, err error) LeaderHint {
	if err == nil || !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrFencedLeaderEpoch) {
		return noLeader
	}
	mp, ok := n.Image().Partition(topic, index)
	if !ok {
		return noLeader
	}
	return LeaderHint{ID: mp.Leader, Epoch: mp.LeaderEpoch}
}
