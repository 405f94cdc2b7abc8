package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// deliveryGrace is how much longer than the delivery timeout a call waits: the producer may know the outcome a little
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
		t, err = c.withPartitions(ctx, t, b)
	}
	if err != nil {
		c.release()
		g.budget.release(cost + b.encoded)
		return err
	}
	b.client = c
	c.producer.Produce(t.Topic, &b.Call)
	return nil
}

// Finish is the second half of Produce: it waits for the outcomes.
func (g *Gateway) Finish(ctx context.Context, b *Batch) error {
	err := b.await(ctx, g.cfg.DeliveryTimeout+deliveryGrace)
	if err != nil {
		go func() { // ends with the last outcome, which the timeouts of the producer and its close bring about
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

// withPartitions returns t, or what is known now if records name a partition that t doesn't have: partitions may have been
// added a moment ago.
func (c *client) withPartitions(ctx context.Context, t *topic, b *Batch) (*topic, error) {
	highest := int32(-1)
	for i := range b.Records {
		highest = max(highest, b.Records[i].Partition)
	}
	if int(highest) < len(t.Leaders) {
		return t, nil
	}
	return c.lookup(ctx, t.Name, true)
}
