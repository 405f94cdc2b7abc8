package partition

import (
	"sync/atomic"

	"moldau/broker/configdef"
	"moldau/broker/metadata"
)

// Topic is what the partitions of one topic share on this node. A topic that is deleted and made anew is another Topic.
type Topic struct {
	Name     string
	ID       metadata.TopicID
	Internal bool

	config atomic.Pointer[configdef.Topic]
	parts  atomic.Pointer[[]*Partition] // by index; nil entries are replicas of other nodes. The slice never changes.
}

// Config returns the configuration in force. It never changes; take a new one for each request.
func (t *Topic) Config() *configdef.Topic { return t.config.Load() }

// Partition returns this node's replica of a partition, or nil when the node holds none.
func (t *Topic) Partition(index int32) *Partition {
	parts := *t.parts.Load()
	if index < 0 || int(index) >= len(parts) {
		return nil
	}
	return parts[index]
}

// Partitions returns this node's replicas by index; partitions without one are nil. The slice must not be changed.
func (t *Topic) Partitions() []*Partition { return *t.parts.Load() }

// setConfig hands a new configuration to all partitions.
func (t *Topic) setConfig(c *configdef.Topic) {
	t.config.Store(c)
	for _, p := range t.Partitions() {
		if p != nil {
			p.configure(c)
		}
	}
}
