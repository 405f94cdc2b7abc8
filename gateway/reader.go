package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// fetchBytes is how much one Next brings, and pieceBytes how much one fetch. A record that is larger comes all the
	// same, alone.
	fetchBytes = 4 << 20
	pieceBytes = 1 << 20
	// minFetchBytes is the least that is asked for, and recordBytes what a record is taken for until some were seen: a
	// small read need not fetch a megabyte.
	minFetchBytes = 4 << 10
	recordBytes   = 256
	// maxStale is how often in a row a reader looks for new leaders before it gives up.
	maxStale = 8
)

// Reader reads a topic from a position on. It is for one goroutine. Close it after use.
type Reader struct {
	g       *Gateway
	client  *client
	cluster string
	topic   *topic
	pos     *cursor
	opened  bool // the position is that of the earliest records: if they are gone, it moves on
	stale   int  // how often in a row leaders had to be looked for
	size    int  // about how many bytes a record takes on its way

	waiter  *kgo.Client // taken at the first wait
	fetches *fetcher
	out     []*kgo.Record
	before  cursor // the position at the last Next, moved on by AppendCursorAfter
	walked  int    // how many records of out that has passed
}

// ReadRequest says what to read.
type ReadRequest struct {
	Topic string
	// Partition is AnyPartition for all of them. A cursor holds its own.
	Partition int32
	Start     Start
}

// Open looks up the topic and the position for a principal.
func (g *Gateway) Open(ctx context.Context, principal string, q ReadRequest) (*Reader, error) {
	if err := checkTopic(q.Topic); err != nil {
		return nil, err
	}
	c, err := g.clients.acquire(principal)
	if err != nil {
		return nil, err
	}
	r, err := g.open(ctx, c, q)
	if err != nil {
		c.release()
		return nil, err
	}
	return r, nil
}

func (g *Gateway) open(ctx context.Context, c *client, q ReadRequest) (*Reader, error) {
	cluster, err := c.clusterID(ctx)
	if err != nil {
		return nil, err
	}
	t, err := c.topic(ctx, q.Topic, false)
	if err != nil {
		return nil, err
	}
	pos, err := q.Start.resolve(ctx, g, c, t, max(q.Partition, allPartitions))
	if stale(err) || errors.Is(err, ErrCursorTopic) { // what was known of the topic may be old
		if t, err = c.lookup(ctx, q.Topic, false); err != nil {
			return nil, err
		}
		pos, err = q.Start.resolve(ctx, g, c, t, max(q.Partition, allPartitions))
	}
	if err != nil {
		return nil, err
	}
	return &Reader{
		g: g, client: c, cluster: cluster, topic: t, pos: pos, opened: q.Start.kind == fromEarliest, size: recordBytes,
		fetches: newFetcher(),
	}, nil
}

// Close ends what is under way and gives back what the reader holds.
func (r *Reader) Close() {
	busy := r.fetches.stop()
	if r.waiter != nil {
		r.client.putWaiter(r.waiter, busy)
	}
	r.client.release()
}

// AppendCursor appends the text of the cursor that goes on where the reader is.
func (r *Reader) AppendCursor(dst []byte) []byte {
	return r.g.cursors.appendText(dst, r.cluster, r.topic.Name, r.pos)
}

// Cursor returns the text of the cursor that goes on where the reader is.
func (r *Reader) Cursor() string { return string(r.AppendCursor(nil)) }

// Partitions returns the number of partitions that are read.
func (r *Reader) Partitions() int { return len(r.pos.offsets) }

// AppendCursorAfter appends the text of the cursor that goes on behind record i of the last Next. It is called with each
// i once at most and in rising order.
func (r *Reader) AppendCursorAfter(dst []byte, i int) []byte {
	if i == len(r.out)-1 { // the position also tells of what came behind it and is no record
		return r.AppendCursor(dst)
	}
	for ; r.walked <= i; r.walked++ {
		rec := r.out[r.walked]
		r.before.offsets[r.before.index(rec.Partition)] = rec.Offset + 1
	}
	return r.g.cursors.appendText(dst, r.cluster, r.topic.Name, &r.before)
}

// Next returns the next records: limit of them if they are there and not unusually large. If there are none it waits for
// some, as long as wait says, and then returns none. The result is valid until the next call.
func (r *Reader) Next(ctx context.Context, limit int, wait time.Duration) ([]*kgo.Record, error) {
	r.out, r.walked = r.out[:0], 0
	offsets := append(r.before.offsets[:0], r.pos.offsets...)
	r.before = *r.pos
	r.before.offsets = offsets
	deadline := time.Now().Add(wait)
	for {
		left := time.Duration(0)
		if r.waiter != nil {
			left = max(time.Until(deadline), 0)
		}
		progress, err := r.fetch(ctx, limit, left)
		switch {
		case len(r.out) > 0 && (!progress || err != nil || r.waiter != nil || r.full(limit)):
			r.g.metrics.read.Add(float64(len(r.out)))
			return r.out, nil //nolint:nilerr // an error shows again at the next call
		case stale(err) && r.stale < maxStale:
			if err := r.refresh(ctx); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		case progress: // some records, or none in control batches and what was compacted: go on
		case time.Until(deadline) <= 0:
			return nil, nil
		case r.waiter == nil:
			if r.waiter, err = r.client.waiter(); err != nil {
				return nil, err
			}
		}
		if err := r.ended(ctx); err != nil {
			return nil, err
		}
	}
}

// full tells whether out has enough: as many records as are wanted, or as many bytes as a fetch brings.
func (r *Reader) full(limit int) bool {
	return len(r.out) >= limit || len(r.out)*r.size >= fetchBytes
}

// ended tells whether the caller or the gateway is done.
func (r *Reader) ended(ctx context.Context) error {
	select {
	case <-r.g.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	default:
		return nil
	}
}

// fetch makes one round: it asks the leaders, takes records into out, and tells whether any position moved. Without a
// wait it hears all leaders, with one it returns when the first has something.
func (r *Reader) fetch(ctx context.Context, limit int, wait time.Duration) (progress bool, err error) {
	kafka := r.client.kafka
	if r.waiter != nil {
		kafka = r.waiter
	}
	if r.fetches.start(r, kafka, limit, wait) == 0 {
		return false, kerr.LeaderNotAvailable
	}
	for r.fetches.pending > 0 {
		var res fetched
		select {
		case res = <-r.fetches.results:
		case <-ctx.Done():
			return progress, ctx.Err()
		case <-r.g.ctx.Done():
			return progress, ErrClosed
		}
		r.fetches.received(res.leader)
		moved, takeErr := r.take(ctx, res, limit)
		progress = progress || moved
		if takeErr != nil && err == nil {
			err = takeErr
		}
		if wait > 0 && (progress || err != nil) {
			break
		}
	}
	if progress {
		r.stale = 0
	}
	return progress, err
}

// stale tells whether an error means that the topic's leaders must be looked up again.
func stale(err error) bool {
	k, ok := asKafka(err)
	if !ok {
		return false
	}
	switch k {
	case kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownTopicOrPartition, kerr.UnknownTopicID,
		kerr.InconsistentTopicID, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.ReplicaNotAvailable,
		kerr.OffsetNotAvailable, kerr.KafkaStorageError:
		return true
	}
	return false
}

// refresh looks up the topic again, a little later each time.
func (r *Reader) refresh(ctx context.Context) error {
	r.stale++
	if r.stale > 1 {
		select {
		case <-time.After(10 * time.Millisecond << r.stale):
		case <-ctx.Done():
			return ctx.Err()
		case <-r.g.ctx.Done():
			return ErrClosed
		}
	}
	t, err := r.client.lookup(ctx, r.topic.Name, false)
	if err != nil {
		return err
	}
	if t.ID != r.pos.topicID {
		return fmt.Errorf("topic %s was deleted and made again: %w", t.Name, ErrCursorTopic)
	}
	r.topic = t
	if r.pos.scope == allPartitions {
		for len(r.pos.offsets) < len(t.Leaders) {
			r.pos.offsets = append(r.pos.offsets, 0)
		}
	}
	return nil
}
