package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// deliveryGrace is how much longer than the delivery timeout a call waits: the client may know the outcome a little
// later than it is due.
const deliveryGrace = 5 * time.Second

// Produce writes the records of b to a topic for a principal, and returns when each has an outcome. It fails as a whole
// when nothing was handed to the broker, or when the outcomes did not become known in time (b is Abandoned then). What
// happened to the records otherwise is told by b.
func (g *Gateway) Produce(ctx context.Context, principal, topic string, b *Batch) error {
	if err := g.Send(ctx, principal, topic, b); err != nil {
		return err
	}
	return g.Finish(ctx, b)
}

// Send is the first half of Produce: it hands the records of b to the broker, behind those of earlier calls. Finish must
// follow, if there is no error.
func (g *Gateway) Send(ctx context.Context, principal, topic string, b *Batch) error {
	if err := checkTopic(topic); err != nil {
		return err
	}
	if len(b.Records) == 0 {
		return invalid("records", "there must be at least one record")
	}
	if len(b.Records) > g.cfg.MaxRecords {
		return fmt.Errorf("%w: %d records, at most %d", ErrTooLarge, len(b.Records), g.cfg.MaxRecords)
	}
	cost := int64(len(b.Records)) * recordCost
	if err := g.budget.acquire(cost); err != nil {
		return err
	}
	c, err := g.clients.acquire(principal)
	if err != nil {
		g.budget.release(cost)
		return err
	}
	t, err := c.topic(ctx, topic, true)
	if err == nil && len(b.encodings) > 0 {
		err = g.encode(ctx, topic, b)
	}
	if err == nil {
		b.prepare(topic, time.Now().Add(g.cfg.DeliveryTimeout))
		err = c.checkPartitions(ctx, t, b)
	}
	if err != nil {
		c.release()
		g.budget.release(cost + b.encoded)
		return err
	}
	b.ServerTime = t.logAppendTime
	b.client = c
	b.send(c.kafka)
	return nil
}

// Finish is the second half of Produce: it waits for the outcomes.
func (g *Gateway) Finish(ctx context.Context, b *Batch) error {
	err := b.await(ctx, g.cfg.DeliveryTimeout+deliveryGrace)
	if err != nil {
		go func() { // ends with the last outcome, which the client's timeouts and its close bring about
			<-b.done
			g.settled(b)
		}()
		return err
	}
	g.settled(b)
	return nil
}

// settled counts the outcomes of b and gives back what it held.
func (g *Gateway) settled(b *Batch) {
	failed := b.Failed()
	g.metrics.produced.Add(float64(len(b.Records) - failed))
	if failed > 0 {
		g.metrics.failed.Add(float64(failed))
		for i := range b.Records {
			if outdated(b.Err(i)) {
				b.client.topics.drop(b.Records[i].Topic)
				break
			}
		}
	}
	b.client.release()
	g.budget.release(int64(len(b.Records))*recordCost + b.encoded)
}

// outdated tells whether an error says that what is known of the topic is no longer true.
func outdated(err error) bool {
	k, ok := asKafka(err)
	if !ok {
		return false
	}
	switch k {
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID, kerr.MessageTooLarge:
		return true
	}
	return false
}

// checkPartitions fails the records that name a partition which the topic doesn't have. Partitions may have been added
// a moment ago, so it looks again before it does so, and it makes the client look too.
func (c *client) checkPartitions(ctx context.Context, t *topic, b *Batch) error {
	highest := int32(-1)
	for i := range b.Records {
		highest = max(highest, b.Records[i].Partition)
	}
	if int(highest) < len(t.leaders) {
		return c.awaitPartition(ctx, t.name, highest)
	}
	t, err := c.lookup(ctx, t.name, true)
	if err != nil {
		return err
	}
	count := int32(len(t.leaders)) //nolint:gosec // a topic has few partitions
	for i := range b.Records {
		if p := b.Records[i].Partition; p >= count {
			b.slots[i].err = &brokerError{
				err:  kerr.UnknownTopicOrPartition,
				text: fmt.Sprintf("topic %s has no partition %d, it has %d", t.name, p, count),
			}
		}
	}
	return c.awaitPartition(ctx, t.name, min(highest, count-1))
}

// awaitPartition waits until the client knows a partition of a topic that it produces to. It knows all partitions of a
// topic that is new to it; for one that was added later its metadata must be fetched again.
func (c *client) awaitPartition(ctx context.Context, name string, partition int32) error {
	if partition <= 0 {
		return nil
	}
	known := func(p int32) bool {
		leader, epoch, err := c.kafka.PartitionLeader(name, p)
		return leader >= 0 || epoch >= 0 || err != nil
	}
	if known(partition) || !known(0) {
		return nil
	}
	c.kafka.ForceMetadataRefresh()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		select {
		case <-tick.C:
			if known(partition) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &brokerError{
		err:  kerr.LeaderNotAvailable,
		text: fmt.Sprintf("partition %d of topic %s is not known to the brokers yet", partition, name),
	}
}

var _ kgo.TopicPartitionerOnNewBatch = topicPartitioner{}
