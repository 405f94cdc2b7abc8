package controller

import (
	"moldau/broker/metadata"
)

// TopicRef names a topic by name, or by id when ID is not zero.
type TopicRef struct {
	Name string
	ID   metadata.TopicID
}

// find returns the topic of an image.
func (r TopicRef) find(img *metadata.Image) (*metadata.Topic, error) {
	if !r.ID.IsZero() {
		if t, ok := img.TopicByID(r.ID); ok {
			return t, nil
		}
		return nil, refuse(ErrUnknownTopicID, "This server does not host this topic ID.")
	}
	if t, ok := img.Topic(r.Name); ok {
		return t, nil
	}
	return nil, refuse(ErrUnknownTopicOrPartition, "This server does not host this topic-partition.")
}

// epochFloorsMax is the number of deleted topic names whose leader epochs are remembered one by one. Past it the one that
// was written first is folded into the floor of all names, which costs nothing but higher first epochs.
const epochFloorsMax = 10_000

// DeleteTopic decides about the end of a topic. The first transaction of the plan makes it vanish and frees the name.
func DeleteTopic(img *metadata.Image, ref TopicRef) (Plan, *metadata.Topic, error) {
	t, err := ref.find(img)
	if err != nil {
		return nil, nil, err
	}
	first := metadata.Txn{
		Cmps: []metadata.Cmp{metadata.ModifiedAt(metadata.TopicKey(t.ID), t.ModRev)},
		Ops:  []metadata.Op{metadata.Delete(metadata.TopicNameKey(t.Name))},
	}
	rememberEpoch(img, t, &first)
	return deletion(img, t.ID, topicRecord(t), first), t, nil
}

// deletion adds the removal of a topic's records to a first transaction, and more transactions where one is not enough.
func deletion(img *metadata.Image, id metadata.TopicID, topic *metadata.TopicRecord, first metadata.Txn) Plan {
	key, n := metadata.TopicKey(id), img.PartitionRecords(id)
	if n <= metadata.MaxPrefixKeys {
		first.Ops = append(first.Ops, metadata.Delete(key), metadata.DeletePrefix(metadata.PartitionsPrefix(id)))
		return Plan{first}
	}
	topic.State = metadata.TopicDeleting
	first.Ops = append(first.Ops, metadata.Put(key, metadata.Encode(topic)))
	p := Plan{first}
	for thousand := range (n + 999) / 1000 {
		p = append(p, metadata.Txn{Ops: []metadata.Op{metadata.DeletePrefix(metadata.PartitionsThousandPrefix(id, thousand))}})
	}
	return append(p, metadata.Txn{Ops: []metadata.Op{metadata.Delete(key)}})
}

// rememberEpoch keeps the leader epochs of a topic's name from going back when a topic of that name is created again.
// Partitions may change between the image and the deletion, but a leader epoch grows by one at a time, and the floor lies
// one above the highest.
func rememberEpoch(img *metadata.Image, t *metadata.Topic, txn *metadata.Txn) {
	floor, ownRev, allRev := img.EpochFloor(t.Name)
	for _, p := range t.Partitions {
		floor = max(floor, p.LeaderEpoch+1)
	}
	own := metadata.EpochFloorKey(t.Name)
	txn.Cmps = append(txn.Cmps, metadata.ModifiedAt(own, ownRev))
	txn.Ops = append(txn.Ops, metadata.Put(own, metadata.Encode(&metadata.EpochFloorRecord{LeaderEpoch: floor})))
	if ownRev != 0 || img.EpochFloorCount() < epochFloorsMax {
		return
	}
	name, epoch, rev, ok := img.OldestEpochFloor()
	if !ok {
		return
	}
	all, oldest := metadata.EpochFloorAllKey(), metadata.EpochFloorKey(name)
	txn.Cmps = append(txn.Cmps, metadata.ModifiedAt(oldest, rev), metadata.ModifiedAt(all, allRev))
	txn.Ops = append(txn.Ops, metadata.Delete(oldest),
		metadata.Put(all, metadata.Encode(&metadata.EpochFloorRecord{LeaderEpoch: epoch})))
}

// FinishTopic decides about a topic that a crash has left half created, half deleted or half grown: the first two are
// deleted, and the last loses the partitions that were never shown, at most 127 of them in one plan. The topic's record is
// put anew each time, so that a growth that is still under way after all fails.
func FinishTopic(img *metadata.Image, u metadata.Unfinished) Plan {
	key := metadata.TopicKey(u.ID)
	first := metadata.Txn{Cmps: []metadata.Cmp{metadata.ModifiedAt(key, u.ModRev)}}
	if t, ok := img.TopicByID(u.ID); ok {
		first.Ops = append(first.Ops, metadata.Put(key, metadata.Encode(topicRecord(t))))
		for i := max(u.Partitions, u.Records-(metadata.MaxOps-1)); i < u.Records; i++ {
			first.Ops = append(first.Ops, metadata.Delete(metadata.PartitionKey(u.ID, i)))
		}
		return Plan{first}
	}
	if id, _, ok := img.NameClaim(u.Name); ok && id == u.ID {
		first.Ops = append(first.Ops, metadata.Delete(metadata.TopicNameKey(u.Name)))
	}
	return deletion(img, u.ID, &metadata.TopicRecord{Name: u.Name, Partitions: u.Partitions}, first)
}
