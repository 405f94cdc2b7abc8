package metadata

import (
	"fmt"
	"strconv"
	"strings"
)

// Prefixes of the keys that this package understands. docs/format/metadata.md describes every key and value.
const (
	clusterKey     = "cluster"
	namesPrefix    = "topics/"
	topicPrefix    = "topic/"
	partPrefix     = "part/"
	brokersPrefix  = "brokers/"
	statePrefix    = "state/"
	configPrefix   = "cfg/"
	floorPrefix    = "epoch/"
	floorAllKey    = "epochs"
	producerIDsKey = "pid/next"
)

// ClusterKey holds the identity of the cluster.
func ClusterKey() string { return clusterKey }

// TopicNameKey is the claim on a topic name. Names that differ only in dots and underscores share one key, because Kafka
// lets only one of them exist; so a compare on this one key settles both races.
func TopicNameKey(name string) string { return namesPrefix + CollisionForm(name) }

// CollisionForm is the form in which topic names collide: metric names know no difference between a dot and an underscore.
func CollisionForm(name string) string { return strings.ReplaceAll(name, ".", "_") }

// TopicKey holds a topic's record.
func TopicKey(id TopicID) string { return topicPrefix + id.String() }

// PartitionKey holds a partition's record. The index has ten digits, so that keys sort as numbers do.
func PartitionKey(id TopicID, index int32) string {
	return fmt.Sprintf("%s%s/%010d", partPrefix, id, index)
}

// PartitionsPrefix begins the keys of all partitions of a topic.
func PartitionsPrefix(id TopicID) string { return partPrefix + id.String() + "/" }

// PartitionsThousandPrefix begins the keys of the partitions 1000*n to 1000*n+999 of a topic.
func PartitionsThousandPrefix(id TopicID, n int32) string {
	return fmt.Sprintf("%s%s/%07d", partPrefix, id, n)
}

// BrokerKey is a broker's registration, tied to its session. Its create revision is the broker epoch.
func BrokerKey(id int32) string { return brokersPrefix + strconv.Itoa(int(id)) }

// BrokerStateKey is what the controller has decided about a broker.
func BrokerStateKey(id int32) string { return statePrefix + strconv.Itoa(int(id)) }

// ConfigKey holds the dynamic configuration of a resource other than a topic, whose configuration is in its record.
func ConfigKey(r Resource) string { return configPrefix + r.Type.String() + "/" + r.Name }

// EpochFloorKey remembers the leader epoch below which a topic of this name must not begin again.
func EpochFloorKey(name string) string { return floorPrefix + name }

// EpochFloorAllKey is the floor for names that have no floor of their own any more.
func EpochFloorAllKey() string { return floorAllKey }

// ProducerIDsKey holds the first producer id that is not yet given out.
func ProducerIDsKey() string { return producerIDsKey }

// parsePartitionKey reads the part of a partition key behind its prefix.
func parsePartitionKey(rest string) (TopicID, int32, error) {
	idText, indexText, ok := strings.Cut(rest, "/")
	if !ok {
		return TopicID{}, 0, fmt.Errorf("%w: partition key %q", ErrCorrupt, rest)
	}
	id, err := ParseTopicID(idText)
	if err != nil {
		return TopicID{}, 0, err
	}
	index, err := strconv.ParseInt(indexText, 10, 32)
	if err != nil || index < 0 {
		return TopicID{}, 0, fmt.Errorf("%w: partition key %q", ErrCorrupt, rest)
	}
	return id, int32(index), nil
}

// parseBrokerID reads the part of a broker key behind its prefix.
func parseBrokerID(rest string) (int32, error) {
	id, err := strconv.ParseInt(rest, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: broker key %q", ErrCorrupt, rest)
	}
	return int32(id), nil
}
