package storage

import (
	"fmt"

	"moldau/broker/record"
)

// CheckProducer tells what Append would say at this moment of the producer of a client's batch that belongs to no transaction: nil where
// it would take the batch or find it a duplicate. It is for callers that have something to do before they append.
func (l *Log) CheckProducer(b record.Batch) error {
	if !b.HasProducerID() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.checkProducer(b, admission{origin: OriginClient}); err != nil {
		return fmt.Errorf("append to %s at %d: %w", l.tp, l.end.Load(), err)
	}
	return nil
}
