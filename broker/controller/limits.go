package controller

import "moldau/broker/metadata"

// Limits bound what a request may create, and hold the defaults of what it leaves open.
type Limits struct {
	DefaultPartitions        int32 // num.partitions
	DefaultReplicationFactor int16 // default.replication.factor
	PartitionsPerRequestMax  int   // 0: no limit
	ReplicasPerBrokerMax     int   // 0: no limit
}

// Pending counts replicas per broker that are being created and are not in the image yet. Nil is empty.
type Pending map[int32]int

// add counts the replicas of new partitions.
func (p Pending) add(partitions [][]int32) {
	for _, replicas := range partitions {
		for _, id := range replicas {
			p[id]++
		}
	}
}

// DefaultLimits returns Kafka's defaults and this broker's bounds.
func DefaultLimits() Limits {
	return Limits{DefaultPartitions: 1, DefaultReplicationFactor: 1, PartitionsPerRequestMax: 2000, ReplicasPerBrokerMax: 20000}
}

// checkRequest refuses a request that creates too many partitions.
func (l Limits) checkRequest(partitions int) error {
	if l.PartitionsPerRequestMax > 0 && partitions > l.PartitionsPerRequestMax {
		return refuse(ErrPolicyViolation, "Excessively large number of partitions per request.")
	}
	return nil
}

// checkBrokers refuses new partitions that would give a broker too many replicas.
func (l Limits) checkBrokers(img *metadata.Image, pending Pending, records []metadata.PartitionRecord) error {
	if l.ReplicasPerBrokerMax <= 0 {
		return nil
	}
	fresh := Pending{}
	fresh.add(replicaLists(records))
	for id, n := range fresh {
		if have := img.ReplicaCount(id) + pending[id]; have+n > l.ReplicasPerBrokerMax {
			return refuse(ErrPolicyViolation, "Broker %d has %d partition replicas, and %d more would be over its limit of %d.",
				id, have, n, l.ReplicasPerBrokerMax)
		}
	}
	return nil
}

// replicaLists are the replicas of each partition.
func replicaLists(records []metadata.PartitionRecord) [][]int32 {
	lists := make([][]int32, len(records))
	for i, r := range records {
		lists[i] = r.Replicas
	}
	return lists
}
