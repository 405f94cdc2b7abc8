package partition

import (
	"moldau/broker/record"
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
	return p.appendBy(acks, func(epoch int32) (storage.AppendInfo, error) { return p.log.Append(b, epoch, origin) })
}

// BeginVerification prepares for the first batch of a producer's transaction: unless the answer is that none is needed, the transaction
// coordinator must confirm that the transaction has this partition before AppendVerified.
func (p *Partition) BeginVerification(producerID int64, epoch int16, sequence int32) (guard storage.Guard, needed bool, err error) {
	if err := p.lead(-1); err != nil {
		return storage.NoGuard, false, err
	}
	guard, needed = p.log.BeginVerification(producerID, epoch, sequence)
	return guard, needed, nil
}

// AppendVerified appends a client's transactional batch after the transaction coordinator has confirmed it.
func (p *Partition) AppendVerified(b []byte, acks int16, guard storage.Guard) (Appended, error) {
	return p.appendBy(acks, func(epoch int32) (storage.AppendInfo, error) { return p.log.AppendVerified(b, epoch, guard) })
}

// MayAppend tells what Append would say at this moment of a client's batch that belongs to no transaction: nil where it would take the
// batch or find it a duplicate. It is for callers that have something to do before they append.
func (p *Partition) MayAppend(b record.Batch, acks int16) error {
	p.mu.Lock()
	err := p.checkAppends(acks)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if err := p.log.CheckProducer(b); err != nil {
		return p.logError(err)
	}
	return nil
}

// AppendMarker appends the marker that ends a producer's transaction, which follows a version of the protocol.
func (p *Partition) AppendMarker(b []byte, version int16) (Appended, error) {
	return p.appendBy(AcksAll, func(epoch int32) (storage.AppendInfo, error) { return p.log.AppendMarker(b, epoch, version) })
}

// appendBy has add append to the log as the leader in an epoch.
func (p *Partition) appendBy(acks int16, add func(epoch int32) (storage.AppendInfo, error)) (Appended, error) {
	epoch, tenure, err := p.beginAppend(acks)
	if err != nil {
		return Appended{}, err
	}
	info, err := add(epoch)
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
	if err := p.checkAppends(acks); err != nil {
		return 0, 0, err
	}
	p.appending++
	return p.st.epoch, p.tenure, nil
}

// checkAppends checks that this replica may append. The caller holds mu.
func (p *Partition) checkAppends(acks int16) error {
	switch {
	case p.closed != nil:
		return p.closed
	case !p.st.leads() || p.changing:
		return ErrNotLeader
	case acks == AcksAll && p.st.underMinISR():
		return ErrNotEnoughReplicas
	}
	return nil
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
