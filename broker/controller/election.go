package controller

import (
	"slices"

	"moldau/broker/metadata"
)

// TopicPartition names one partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// find returns the partition of an image.
func (tp TopicPartition) find(img *metadata.Image) (*metadata.Partition, error) {
	if _, ok := img.Topic(tp.Topic); !ok {
		return nil, refuse(ErrUnknownTopicOrPartition, "No such topic as %s", clip(tp.Topic))
	}
	p, ok := img.Partition(tp.Topic, tp.Partition)
	if !ok {
		return nil, refuse(ErrUnknownTopicOrPartition, "No such partition as %s-%d", tp.Topic, tp.Partition)
	}
	return p, nil
}

// Election says how a leader may be chosen. The numbers are the protocol's.
type Election int8

// The kinds of elections.
const (
	PreferredElection Election = 0 // the first replica, when it is in sync
	UncleanElection   Election = 1 // for a partition without leader: any replica that is there, even one that lost records
)

// ElectLeader decides about an election that somebody asked for.
func ElectLeader(img *metadata.Image, kind Election, tp TopicPartition) (Plan, error) {
	p, err := tp.find(img)
	if err != nil {
		return nil, err
	}
	preferred := p.Leader == p.Replicas[0]
	if kind == PreferredElection && preferred || kind == UncleanElection && p.Leader != metadata.NoLeader {
		return nil, refuse(ErrElectionNotNeeded, "Leader election not needed for topic partition.")
	}
	next := partitionRecord(p)
	if kind == PreferredElection {
		if !mayLead(img, p.Replicas[0]) || !slices.Contains(p.ISR, p.Replicas[0]) {
			return nil, refuse(ErrPreferredLeaderNotAvailable, "The preferred leader was not available.")
		}
		next.Leader = p.Replicas[0]
	} else if !elect(img, &next, true) {
		return nil, refuse(ErrEligibleLeadersNotAvailable, "Eligible topic partition leaders are not available.")
	}
	next.LeaderEpoch++
	return Plan{changePartition(p, next)}, nil
}

// elect gives a partition a leader: the first usable replica in sync, then one that is eligible by KIP-966, and when
// unclean is true any usable replica, which then is the only one in sync. It reports whether there is one.
func elect(img *metadata.Image, r *metadata.PartitionRecord, unclean bool) bool {
	for _, pool := range [][]int32{r.ISR, r.ELR} {
		for _, id := range r.Replicas {
			if slices.Contains(pool, id) && mayLead(img, id) {
				r.Leader = id
				if !slices.Contains(r.ISR, id) {
					r.ISR = []int32{id}
					r.ELR = without(r.ELR, id)
				}
				return true
			}
		}
	}
	if !unclean {
		return false
	}
	for _, id := range r.Replicas {
		if mayLead(img, id) {
			r.Leader, r.ISR, r.ELR, r.LastKnownELR = id, []int32{id}, nil, nil
			return true
		}
	}
	return false
}

func mayLead(img *metadata.Image, id int32) bool {
	b, ok := img.Broker(id)
	return ok && usable(b)
}

// without returns a new list that lacks some ids.
func without(ids []int32, drop ...int32) []int32 {
	var rest []int32
	for _, id := range ids {
		if !slices.Contains(drop, id) {
			rest = append(rest, id)
		}
	}
	return rest
}

// partitionRecord is the record of a partition as an image shows it. Its lists are shared and must not be written to.
func partitionRecord(p *metadata.Partition) metadata.PartitionRecord {
	return metadata.PartitionRecord{
		Replicas: p.Replicas, ISR: p.ISR, Adding: p.Adding, Removing: p.Removing, ELR: p.ELR,
		LastKnownELR: p.LastKnownELR, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
	}
}

// changePartition puts a partition's record unless it has changed since the image.
func changePartition(p *metadata.Partition, next metadata.PartitionRecord) metadata.Txn {
	key := metadata.PartitionKey(p.Topic.ID, p.Index)
	return metadata.Txn{
		Cmps: []metadata.Cmp{metadata.ModifiedAt(key, p.ModRev)},
		Ops:  []metadata.Op{metadata.Put(key, metadata.Encode(&next))},
	}
}

// BumpLeaderEpochs decides that partitions go on in a new leader epoch under the same leader. A broker asks for it after
// recovery had to cut a log: records of the old epoch that somebody may have read are gone, and the new epoch lets readers
// find out (KIP-320). Partitions that are gone are left out. At most MaxOps partitions fit into the one transaction.
func BumpLeaderEpochs(img *metadata.Image, tps []TopicPartition) Plan {
	var txn metadata.Txn
	for _, tp := range tps {
		p, ok := img.Partition(tp.Topic, tp.Partition)
		if !ok {
			continue
		}
		next := partitionRecord(p)
		next.LeaderEpoch++
		change := changePartition(p, next)
		txn.Cmps, txn.Ops = append(txn.Cmps, change.Cmps...), append(txn.Ops, change.Ops...)
	}
	if len(txn.Ops) == 0 {
		return nil
	}
	return Plan{txn}
}
