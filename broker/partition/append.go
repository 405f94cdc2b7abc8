package partition

import (
	"moldau/broker/storage"
)

// AcksAll is the acks value of producers that wait until all in-sync replicas have their records.
const AcksAll int16 = -1

// Appended tells where records went.
type Appended struct {
	storage.AppendInfo
	// Commit is done when the records are committed.
	Commit Commit
}

// Append writes validated batches to the log as the leader. It does not wait for them to be committed. The bytes are
// changed in place and not kept. A batch that an idempotent producer sends again is answered with the offsets of the
// first time, and with a Commit that is done when that one is committed.
func (p *Partition) Append(b []byte, acks int16, origin storage.AppendOrigin) (Appended, error) {
	epoch, tenure, err := p.beginAppend(acks)
	if err != nil {
		return Appended{}, err
	}
	info, err := p.log.Append(b, epoch, origin)
	p.endAppend(info.End, err == nil)
	if err != nil {
		return Appended{}, p.logError(err)
	}
	return Appended{AppendInfo: info, Commit: Commit{p: p, end: info.End, tenure: tenure}}, nil
}

// beginAppend checks that this replica may append, and notes that it is about to.
func (p *Partition) beginAppend(acks int16) (epoch int32, tenure uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed != nil:
		return 0, 0, p.closed
	case !p.st.leads() || p.changing:
		return 0, 0, ErrNotLeader
	case acks == AcksAll && p.st.underMinISR():
		return 0, 0, ErrNotEnoughReplicas
	}
	p.appending++
	return p.st.epoch, p.tenure, nil
}

// endAppend moves the log end along, and with it, under relaxed durability, the high watermark.
func (p *Partition) endAppend(end int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.appending--
	if p.appending == 0 && p.drained != nil {
		close(p.drained)
		p.drained = nil
	}
	if !ok {
		return
	}
	if p.st.appended(end) {
		p.moved()
	} else if p.endWatches > 0 {
		p.wakeReaders()
	}
}
