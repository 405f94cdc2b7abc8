package controller

import (
	"slices"

	"moldau/broker/metadata"
)

// Plan is a list of transactions to be run in order. All but the first hold as long as nobody interferes with the object
// of the plan. An empty plan means that everything is already as it should be.
type Plan []metadata.Txn

// sinceFirst stands, in a compare, for the revision of the plan's first transaction, which nobody knows before it has run.
const sinceFirst metadata.Rev = -1

// step returns a transaction of the plan, given the revision of the first.
func (p Plan) step(i int, first metadata.Rev) metadata.Txn {
	txn := p[i]
	txn.Cmps = slices.Clone(txn.Cmps)
	for j := range txn.Cmps {
		if txn.Cmps[j].Rev == sinceFirst {
			txn.Cmps[j].Rev = first
		}
	}
	return txn
}

// chunked splits operations over transactions of at most MaxOps, each with the same compares.
func chunked(cmps []metadata.Cmp, ops []metadata.Op) Plan {
	var p Plan
	for len(ops) > 0 {
		n := min(len(ops), metadata.MaxOps)
		p = append(p, metadata.Txn{Cmps: cmps, Ops: ops[:n:n]})
		ops = ops[n:]
	}
	return p
}

// partitionOps puts partition records, beginning at index first.
func partitionOps(id metadata.TopicID, first int32, records []metadata.PartitionRecord) []metadata.Op {
	ops := make([]metadata.Op, len(records))
	for i := range records {
		ops[i] = metadata.Put(metadata.PartitionKey(id, first+int32(i)), metadata.Encode(&records[i]))
	}
	return ops
}

// topicRecord is the record of a topic as an image shows it.
func topicRecord(t *metadata.Topic) *metadata.TopicRecord {
	return &metadata.TopicRecord{
		Name: t.Name, Partitions: int32(len(t.Partitions)), Internal: t.Internal, Config: t.Config,
	}
}
