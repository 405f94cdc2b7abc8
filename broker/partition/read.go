package partition

import (
	"moldau/broker/storage"
)

// ReadSpec says what to read.
type ReadSpec struct {
	Offset             int64
	CurrentLeaderEpoch int32 // what the reader takes for the leader epoch; -1 checks nothing
	LastFetchedEpoch   int32 // epoch of the record before Offset in the reader's log; -1 checks nothing
	MaxBytes           int
	WholeBatch         bool // the first batch is returned whole even above MaxBytes
	Horizon            Horizon
}

// Reading is what a read found.
type Reading struct {
	HighWatermark, LastStable, LogStart int64
	// Diverges says that the reader's log went another way: DivergingEpoch is the largest epoch the two can have in
	// common, and DivergingEnd where it ends here. Records is empty then.
	Diverges       bool
	DivergingEpoch int32
	DivergingEnd   int64
	// Records holds whole batches; the caller releases it.
	Records storage.Slice
	// Aborted names the transactions, by first offset, whose batches among Records a reader of committed transactions passes over. It is
	// filled for ToLastStable only.
	Aborted []storage.AbortedTxn
	// Mark is what the reader has seen of the partition, for Waiter.
	Mark Mark
}

// Read reads records of a partition that this replica leads. An offset between the horizon and the log end reads
// nothing; one outside of the log is ErrOffsetOutOfRange.
func (p *Partition) Read(spec ReadSpec) (Reading, error) {
	r, err := p.beginRead(spec)
	if err != nil {
		return r, err
	}
	r.LogStart = p.log.Start()
	if spec.LastFetchedEpoch >= 0 {
		epoch, end := p.log.EndOffsetForEpoch(spec.LastFetchedEpoch)
		if epoch < 0 || end < 0 {
			return r, storage.ErrOffsetOutOfRange
		}
		if epoch < spec.LastFetchedEpoch || end < spec.Offset {
			r.Diverges, r.DivergingEpoch, r.DivergingEnd = true, epoch, end
			return r, nil
		}
	}
	if spec.Offset < r.LogStart || spec.Offset > p.log.End() {
		return r, storage.ErrOffsetOutOfRange
	}
	if spec.Offset >= r.Mark.limit || spec.MaxBytes <= 0 && !spec.WholeBatch {
		return r, nil
	}
	r.Records, err = p.log.Read(spec.Offset, r.Mark.limit, spec.MaxBytes, spec.WholeBatch)
	if err != nil {
		return r, p.logError(err)
	}
	if spec.Horizon == ToLastStable && r.Records.Len() > 0 {
		if r.Aborted, err = p.log.Aborted(spec.Offset, r.Records.Next()); err != nil {
			r.Records.Release()
			return r, p.logError(err)
		}
	}
	return r, nil
}

// beginRead checks the reader's epoch and notes the bounds.
func (p *Partition) beginRead(spec ReadSpec) (Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.checkLeads(spec.CurrentLeaderEpoch); err != nil {
		return Reading{}, err
	}
	return Reading{HighWatermark: p.st.hw, LastStable: p.st.lastStable(), Mark: p.mark(spec.Horizon)}, nil
}

// checkLeads returns nil if this replica leads in the epoch that the caller takes for the current one. p.mu is held.
func (p *Partition) checkLeads(epoch int32) error {
	if p.closed != nil {
		return p.closed
	}
	if err := p.st.checkEpoch(epoch); err != nil {
		return err
	}
	if !p.st.leads() {
		return ErrNotLeader
	}
	return nil
}
