package gateway

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// topicMaxAge is how long what is known of a topic is taken as it is. Leaders that move are noticed at once, by
	// the error of the old one; this bounds how late new partitions and configs are seen.
	topicMaxAge = 10 * time.Second
	// defaultMaxMessageBytes is Kafka's default of max.message.bytes.
	defaultMaxMessageBytes = 1048588
	// maxBatch bounds the batches that records are gathered in, whatever a topic permits.
	maxBatch = 16 << 20
	// minBatch is the least that the client library takes.
	minBatch = 512
)

// creationWaits are the pauses between the questions whether a topic is there that the broker was asked to create.
// Brokers create it before they answer or shortly after.
var creationWaits = []time.Duration{0, 20 * time.Millisecond, 80 * time.Millisecond, 200 * time.Millisecond}

// topic is what is known of a topic. It is not changed once made.
type topic struct {
	name    string
	id      [16]byte // zero where the cluster has no topic ids
	leaders []int32  // by partition; -1 without one
	fetched time.Time

	// Known after a call that produces.
	producible    bool
	maxBatchBytes int32
	logAppendTime bool
}

// topicCache remembers topics for one principal. A topic that is looked up again while it is asked for by many is
// looked up by one of them; the others take what is there.
type topicCache struct {
	entries sync.Map // name → *topicEntry
	told    sync.Map // name → int32: the batch size that the client library was told, which it keeps
}

type topicEntry struct {
	current    atomic.Pointer[topic]
	refreshing atomic.Bool
}

func newTopicCache() *topicCache { return &topicCache{} }

// maxBatchBytes tells the client library how large a batch for the topic may be. The library asks when it first sees
// the topic, which is after the first lookup.
func (tc *topicCache) maxBatchBytes(name string) int32 {
	size := int32(defaultMaxMessageBytes)
	if e, ok := tc.entries.Load(name); ok {
		if t := e.(*topicEntry).current.Load(); t != nil && t.producible {
			size = t.maxBatchBytes
		}
	}
	tc.told.Store(name, size)
	return size
}

// outgrown tells whether the client library works with another batch size than t has now.
func (tc *topicCache) outgrown(t *topic) bool {
	told, ok := tc.told.Load(t.name)
	return ok && t.producible && told.(int32) != t.maxBatchBytes
}

// drop forgets a topic, so that the next call looks it up.
func (tc *topicCache) drop(name string) { tc.entries.Delete(name) }

// forget drops the topics that nobody asked for since then.
func (tc *topicCache) forget(then time.Time) {
	tc.entries.Range(func(name, e any) bool {
		if t := e.(*topicEntry).current.Load(); t == nil || t.fetched.Before(then) {
			tc.entries.Delete(name)
		}
		return true
	})
}

// topic returns what is known of a topic, at most topicMaxAge old unless another call is just looking it up. For a
// topic that is to be produced to, the broker may create it, and the configs that matter are known.
func (c *client) topic(ctx context.Context, name string, produce bool) (*topic, error) {
	v, ok := c.topics.entries.Load(name)
	if !ok {
		return c.lookup(ctx, name, produce)
	}
	e := v.(*topicEntry)
	t := e.current.Load()
	if t == nil || produce && !t.producible {
		return c.lookup(ctx, name, produce)
	}
	if time.Since(t.fetched) < topicMaxAge || !e.refreshing.CompareAndSwap(false, true) {
		return t, nil
	}
	defer e.refreshing.Store(false)
	return c.lookup(ctx, name, produce || t.producible)
}

// lookup asks the broker for a topic and remembers the answer.
func (c *client) lookup(ctx context.Context, name string, produce bool) (*topic, error) {
	t, err := c.describe(ctx, name, produce)
	if err != nil {
		c.topics.drop(name)
		return nil, err
	}
	if produce {
		if err := c.describeLimits(ctx, t); err != nil {
			return nil, fmt.Errorf("look up the configs of topic %s: %w", name, err)
		}
	}
	v, _ := c.topics.entries.LoadOrStore(name, &topicEntry{})
	v.(*topicEntry).current.Store(t)
	if c.topics.outgrown(t) {
		c.pool.retire(c) // the next call gets a new one
	}
	return t, nil
}

func (c *client) describe(ctx context.Context, name string, create bool) (*topic, error) {
	waits := creationWaits
	if !create {
		waits = waits[:1]
	}
	var err error
	for _, wait := range waits {
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		var t *topic
		if t, err = c.describeOnce(ctx, name, create); err == nil {
			return t, nil
		}
		if k, ok := asKafka(err); !ok || k != kerr.UnknownTopicOrPartition && k != kerr.LeaderNotAvailable {
			return nil, err
		}
	}
	return nil, err
}

func (c *client) describeOnce(ctx context.Context, name string, create bool) (*topic, error) {
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, rt)
	req.AllowAutoTopicCreation = create
	resp, err := req.RequestWith(ctx, c.kafka)
	if err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 {
		return nil, fmt.Errorf("asked for one topic, got %d", len(resp.Topics))
	}
	mt := &resp.Topics[0]
	if err := topicError(name, mt.ErrorCode); err != nil {
		return nil, err
	}
	t := &topic{name: name, id: mt.TopicID, fetched: time.Now(), leaders: make([]int32, len(mt.Partitions))}
	for i := range t.leaders {
		t.leaders[i] = -1
	}
	for _, p := range mt.Partitions {
		if p.Partition < 0 || int(p.Partition) >= len(t.leaders) {
			return nil, fmt.Errorf("topic %s of %d partitions has a partition %d", name, len(t.leaders), p.Partition)
		}
		t.leaders[p.Partition] = p.Leader
	}
	if len(t.leaders) == 0 {
		return nil, kerr.LeaderNotAvailable
	}
	return t, nil
}

// describeLimits fills in what producing needs to know. A principal that may write but not read configs gets Kafka's
// defaults.
func (c *client) describeLimits(ctx context.Context, t *topic) error {
	t.producible, t.maxBatchBytes = true, defaultMaxMessageBytes
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, t.name
	res.ConfigNames = []string{"max.message.bytes", "message.timestamp.type"}
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, c.kafka)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		for _, cfg := range r.Configs {
			if cfg.Value == nil {
				continue
			}
			switch cfg.Name {
			case "max.message.bytes":
				if n, err := strconv.ParseInt(*cfg.Value, 10, 32); err == nil {
					t.maxBatchBytes = int32(min(max(n, minBatch), maxBatch)) //nolint:gosec // within the bounds
				}
			case "message.timestamp.type":
				t.logAppendTime = *cfg.Value == "LogAppendTime"
			}
		}
	}
	return nil
}
