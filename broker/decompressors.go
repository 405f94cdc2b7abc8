package broker

import (
	"sync"

	"moldau/broker/record"
)

// decompressors holds one decompressor for each limit that topics have. Topics share those with the same limit, and with
// it the state of the codecs, which is what makes one expensive.
type decompressors struct {
	ceiling int // no topic gets more
	mu      sync.RWMutex
	byLimit map[int]*record.Decompressor
}

// maxDecompressors bounds how many limits are remembered at a time.
const maxDecompressors = 64

// upTo returns the decompressor that expands a batch to at most limit bytes, or to the ceiling if that is less.
func (d *decompressors) upTo(limit int) *record.Decompressor {
	limit = min(limit, d.ceiling)
	d.mu.RLock()
	found := d.byLimit[limit]
	d.mu.RUnlock()
	if found != nil {
		return found
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if found = d.byLimit[limit]; found != nil {
		return found
	}
	if d.byLimit == nil || len(d.byLimit) >= maxDecompressors {
		d.byLimit = make(map[int]*record.Decompressor)
	}
	found = record.NewDecompressor(record.Limits{MaxBytes: int64(limit)})
	d.byLimit[limit] = found
	return found
}
