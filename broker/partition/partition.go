package partition

import (
	"errors"
	"fmt"
	"sync"

	"moldau/broker/configdef"
	"moldau/broker/metadata"
	"moldau/broker/storage"
)

// Partition is the replica of one partition on this node: its log, and its place among the replicas. All methods may be
// called from any goroutine.
type Partition struct {
	topic *Topic
	index int32
	log   *storage.Log

	mu sync.Mutex // around memory only; Waiter.mu is taken below it, nothing else
	st state
	// tenure numbers the reigns of this replica: it grows when a reign ends. lastTenure and lastHW tell how far the
	// reign before was committed.
	tenure, lastTenure uint64
	lastHW             int64
	closed             error         // set when the partition is deleted or the node stops
	changed            chan struct{} // closed when a waiting produce should look again; nil while none waits
	watches            *watch        // readers that wait
	endWatches         int           // how many of them wait for the log end
	changing           bool          // a new leader epoch is being noted in the log: no appends
	appending          int           // appends between their check and their end
	drained            chan struct{} // closed when appending falls to 0; nil while nobody waits for it
}

// newPartition joins a log with a state. The high watermark begins where it was last saved.
func newPartition(t *Topic, index int32, l *storage.Log, self int32, strict bool) *Partition {
	p := &Partition{
		topic: t, index: index, log: l, tenure: 1,
		st: newState(self, strict, l.Start(), l.End(), l.FlushedEnd(), l.HighWatermarkCheckpoint()),
	}
	p.st.settle(l.FirstUnstable(p.st.hw))
	return p
}

// newBroken stands for a replica whose log could not be opened: it answers everything with err.
func newBroken(t *Topic, index int32, err error) *Partition {
	return &Partition{topic: t, index: index, st: newState(-1, false, 0, 0, 0, 0), closed: err}
}

// Topic returns what the partitions of the topic share.
func (p *Partition) Topic() *Topic { return p.topic }

// Index returns the number of the partition in its topic.
func (p *Partition) Index() int32 { return p.index }

// Log returns the partition's log, or nil if it could not be opened. Append through the partition only.
func (p *Partition) Log() *storage.Log { return p.log }

// Status is a partition as it stands at one moment.
type Status struct {
	Err                       error // why the replica serves nothing, or nil
	Leads                     bool
	Leader, LeaderEpoch       int32
	LogStart, LogEnd          int64
	HighWatermark, LastStable int64
	InSync, Replicas          int
	UnderMinISR, AtMinISR     bool
}

// Status returns how the partition stands.
func (p *Partition) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Status{
		Err: p.closed, Leads: p.closed == nil && p.st.leads(), Leader: p.st.leader, LeaderEpoch: p.st.epoch,
		LogStart: p.st.logStart, LogEnd: p.st.logEnd, HighWatermark: p.st.hw, LastStable: p.st.lastStable(),
		InSync: len(p.st.isr), Replicas: len(p.st.replicas), UnderMinISR: p.st.underMinISR(), AtMinISR: p.st.atMinISR(),
	}
}

// HighWatermark returns the first offset that is not committed.
func (p *Partition) HighWatermark() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.st.hw
}

// assign takes over what the metadata says about the partition. A new leader epoch is noted in the log before anything
// is appended in it, and after the last append of the epoch before has ended. It is called by the manager only, for one
// partition never twice at a time. The role is taken over even with an error: that the epoch could not be noted is then
// tried again by the first append.
func (p *Partition) assign(m *metadata.Partition) error {
	a := assignment{
		leader: m.Leader, epoch: m.LeaderEpoch, partitionEpoch: m.PartitionEpoch, replicas: m.Replicas, isr: m.ISR,
	}
	var err error
	if newEpoch := p.beginChange(a); newEpoch {
		p.awaitAppends()
		if a.leader == p.st.self {
			err = p.log.AssignEpoch(a.epoch, p.log.End())
		}
	}
	p.endChange(a)
	if err != nil {
		return fmt.Errorf("begin leader epoch %d of %s-%d: %w", a.epoch, p.topic.Name, p.index, err)
	}
	return nil
}

// endChange takes over the role and lets appends in again.
func (p *Partition) endChange(a assignment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changing = false
	p.st.appended(p.log.End())
	hw := p.st.hw
	_, ceased := p.st.assign(a)
	if ceased {
		p.endReign(hw)
	}
	if ceased || p.st.hw != hw {
		p.moved()
	}
}

// beginChange keeps new appends out if a is a new leader epoch, and returns whether it is.
func (p *Partition) beginChange(a assignment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changing = a.epoch > p.st.epoch
	return p.changing
}

// awaitAppends returns when no append is under way. New ones must be kept out.
func (p *Partition) awaitAppends() {
	p.mu.Lock()
	if p.appending == 0 {
		p.mu.Unlock()
		return
	}
	drained := make(chan struct{})
	p.drained = drained
	p.mu.Unlock()
	<-drained
}

// endReign notes how far the reign that ends was committed. p.mu is held.
func (p *Partition) endReign(hw int64) {
	p.lastTenure, p.lastHW = p.tenure, hw
	p.tenure++
}

// close ends all waits with err and refuses everything from now on. It returns after the last append has ended.
func (p *Partition) close(err error) {
	p.mu.Lock()
	p.end(err)
	p.mu.Unlock()
	p.awaitAppends()
}

// Flushed notes that the log is on disk up to end. It is called by the flusher and does not block.
func (p *Partition) Flushed(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.st.flushedTo(end) {
		p.moved()
	}
}

// Failed notes that the log's directory went offline: nothing will be committed or appended any more. It is called by
// the flusher and does not block.
func (p *Partition) Failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(err)
}

// end makes err the answer to everything from now on. p.mu is held.
func (p *Partition) end(err error) {
	if p.closed == nil {
		p.closed = err
		p.endReign(p.st.hw)
		p.wakeAll()
	}
}

// configure takes over the topic's configuration.
func (p *Partition) configure(c *configdef.Topic) {
	if p.log == nil {
		return
	}
	p.log.SetConfig(c.Log)
	p.mu.Lock()
	defer p.mu.Unlock()
	inSync, flushed := p.st.setMinISR(c.MinInSyncReplicas), p.st.setFlushEvery(c.Log.FlushMessages)
	if inSync || flushed {
		p.moved()
	}
}

// noteStart takes over the log's first offset after records were removed.
func (p *Partition) noteStart() {
	start := p.log.Start()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.st.startAt(start) {
		p.moved()
	}
}

// moved tells the log and all who wait that the high watermark is another one. p.mu is held.
func (p *Partition) moved() {
	p.log.SetHighWatermark(p.st.hw)
	p.st.settle(p.log.FirstUnstable(p.st.hw))
	p.wakeAll()
}

// logError makes the log's refusal after its end the partition's own.
func (p *Partition) logError(err error) error {
	if !errors.Is(err, storage.ErrClosed) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return p.closed
	}
	return err
}
