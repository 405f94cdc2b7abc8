package producer

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker/record"
)

// Config is how a producer writes.
type Config struct {
	// Client sends the requests.
	Client *kgo.Client
	// Acks is what the Client was made with: -1 for all in-sync replicas, 1, or 0. Only -1 excludes that something is written twice; with 0 nothing
	// is known of what was sent.
	Acks int16
	// Find looks a topic up anew when a partition has trouble. It must not create the topic.
	Find func(ctx context.Context, name string) (*Topic, error)
	// Partitioner chooses the partitions.
	Partitioner kgo.Partitioner
	// Codec is how batches are compressed.
	Codec record.Codec
	// Linger is how long a record waits for others to share its batch. At 0 records share a batch when they come while another is under way.
	Linger time.Duration
	// Delivery is how long a record may take until it is acknowledged, retries included.
	Delivery time.Duration
}

// Producer writes records to topics. Its methods may be called concurrently.
type Producer struct {
	cfg        Config
	compressor *record.Compressor
	frames     sync.Pool // of *frame
	ids        *identities

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // senders and recoveries

	mu      sync.Mutex // guards what follows, and all that is reached from it but for what a sender has under way
	topics  map[string]*topic
	senders map[int32]*sender
	closed  bool
}

// New returns a producer. It sends nothing before the first call.
func New(cfg Config) *Producer {
	p := &Producer{
		cfg: cfg, compressor: record.NewCompressor(), ids: newIdentities(cfg.Client),
		topics: make(map[string]*topic), senders: make(map[int32]*sender),
	}
	p.frames.New = func() any { return new(frame) }
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Produce takes the records of a call, behind those of earlier calls. It returns at once. known may be younger or older than what
// the producer knows.
func (p *Producer) Produce(known *Topic, c *Call) {
	now := time.Now()
	c.begin(known.Name, now, p.cfg.Delivery)
	p.mu.Lock()
	settled := 1
	for i := range c.Records {
		switch {
		case c.Err(i) != nil: // refused; nobody else touches the call yet, for what is queued can't be sent before the lock is free
			settled++
		case p.closed:
			c.fail(i, ErrClosed)
			settled++
		default:
			if err := p.add(known, c, i, now); err != nil {
				c.fail(i, err)
				settled++
			}
		}
	}
	p.mu.Unlock()
	c.settle(settled)
}

// add puts a record into the queue of its partition.
func (p *Producer) add(known *Topic, c *Call, i int, now time.Time) error {
	t := p.topics[known.Name]
	if t == nil {
		t = &topic{name: known.Name, partitioner: p.cfg.Partitioner.ForTopic(known.Name)}
		p.topics[known.Name] = t
	}
	if t.known != known {
		t.update(known)
	}
	r := &c.Records[i]
	size := sizeOf(r)
	q, err := t.pick(r, size)
	if err != nil {
		return err
	}
	r.Partition = q.partition
	q.push(entry{call: c, index: int32(i), size: int32(size)}, now)
	p.proceed(q, now)
	return nil
}

// proceed has a queue sent if there is something to send and nothing in the way.
func (p *Producer) proceed(q *queue, now time.Time) {
	switch {
	case q.listed || q.troubled || q.draining || len(q.again) == 0 && len(q.waiting) == 0 || !p.mayFly(q):
		return
	case q.leader < 0:
		p.suspend(q, nil)
		return
	case p.cfg.Linger > 0 && len(q.again) == 0 && q.bytes < q.topic.maxBatchBytes:
		if left := p.cfg.Linger - now.Sub(q.since); left > 0 {
			q.linger(p, left)
			return
		}
	}
	p.list(q)
}

// mayFly tells whether a batch may be sent now. Several may be under way to one leader, as long as the broker is known to follow the sequence
// numbers: those behind one that it doesn't take can't be written then, and nothing changes places. A part of what may have been written goes
// alone: when the broker does not take its number, it must be known why.
func (p *Producer) mayFly(q *queue) bool {
	switch {
	case len(q.flying) == 0:
		return true
	case p.cfg.Acks != acksAll || !q.proven || len(q.flying) >= maxFlying || q.flyingTo != q.leader:
		return false
	}
	return len(q.again) == 0 || !q.again[0].part
}

// Forget drops topics that nobody writes to. Those that have records under way stay.
func (p *Producer) Forget(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		if t := p.topics[name]; t != nil && t.idle() {
			delete(p.topics, name)
			// Whoever comes back must not begin at sequence number 0 under the id that these partitions know.
			p.ids.spend()
		}
	}
}

// Close ends the requests that are under way, gives every record its outcome, and waits for that.
func (p *Producer) Close() {
	var out []outcome
	p.mu.Lock()
	p.closed = true
	for _, t := range p.topics {
		for _, q := range t.queues {
			out = q.failAll(ErrClosed, out)
			q.troubled = false
		}
	}
	p.mu.Unlock()
	p.cancel()
	settle(out)
	p.running.Wait()
}
