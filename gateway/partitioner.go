package gateway

import "github.com/twmb/franz-go/pkg/kgo"

// AnyPartition as the partition of a record leaves the choice to its key.
const AnyPartition = -1

// partitioner puts records where they say, and the others where Kafka's own clients put them: by murmur2 of the key,
// or, without a key, in a partition that changes with each batch.
type partitioner struct{ byKey kgo.Partitioner }

func newPartitioner() kgo.Partitioner { return partitioner{kgo.StickyKeyPartitioner(nil)} }

// ForTopic implements kgo.Partitioner.
func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return topicPartitioner{p.byKey.ForTopic(topic)}
}

type topicPartitioner struct{ byKey kgo.TopicPartitioner }

// RequiresConsistency implements kgo.TopicPartitioner: a record that names its partition counts all of them.
func (p topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition >= 0 || p.byKey.RequiresConsistency(r)
}

// Partition implements kgo.TopicPartitioner.
func (p topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return int(r.Partition)
	}
	return p.byKey.Partition(r, n)
}

// OnNewBatch implements kgo.TopicPartitionerOnNewBatch.
func (p topicPartitioner) OnNewBatch() {
	if next, ok := p.byKey.(kgo.TopicPartitionerOnNewBatch); ok {
		next.OnNewBatch()
	}
}
