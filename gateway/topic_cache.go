package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"moldau/gateway/producer"
)

// topicMaxAge is how long what is known of a topic is taken as it is. Leaders that move are noticed at once, by
// the error of the old one; this bounds how late new partitions and configs are seen.
const topicMaxAge = 10 * time.Second

// topic is what is known of a topic. It is not changed once made.
type topic struct {
	*producer.Topic
	producible bool // limits are known, which a call that produces needs
}

// topicCache remembers topics for one principal. A topic that is looked up again while it is asked for by many is
// looked up by one of them; the others take what is there.
type topicCache struct {
	entries sync.Map // name → *topicEntry
}

type topicEntry struct {
	current    atomic.Pointer[topic]
	refreshing atomic.Bool
}

func newTopicCache() *topicCache { return &topicCache{} }

// drop forgets a topic, so that the next call looks it up.
func (tc *topicCache) drop(name string) { tc.entries.Delete(name) }

// forget drops the topics that nobody asked for since then, and names them.
func (tc *topicCache) forget(then time.Time) (names []string) {
	tc.entries.Range(func(name, e any) bool {
		if t := e.(*topicEntry).current.Load(); t == nil || t.Fetched.Before(then) {
			tc.entries.Delete(name)
			names = append(names, name.(string))
		}
		return true
	})
	return names
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
	if time.Since(t.Fetched) < topicMaxAge || !e.refreshing.CompareAndSwap(false, true) {
		return t, nil
	}
	defer e.refreshing.Store(false)
	return c.lookup(ctx, name, produce || t.producible)
}

// lookup asks the broker for a topic and remembers the answer.
func (c *client) lookup(ctx context.Context, name string, produce bool) (*topic, error) {
	return c.find(ctx, name, produce, produce)
}

// refind is lookup for the producer, when a partition has trouble: a topic that was deleted is not created again.
func (c *client) refind(ctx context.Context, name string) (*producer.Topic, error) {
	t, err := c.find(ctx, name, false, true)
	if err != nil {
		return nil, err
	}
	return t.Topic, nil
}

func (c *client) find(ctx context.Context, name string, create, limits bool) (*topic, error) {
	found, err := producer.FindTopic(ctx, c.kafka, name, create)
	if err != nil {
		c.topics.drop(name)
		return nil, err
	}
	if limits {
		if err := found.Limits(ctx, c.kafka); err != nil {
			return nil, err
		}
	}
	t := &topic{Topic: found, producible: limits}
	v, _ := c.topics.entries.LoadOrStore(name, &topicEntry{})
	v.(*topicEntry).current.Store(t)
	return t, nil
}
