package kafka

import "moldau/broker"

// chosen lists the partitions that a request names topic by topic. A null list of topics asks for all partitions and stays
// nil; an empty one asks for none.
func chosen[T any](topics []T, read func(T) (topic string, partitions []int32)) []broker.TopicPartition {
	if topics == nil {
		return nil
	}
	list := []broker.TopicPartition{}
	for _, t := range topics {
		topic, partitions := read(t)
		for _, p := range partitions {
			list = append(list, broker.TopicPartition{Topic: topic, Partition: p})
		}
	}
	return list
}
