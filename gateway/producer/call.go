package producer

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Call is records that are handed over together, and what became of them. It may be used again after Reset, once Done was called. It must
// not be copied.
type Call struct {
	// Records are what is to be written. The producer sets the topic, the timestamp where there is none, the partition, and on records that
	// were written the offset, and the timestamp that the broker gave them: the zero time where it does not tell that. Their bytes must not
	// change until Done.
	Records []kgo.Record
	// Done is called once, when all records have an outcome. It must not block.
	Done func()

	due     time.Time
	pending atomic.Int64
	cuts    int // how often a batch of this call alone was cut in halves; guarded by the mutex of the producer

	mu     sync.Mutex
	errs   []error // by record, as far as the last one that failed
	failed int
}

// Refuse has record i fail with err: it is not sent. It is called before Produce.
func (c *Call) Refuse(i int, err error) { c.fail(i, err) }

// Err returns why record i was not written, nil if it was. It is for after Done.
func (c *Call) Err(i int) error {
	if i >= len(c.errs) {
		return nil
	}
	return c.errs[i]
}

// Failed returns the number of records that were not written. It is for after Done.
func (c *Call) Failed() int { return c.failed }

// Reset empties the call.
func (c *Call) Reset() {
	clear(c.Records)
	c.Records, c.errs, c.failed, c.cuts = c.Records[:0], nil, 0, 0
}

// begin makes the records ready.
func (c *Call) begin(topic string, now time.Time, delivery time.Duration) {
	c.due = now.Add(delivery)
	c.pending.Store(int64(len(c.Records)) + 1)
	now = now.Truncate(time.Millisecond)
	for i := range c.Records {
		r := &c.Records[i]
		r.Topic = topic
		if r.Timestamp.IsZero() {
			r.Timestamp = now
		} else {
			r.Timestamp = r.Timestamp.Truncate(time.Millisecond)
		}
	}
}

// fail notes why a record was not written. The first reason holds.
func (c *Call) fail(i int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i >= len(c.errs) {
		c.errs = append(c.errs, make([]error, len(c.Records)-len(c.errs))...)
	}
	if c.errs[i] == nil {
		c.errs[i] = err
		c.failed++
		r := &c.Records[i]
		r.Offset, r.ProducerID, r.ProducerEpoch, r.LeaderEpoch = -1, -1, -1, -1
	}
}

// settle says that n more records have an outcome.
func (c *Call) settle(n int) {
	if c.pending.Add(-int64(n)) == 0 {
		c.Done()
	}
}
