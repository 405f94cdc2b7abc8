package producer

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker/record"
)

// topic is the queues of a topic's partitions.
type topic struct {
	name          string
	known         *Topic
	maxBatchBytes int      // of known, or less when the broker found a batch too large
	queues        []*queue // by partition
	led           []*queue // those that have a leader
	partitioner   kgo.TopicPartitioner
	recovering    bool
}

// update takes what is known of the topic, unless it is older than what was known before.
func (t *topic) update(known *Topic) {
	if t.known != nil && !known.Fetched.After(t.known.Fetched) {
		return
	}
	another := t.known != nil && t.known.ID != known.ID
	t.known, t.maxBatchBytes = known, known.MaxBatchBytes
	for i := len(t.queues); i < len(known.Leaders); i++ {
		t.queues = append(t.queues, &queue{topic: t, partition: int32(i), id: noIdentity, spent: noIdentity})
	}
	t.led = t.led[:0:0]
	for i, q := range t.queues {
		q.leader = -1
		if i < len(known.Leaders) {
			q.leader = known.Leaders[i]
		}
		if q.leader >= 0 {
			t.led = append(t.led, q)
		}
		if another {
			q.unknown = 0 // it was the topic of this name before that nobody knew
		}
	}
}

// pick returns the queue for a record. A record whose key decides may go to a partition that has no leader now; the others do not.
func (t *topic) pick(r *kgo.Record, size int) (*queue, error) {
	queues := t.queues[:len(t.known.Leaders)]
	consistent := t.partitioner.RequiresConsistency(r)
	if !consistent && len(t.led) > 0 {
		queues = t.led
	}
	i := t.partitioner.Partition(r, len(queues))
	if next, ok := t.partitioner.(kgo.TopicPartitionerOnNewBatch); ok && !consistent && queues[i].wouldBeginBatch(size) {
		next.OnNewBatch()
		i = t.partitioner.Partition(r, len(queues))
	}
	if i < 0 || i >= len(queues) {
		return nil, &BrokerError{
			Kafka: kerr.UnknownTopicOrPartition,
			Text:  fmt.Sprintf("topic %s has no partition %d, it has %d", t.name, i, len(queues)),
		}
	}
	return queues[i], nil
}

// idle tells whether nothing of the topic is to be sent or under way.
func (t *topic) idle() bool {
	for _, q := range t.queues {
		if len(q.flying)+len(q.again)+len(q.waiting) > 0 {
			return false
		}
	}
	return !t.recovering
}

// entry is a record in a queue.
type entry struct {
	call  *Call
	index int32
	size  int32 // bytes at most
}

func (e entry) record() *kgo.Record { return &e.call.Records[e.index] }

// maxFlying is how many batches of a partition may be under way at a time. Brokers remember the numbers of the last five.
const maxFlying = 5

// queue is the records of a partition on their way.
type queue struct {
	topic     *topic
	partition int32
	leader    int32

	flying   []*batch // under way, in order
	flyingTo int32    // the broker that they were sent to
	again    []*batch // what did not get through and goes first, in order
	waiting  []entry
	bytes    int       // of what waits
	since    time.Time // when the first of what waits came, or the last batch left
	usual    int       // how many waited last time
	timer    *time.Timer

	listed    bool // a sender will look at it
	lingering bool // the timer runs
	draining  bool // a batch under way did not get through: the others must be answered before anything is sent
	troubled  bool // waits for the recovery of its topic

	// The next batch has this identity and sequence number.
	id       identity
	sequence int32
	proven   bool     // the broker has taken the last batch under this identity
	spent    identity // which is not used again

	tries   int   // that failed since the last one that did not
	unknown int   // how many of them the broker did not know the partition
	trouble error // why the last one failed
}

// wouldBeginBatch tells whether a record of this size would begin a new batch.
func (q *queue) wouldBeginBatch(size int) bool {
	return len(q.waiting) == 0 || q.bytes+size > q.topic.maxBatchBytes
}

// maxUsual bounds the room that is made for records before they come.
const maxUsual = 1024

func (q *queue) push(e entry, now time.Time) {
	if len(q.waiting) == 0 {
		q.since = now
		q.waiting = make([]entry, 0, min(max(q.usual, 4), maxUsual))
	}
	q.waiting = append(q.waiting, e)
	q.bytes += int(e.size)
}

// linger looks at the queue again after a time.
func (q *queue) linger(p *Producer, wait time.Duration) {
	switch {
	case q.lingering:
		return
	case q.timer != nil:
		q.timer.Reset(wait)
	default:
		q.timer = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			q.lingering = false
			if !p.closed {
				p.proceed(q, time.Now())
			}
		})
	}
	q.lingering = true
}

// next takes the batch that is to be sent, nil if there is none. Records that are due already are added to out.
func (q *queue) next(now time.Time, out []outcome) (*batch, []outcome) {
	out = q.expire(now, out)
	if len(q.again) > 0 {
		b := q.again[0]
		q.again = q.again[1:]
		return b, out
	}
	if len(q.waiting) == 0 {
		return nil, out
	}
	n, size := 0, record.HeaderLen
	for n < len(q.waiting) && (n == 0 || size+int(q.waiting[n].size) <= q.topic.maxBatchBytes) {
		size += int(q.waiting[n].size)
		n++
	}
	q.usual = len(q.waiting)
	b := newBatch(q, q.waiting[:n:n])
	q.waiting = q.waiting[n:]
	q.bytes -= size - record.HeaderLen
	q.since = now
	return b, out
}

// expire takes out what is due. A batch that may have been written keeps its records until the last of them is due: it can be sent again only
// as it was.
func (q *queue) expire(now time.Time, out []outcome) []outcome {
	for _, b := range q.again {
		if b.doubtful() && !b.due().After(now) {
			out = q.abandon(out)
			break
		}
	}
	left := q.again[:0]
	for _, b := range q.again {
		if !b.doubtful() {
			out = b.expire(now, out)
		}
		if len(b.entries) > 0 {
			left = append(left, b)
		}
	}
	clear(q.again[len(left):])
	q.again = left
	n := 0
	for n < len(q.waiting) && !q.waiting[n].call.due.After(now) {
		q.bytes -= int(q.waiting[n].size)
		n++
	}
	if n > 0 {
		out = append(out, outcome{entries: q.waiting[:n], err: notWritten(q.trouble)})
		q.waiting = q.waiting[n:]
	}
	return out
}

// number gives a batch the identity and sequence number that are next. One that may have been written keeps those that it had.
func (q *queue) number(b *batch) {
	if !b.unsure && (b.id != q.id || b.sequence != q.sequence) {
		b.release()
		b.id, b.sequence = q.id, q.sequence
	}
	if b.before = q.sequence; b.id == q.id && b.id.known() {
		q.sequence = record.IncrementSequence(b.sequence, int32(len(b.entries)))
	}
}

// abandon gives up what may have been written, because it can't be known any more. The partition goes on under another producer id, whose
// sequence numbers do not depend on the answer.
func (q *queue) abandon(out []outcome) []outcome {
	left := q.again[:0]
	for _, b := range q.again {
		if b.doubtful() {
			out = append(out, outcome{entries: b.entries, err: unacknowledged(b.err)})
			b.release()
			continue
		}
		left = append(left, b)
	}
	if len(left) < len(q.again) {
		q.renew()
	}
	clear(q.again[len(left):])
	q.again = left
	return out
}

// renew has the next batch sent under a producer id that is new to the partition.
func (q *queue) renew() {
	q.proven = false
	if q.id.known() {
		q.spent, q.id, q.sequence = q.id, noIdentity, 0
	}
}

// failAll fails all that is not under way.
func (q *queue) failAll(err error, out []outcome) []outcome {
	out = q.abandon(out)
	for _, b := range q.again {
		out = append(out, outcome{entries: b.entries, err: err})
		b.release()
	}
	if len(q.waiting) > 0 {
		out = append(out, outcome{entries: q.waiting, err: err})
	}
	q.again, q.waiting, q.bytes = nil, nil, 0
	return out
}
