package controller

import (
	"slices"

	"moldau/broker/metadata"
)

// checkAssignment refuses a replica list that cannot be used. A factor of 0 is not compared.
func checkAssignment(img *metadata.Image, replicas []int32, factor int) error {
	if len(replicas) == 0 {
		return refuse(ErrInvalidReplicaAssignment, "The manual partition assignment includes an empty replica list.")
	}
	sorted := slices.Sorted(slices.Values(replicas))
	for i, id := range sorted {
		if _, ok := img.Broker(id); !ok {
			return refuse(ErrInvalidReplicaAssignment, "The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
		if i > 0 && sorted[i-1] == id {
			return refuse(ErrInvalidReplicaAssignment, "The manual partition assignment includes the broker %d more than once.", id)
		}
	}
	if factor > 0 && len(replicas) != factor {
		return refuse(ErrInvalidReplicaAssignment, "The manual partition assignment includes a partition with %d replica(s), but this is not consistent with previous partitions, which have %d replica(s).", len(replicas), factor)
	}
	return nil
}

// assigned turns checked replica lists into partition records.
func assigned(img *metadata.Image, first int32, lists [][]int32, leaderEpoch int32) ([]metadata.PartitionRecord, error) {
	records := make([]metadata.PartitionRecord, len(lists))
	for i, replicas := range lists {
		records[i] = newPartition(img, replicas, leaderEpoch)
		if records[i].Leader == metadata.NoLeader {
			return nil, refuse(ErrInvalidReplicaAssignment, "All brokers specified in the manual partition assignment for partition %d are fenced or in controlled shutdown.", first+int32(i))
		}
	}
	return records, nil
}

// placed lets the placer choose.
func placed(img *metadata.Image, n, factor int, seed uint64, leaderEpoch int32) ([]metadata.PartitionRecord, error) {
	p := newPlacer(img.Brokers(), seed)
	if err := p.check(factor); err != nil {
		return nil, err
	}
	records := make([]metadata.PartitionRecord, n)
	for i := range records {
		records[i] = newPartition(img, p.place(factor), leaderEpoch)
	}
	return records, nil
}
