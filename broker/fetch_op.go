package broker

import (
	"context"
	"sync"
	"time"

	"moldau/broker/partition"
)

// FetchOp is a fetch under way. It belongs to one goroutine at a time, and ends with Release.
type FetchOp struct {
	node    *Node
	req     *FetchRequest
	began   time.Time
	horizon partition.Horizon
	answers []FetchedPartition
	sources []source
	bytes   int  // sum of the lengths of all records
	final   bool // there is nothing to wait for
	waiter  *partition.Waiter
}

// source is where the records of one partition of the request come from.
type source struct {
	p    *partition.Partition // nil when there is none to read
	mark partition.Mark       // what has been seen of it
}

var fetchOps = sync.Pool{New: func() any { return new(FetchOp) }}

// Fetch reads what is there. The operation is Done when there are enough bytes, an error, or nothing to wait for;
// otherwise the caller waits. Release must be called in every case, and the request stay unchanged until then.
func (n *Node) Fetch(c *Caller, req *FetchRequest) *FetchOp {
	o := fetchOps.Get().(*FetchOp)
	o.node, o.req, o.began, o.horizon = n, req, time.Now(), fetchHorizon(req.ReplicaID, req.IsolationLevel)
	size := len(req.Partitions)
	if cap(o.answers) < size {
		o.answers, o.sources = make([]FetchedPartition, size), make([]source, size)
	}
	o.answers, o.sources = o.answers[:size], o.sources[:size]
	o.final = size == 0 || req.MaxWait <= 0
	for i := range size {
		o.read(i)
	}
	o.final = o.final || o.bytes >= req.MinBytes
	return o
}

// fetchHorizon returns up to where a Fetch may read: negative replica ids are all consumers.
func fetchHorizon(replica int32, isolation int8) partition.Horizon {
	return horizonOf(max(replica, consumerReplica) == consumerReplica, isolation)
}

// horizonOf returns up to where a reader may read.
func horizonOf(consumer bool, isolation int8) partition.Horizon {
	switch {
	case !consumer:
		return partition.ToLogEnd
	case isolation == ReadCommitted:
		return partition.ToLastStable
	default:
		return partition.ToHighWatermark
	}
}

// consumerReplica is the replica id of requests that do not come from a replica.
const consumerReplica int32 = -1

// read reads one partition, anew if it was read before. The partition that is the first to have records gets its first
// batch whole, whatever the limits (KIP-74).
func (o *FetchOp) read(i int) {
	want, answer, src := &o.req.Partitions[i], &o.answers[i], &o.sources[i]
	o.bytes -= answer.Records.Len()
	answer.Records.Release()
	*answer = FetchedPartition{
		HighWatermark: -1, LastStableOffset: -1, LogStartOffset: -1,
		Diverging: EpochEnd{Epoch: -1, EndOffset: -1}, PreferredReadReplica: -1, Leader: noLeader,
	}
	t, p, err := o.node.find(want.Topic, want.Partition)
	if err == nil && o.req.ReplicaID >= 0 {
		err = ErrNotLeader // no other replica is assigned to a partition of this node
	}
	var r partition.Reading
	if err == nil {
		src.p = p
		r, err = p.Read(partition.ReadSpec{
			Offset: want.FetchOffset, CurrentLeaderEpoch: want.CurrentLeaderEpoch, LastFetchedEpoch: want.LastFetchedEpoch,
			MaxBytes: min(want.MaxBytes, o.budget()), WholeBatch: o.bytes == 0, Horizon: o.horizon,
		})
		src.mark = r.Mark
	}
	if err != nil {
		o.fail(answer, t, want.Partition, err)
		return
	}
	answer.HighWatermark, answer.LastStableOffset, answer.LogStartOffset = r.HighWatermark, r.LastStable, r.LogStart
	answer.Records, answer.Aborted = r.Records, r.Aborted
	o.bytes += r.Records.Len()
	if r.Diverges {
		answer.Diverging = EpochEnd{Epoch: r.DivergingEpoch, EndOffset: r.DivergingEnd}
		o.final = true
	}
}

// budget is how many bytes may still be read.
func (o *FetchOp) budget() int {
	return max(0, min(o.req.MaxBytes, o.node.cfg.FetchMaxBytes)-o.bytes)
}

// fail makes the answer of a partition that cannot be read. It ends the waiting: the caller has to act.
func (o *FetchOp) fail(answer *FetchedPartition, t *partition.Topic, index int32, err error) {
	o.final = true
	answer.Err = err
	if t == nil {
		return
	}
	answer.Err = o.node.dataError(t, index, err)
	answer.Leader = o.node.leaderHint(t.Name, index, answer.Err)
}

// Done tells whether the answer is final.
func (o *FetchOp) Done() bool { return o.final }

// Wait parks until there are MinBytes, MaxWait is over (counted from Fetch), something about a partition changed that the
// caller must know, or ctx ends. Whatever ended it, Partitions holds the answer.
func (o *FetchOp) Wait(ctx context.Context) {
	if o.final {
		return
	}
	o.watch()
	timer := time.NewTimer(o.req.MaxWait - time.Since(o.began))
	defer timer.Stop()
	for !o.final {
		select {
		case <-o.waiter.C():
			o.readChanged()
		case <-timer.C:
			o.final = true
		case <-ctx.Done():
			o.final = true
		}
	}
	o.waiter.Close()
	o.waiter = nil
}

// watch asks to be woken when there is more to read in any of the partitions.
func (o *FetchOp) watch() {
	o.waiter = partition.NewWaiter(len(o.sources))
	for i := range o.sources {
		if src := &o.sources[i]; src.p != nil {
			o.waiter.Watch(i, src.p, o.horizon, src.mark)
		}
	}
}

// readChanged reads the partitions again that have changed since they were read.
func (o *FetchOp) readChanged() {
	for _, i := range o.waiter.Changed() {
		o.read(int(i))
		o.waiter.Seen(int(i), o.sources[i].mark)
	}
	o.final = o.final || o.bytes >= o.req.MinBytes
}

// Partitions returns the answers, in the order of the request's partitions, one for each. They are valid until Release.
func (o *FetchOp) Partitions() []FetchedPartition { return o.answers }

// Bytes returns the sum of the lengths of all Records.
func (o *FetchOp) Bytes() int { return o.bytes }

// Release ends the operation and gives back all Records. It must be called exactly once, and nothing of the operation be
// used afterwards.
func (o *FetchOp) Release() {
	for i := range o.answers {
		o.answers[i].Records.Release()
	}
	clear(o.answers)
	clear(o.sources)
	*o = FetchOp{answers: o.answers[:0], sources: o.sources[:0]}
	fetchOps.Put(o)
}
