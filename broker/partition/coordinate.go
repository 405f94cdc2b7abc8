package partition

import "moldau/broker/storage"

// AppendIn appends as Append does with acks=all, but only while this replica leads in the given epoch: ErrFencedLeaderEpoch
// and ErrUnknownLeaderEpoch otherwise. Coordinators use it, whose state was read in that epoch and is worth nothing in
// another (KAFKA-20634).
func (p *Partition) AppendIn(b []byte, epoch int32, origin storage.AppendOrigin) (Appended, error) {
	current, tenure, err := p.beginAppend(AcksAll)
	if err != nil {
		return Appended{}, err
	}
	if current != epoch {
		p.endAppend(0, false)
		if current > epoch {
			return Appended{}, ErrFencedLeaderEpoch
		}
		return Appended{}, ErrUnknownLeaderEpoch
	}
	info, err := p.log.Append(b, epoch, origin)
	p.endAppend(info.End, err == nil)
	if err != nil {
		return Appended{}, p.logError(err)
	}
	return Appended{AppendInfo: info, Commit: Commit{p: p, end: info.End, tenure: tenure}}, nil
}

// CommitOf returns a Commit that is done once everything below an offset is committed.
func (p *Partition) CommitOf(end int64) Commit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Commit{p: p, end: end, tenure: p.tenure}
}
