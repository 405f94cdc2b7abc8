package partition

import (
	"moldau/broker/storage"
)

// Found is an offset with the leader epoch and the timestamp of its record; -1 stands for what isn't known.
type Found struct {
	Offset, Timestamp int64
	LeaderEpoch       int32
}

// notFound is the answer when no record fits.
var notFound = Found{Offset: -1, Timestamp: -1, LeaderEpoch: -1}

// Latest returns the horizon: the offset that the next record beyond it will have. Consumers are told
// ErrOffsetNotAvailable while the high watermark lies below the start of the leader's epoch, so that they don't see it
// move back.
func (p *Partition) Latest(currentEpoch int32, h Horizon) (Found, error) {
	limit, epoch, err := p.bound(currentEpoch, h)
	if err != nil {
		return notFound, err
	}
	return Found{Offset: limit, Timestamp: -1, LeaderEpoch: epoch}, nil
}

// Earliest returns the first offset.
func (p *Partition) Earliest(currentEpoch int32) (Found, error) {
	if err := p.lead(currentEpoch); err != nil {
		return notFound, err
	}
	start := p.log.Start()
	return Found{Offset: start, Timestamp: -1, LeaderEpoch: p.epochAt(start)}, nil
}

// Tiered returns no offset: this replica has nothing in tiered storage, and nothing waits to be moved there.
func (p *Partition) Tiered(currentEpoch int32) (Found, error) { return notFound, p.lead(currentEpoch) }

// AtTime returns the first record below the horizon with a timestamp of at least ts.
func (p *Partition) AtTime(currentEpoch int32, h Horizon, ts int64) (Found, error) {
	return p.search(currentEpoch, h, func() (storage.Timestamped, bool, error) { return p.log.OffsetForTimestamp(ts) })
}

// AtMaxTime returns the first record with the largest timestamp, if it lies below the horizon.
func (p *Partition) AtMaxTime(currentEpoch int32, h Horizon) (Found, error) {
	return p.search(currentEpoch, h, p.log.MaxTimestamp)
}

func (p *Partition) search(currentEpoch int32, h Horizon, find func() (storage.Timestamped, bool, error)) (Found, error) {
	if err := p.lead(currentEpoch); err != nil {
		return notFound, err
	}
	at, ok, err := find()
	if err != nil {
		return notFound, p.logError(err)
	}
	limit, _, err := p.bound(currentEpoch, h)
	if ok && at.Offset < limit {
		return Found{Offset: at.Offset, Timestamp: at.Timestamp, LeaderEpoch: at.LeaderEpoch}, nil
	}
	return notFound, err
}

// EndOfEpoch returns the largest leader epoch not above the asked one, and the offset after its last record; both are -1
// when the log knows none.
func (p *Partition) EndOfEpoch(currentEpoch, epoch int32) (int32, int64, error) {
	if err := p.lead(currentEpoch); err != nil {
		return -1, -1, err
	}
	found, end := p.log.EndOffsetForEpoch(epoch)
	return found, end, nil
}

// Producers returns what the log remembers of idempotent producers.
func (p *Partition) Producers() ([]storage.ProducerState, error) {
	if err := p.lead(-1); err != nil {
		return nil, err
	}
	return p.log.Producers(), nil
}

// DeleteBefore removes all records below an offset, or below the high watermark for -1, and returns the first offset
// that is left. An offset above the high watermark is ErrOffsetOutOfRange; one below the first offset changes nothing.
func (p *Partition) DeleteBefore(offset int64) (int64, error) {
	if err := p.lead(-1); err != nil {
		return -1, err
	}
	hw := p.HighWatermark()
	if offset == -1 {
		offset = hw
	}
	if offset < 0 || offset > hw {
		return -1, storage.ErrOffsetOutOfRange
	}
	if offset > p.log.Start() {
		if err := p.log.SetStart(offset); err != nil {
			return -1, p.logError(err)
		}
		p.noteStart()
	}
	return p.log.Start(), nil
}

// lead returns nil if this replica leads in the epoch that the caller takes for the current one.
func (p *Partition) lead(epoch int32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkLeads(epoch)
}

// bound returns the horizon of a reader and the leader epoch.
func (p *Partition) bound(currentEpoch int32, h Horizon) (limit int64, epoch int32, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.checkLeads(currentEpoch); err != nil {
		return 0, -1, err
	}
	if h != ToLogEnd && p.st.hw < p.st.epochStart {
		return p.mark(h).limit, p.st.epoch, ErrOffsetNotAvailable
	}
	return p.mark(h).limit, p.st.epoch, nil
}

// epochAt returns the leader epoch that the record at offset has or would have, or -1.
func (p *Partition) epochAt(offset int64) int32 { return p.log.EpochAt(offset) }
