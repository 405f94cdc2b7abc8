package metadata

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Delta lists what differs between two images. Topics that did not change are not in it.
type Delta struct {
	// Topics are sorted by name. A topic that was deleted and created again appears twice, the deletion first.
	Topics []TopicChange
	// Brokers are sorted by id.
	Brokers []BrokerChange
	// Configs are the resources other than topics whose dynamic configuration changed, sorted by type and name.
	Configs []Resource
}

// TopicChange is one topic that appeared (Prev is nil), vanished (Next is nil) or changed.
type TopicChange struct {
	Prev, Next *Topic
	// ConfigChanged says that the overrides differ; true for a topic that appeared with some.
	ConfigChanged bool
	// Partitions are the partitions that appeared, vanished or changed, sorted by index.
	Partitions []PartitionChange
}

// PartitionChange is one partition that appeared (Prev is nil), vanished (Next is nil) or changed.
type PartitionChange struct {
	Prev, Next *Partition
}

// BrokerChange is one broker that registered (Prev is nil), left (Next is nil) or changed.
type BrokerChange struct {
	Prev, Next *Broker
}

// Empty reports whether nothing differs.
func (d *Delta) Empty() bool {
	return len(d.Topics) == 0 && len(d.Brokers) == 0 && len(d.Configs) == 0
}

func (d *Delta) addTopic(prev, next *Topic) {
	if prev == next {
		return
	}
	c := TopicChange{Prev: prev, Next: next}
	var before, after []*Partition
	var oldConfig, newConfig map[string]string
	if prev != nil {
		before, oldConfig = prev.Partitions, prev.Config
	}
	if next != nil {
		after, newConfig = next.Partitions, next.Config
	}
	c.ConfigChanged = !maps.Equal(oldConfig, newConfig)
	for i := range max(len(before), len(after)) {
		switch {
		case i >= len(before):
			c.Partitions = append(c.Partitions, PartitionChange{Next: after[i]})
		case i >= len(after):
			c.Partitions = append(c.Partitions, PartitionChange{Prev: before[i]})
		case before[i] != after[i] && before[i].ModRev != after[i].ModRev:
			c.Partitions = append(c.Partitions, PartitionChange{Prev: before[i], Next: after[i]})
		}
	}
	if prev != nil && next != nil && !c.ConfigChanged && len(c.Partitions) == 0 {
		return
	}
	d.Topics = append(d.Topics, c)
}

// addBrokers merges two lists that are sorted by id.
func (d *Delta) addBrokers(prev, next []*Broker) {
	for len(prev) > 0 || len(next) > 0 {
		switch {
		case len(next) == 0 || len(prev) > 0 && prev[0].ID < next[0].ID:
			d.Brokers = append(d.Brokers, BrokerChange{Prev: prev[0]})
			prev = prev[1:]
		case len(prev) == 0 || next[0].ID < prev[0].ID:
			d.Brokers = append(d.Brokers, BrokerChange{Next: next[0]})
			next = next[1:]
		default:
			if !prev[0].same(next[0]) {
				d.Brokers = append(d.Brokers, BrokerChange{Prev: prev[0], Next: next[0]})
			}
			prev, next = prev[1:], next[1:]
		}
	}
}

func (d *Delta) sort() {
	slices.SortFunc(d.Topics, func(a, b TopicChange) int {
		return cmp.Or(strings.Compare(a.name(), b.name()), cmp.Compare(a.order(), b.order()))
	})
	slices.SortFunc(d.Configs, compareResources)
}

func (c TopicChange) name() string {
	if c.Next != nil {
		return c.Next.Name
	}
	return c.Prev.Name
}

// order puts a deletion before the creation of a topic of the same name.
func (c TopicChange) order() int {
	if c.Next == nil {
		return 0
	}
	return 1
}

// diff lists everything that differs between two images that need not follow each other directly.
func diff(prev, next *Image) Delta {
	var d Delta
	for t := range prev.Topics() {
		after, _ := next.TopicByID(t.ID)
		d.addTopic(t, after)
	}
	for t := range next.Topics() {
		if _, ok := prev.TopicByID(t.ID); !ok {
			d.addTopic(nil, t)
		}
	}
	for r, was := range prev.configs.all() {
		if now, _ := next.configs.get(r); now.modRev != was.modRev {
			d.Configs = append(d.Configs, r)
		}
	}
	for r := range next.configs.all() {
		if _, ok := prev.configs.get(r); !ok {
			d.Configs = append(d.Configs, r)
		}
	}
	d.addBrokers(prev.brokers, next.brokers)
	d.sort()
	return d
}
