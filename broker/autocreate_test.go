package broker

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestAutoCreate(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.NumPartitions = 3 })
	n.topic("there", 1)
	errs := n.AutoCreateTopics(t.Context(), testCaller, []string{"there", "fresh", "a b", "", strings.Repeat("x", 250), "fre.sh", "fre_sh", "__consumer_offsets"})
	for i, want := range []error{nil, nil, ErrInvalidTopic, ErrInvalidTopic, ErrInvalidTopic, nil, ErrInvalidTopic, ErrUnknownTopicOrPartition} {
		if !errors.Is(errs[i], want) || want == nil && errs[i] != nil {
			t.Errorf("name %d: %v, want %v", i, errs[i], want)
		}
	}
	topic, ok := n.Image().Topic("fresh")
	if !ok || len(topic.Partitions) != 3 {
		t.Fatalf("made %+v", topic)
	}
	n.mustProduce(TopicRef{Name: "fresh"}, 2, plain(t, "at once"))
}

func TestAutoCreateIsShared(t *testing.T) {
	n := startNode(t)
	before := n.Image().Rev()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := n.AutoCreateTopics(t.Context(), testCaller, []string{"events"})[0]; err != nil {
				t.Error(err)
			}
			if p := n.Produce(testCaller, TopicRef{Name: "events"}, 0, plain(t, "at once"), 1); p.Err != nil {
				t.Error(p.Err)
			}
		})
	}
	wg.Wait()
	if after := n.Image().Rev(); after != before+1 {
		t.Fatalf("%d changes of the metadata for one topic", after-before)
	}
}

func TestAutoCreateCanBeOff(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.AutoCreateTopics = false })
	n.topic("there", 1)
	errs := n.AutoCreateTopics(t.Context(), testCaller, []string{"there", "fresh"})
	if errs[0] != nil || !errors.Is(errs[1], ErrUnknownTopicOrPartition) {
		t.Fatalf("got %v", errs)
	}
}

func TestAutoCreateObeysLimits(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.MaxPartitions, c.NumPartitions = 5, 3 })
	errs := n.AutoCreateTopics(t.Context(), testCaller, []string{"first", "second"})
	if errs[0] != nil || !errors.Is(errs[1], ErrPolicyViolation) {
		t.Fatalf("got %v", errs)
	}
}
