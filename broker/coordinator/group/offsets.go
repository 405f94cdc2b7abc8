package group

import "time"

// Offset is what a group committed for a partition.
type Offset struct {
	Offset      int64
	LeaderEpoch int32 // of the record before Offset; -1: not told
	Metadata    string
	TopicID     [16]byte // zero: not told

	committed time.Time
	expires   time.Time // set by clients before KIP-211; zero: the broker's retention holds
	seq       int64     // when it was replayed
}

// offsets are the committed offsets of a group, and those of transactions that are under way.
type offsets struct {
	committed map[string]map[int32]Offset
	pending   map[int64]map[topicPartition]Offset // by producer id
}

func (o *offsets) empty() bool { return len(o.committed) == 0 && len(o.pending) == 0 }

func (o *offsets) get(tp topicPartition) (Offset, bool) {
	v, ok := o.committed[tp.topic][tp.partition]
	return v, ok
}

func (o *offsets) put(tp topicPartition, v Offset) {
	if o.committed == nil {
		o.committed = make(map[string]map[int32]Offset)
	}
	partitions := o.committed[tp.topic]
	if partitions == nil {
		partitions = make(map[int32]Offset)
		o.committed[tp.topic] = partitions
	}
	partitions[tp.partition] = v
}

func (o *offsets) putPending(producer int64, tp topicPartition, v Offset) {
	if o.pending == nil {
		o.pending = make(map[int64]map[topicPartition]Offset)
	}
	if o.pending[producer] == nil {
		o.pending[producer] = make(map[topicPartition]Offset)
	}
	o.pending[producer][tp] = v
}

// remove forgets the offset of a partition, also what transactions under way have said of it: the deletion is younger.
func (o *offsets) remove(tp topicPartition) {
	for id, held := range o.pending {
		delete(held, tp)
		if len(held) == 0 {
			delete(o.pending, id)
		}
	}
	partitions := o.committed[tp.topic]
	delete(partitions, tp.partition)
	if len(partitions) == 0 {
		delete(o.committed, tp.topic)
	}
}

// end ends a transaction. What was committed outside of it since, stays.
func (o *offsets) end(producer int64, commit bool) {
	held := o.pending[producer]
	delete(o.pending, producer)
	if !commit {
		return
	}
	for tp, v := range held {
		if now, ok := o.get(tp); !ok || now.seq < v.seq {
			o.put(tp, v)
		}
	}
}

// unstable tells whether a transaction under way has an offset for a partition.
func (o *offsets) unstable(tp topicPartition) bool {
	for _, held := range o.pending {
		if _, ok := held[tp]; ok {
			return true
		}
	}
	return false
}
