package broker

import (
	"slices"

	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// DescribedCluster is the cluster as a client may see it.
type DescribedCluster struct {
	ClusterID string
	// ControllerID is the broker to send changes to, -1 if there is none.
	ControllerID int32
	// Brokers are sorted by id.
	Brokers []*metadata.Broker
}

// DescribeCluster returns the brokers of the cluster; fenced ones only when they are asked for.
func (n *Node) DescribeCluster(_ *Caller, withFenced bool) DescribedCluster {
	img := n.Image()
	brokers := slices.DeleteFunc(slices.Clone(img.Brokers()), func(b *metadata.Broker) bool { return b.Fenced && !withFenced })
	return DescribedCluster{
		ClusterID: string(img.ClusterID()), ControllerID: n.cfg.NodeID, Brokers: brokers,
	}
}

// PartitionCursor is a place in the partitions of all topics, by topic name and number.
type PartitionCursor struct {
	Topic     string
	Partition int32
}

// DescribedTopic is a topic with some of its partitions.
type DescribedTopic struct {
	Name string
	// Err is set for names that aren't there or can't be; the rest is then zero.
	Err        error
	ID         metadata.TopicID
	Internal   bool
	Partitions []*metadata.Partition
}

// DescribeTopicPartitions returns the partitions of the named topics, or of all topics for no names, by topic name and
// number, beginning at the cursor and not more than limit. next is where to go on, nil at the end.
func (n *Node) DescribeTopicPartitions(_ *Caller, names []string, from *PartitionCursor, limit int) (topics []DescribedTopic, next *PartitionCursor) {
	img := n.Image()
	if len(names) == 0 {
		for t := range img.Topics() {
			names = append(names, t.Name)
		}
	} else {
		names = slices.Compact(slices.Sorted(slices.Values(names)))
	}
	for _, name := range names {
		first := 0
		if from != nil {
			if name < from.Topic {
				continue
			}
			if name == from.Topic {
				first = int(from.Partition)
			}
		}
		if limit <= 0 {
			return topics, &PartitionCursor{Topic: name, Partition: int32(first)}
		}
		d := describeTopic(img, name)
		if d.Err == nil {
			all := d.Partitions
			d.Partitions = all[min(first, len(all)):min(first+limit, len(all))]
			if end := first + limit; end < len(all) {
				return append(topics, d), &PartitionCursor{Topic: name, Partition: int32(end)}
			}
			limit -= len(d.Partitions)
		}
		topics = append(topics, d)
	}
	return topics, nil
}

func describeTopic(img *metadata.Image, name string) DescribedTopic {
	d := DescribedTopic{Name: name}
	t, ok := img.Topic(name)
	if !ok {
		if d.Err = controllerError(controller.ValidateTopicName(name)); d.Err == nil {
			d.Err = unknownTopic()
		}
		return d
	}
	d.ID, d.Internal, d.Partitions = t.ID, t.Internal, t.Partitions
	return d
}
