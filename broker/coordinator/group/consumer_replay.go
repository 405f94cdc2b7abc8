package group

import (
	"fmt"

	"moldau/broker/coordinator"
)

// replayConsumer applies a record of the consumer protocol. A tombstone of what is not there changes nothing: compaction may have
// removed what it speaks of.
func (s *Shard) replayConsumer(kind int16, r coordinator.Record) error {
	k := &flexReader{b: r.Key[2:]}
	id, part := k.plainString(), ""
	switch kind {
	case consumerMemberKey, consumerTargetKey, consumerCurrentKey, consumerRegexKey:
		part = k.plainString()
	}
	if err := k.end(); err != nil {
		return fmt.Errorf("key of kind %d: %w", kind, err)
	}
	g := s.groups[id]
	if r.Value == nil {
		if g != nil && g.consumer != nil {
			g.consumer.forget(kind, part)
		}
		return nil
	}
	if g == nil || g.consumer == nil {
		if kind == consumerTopicsKey {
			return nil
		}
		g = s.ensure(id)
		g.becomeConsumer()
	}
	if err := g.consumer.apply(kind, part, r.Value); err != nil {
		return fmt.Errorf("record of kind %d of group %q: %w", kind, id, err)
	}
	return nil
}

// becomeConsumer makes the group one of the consumer protocol. The last record of the log decides what a group is.
func (g *group) becomeConsumer() {
	if g.consumer == nil {
		g.reset()
		g.consumer = newConsumers(g)
	}
}

func (c *consumers) apply(kind int16, part string, value []byte) error {
	switch kind {
	case consumerGroupKey:
		return c.applyEpoch(value)
	case consumerMemberKey:
		p, err := decodeProfile(value)
		if err == nil {
			c.setProfile(part, p)
		}
		return err
	case consumerTargetEpochKey:
		r := &flexReader{b: value}
		if err := r.begin(); err != nil {
			return err
		}
		epoch := r.int32()
		r.tags(nil)
		if err := r.end(); err != nil {
			return err
		}
		c.assignmentEpoch = epoch
	case consumerTargetKey:
		target, err := decodeTarget(value)
		if err == nil {
			c.targets[part] = target
		}
		return err
	case consumerCurrentKey:
		s, err := decodeStanding(value)
		if err == nil {
			c.put(c.ensure(part), s)
		}
		return err
	case consumerRegexKey:
		r := &flexReader{b: value}
		if err := r.begin(); err != nil {
			return err
		}
		names := r.strings()
		r.int64()
		r.int64()
		r.tags(nil)
		if err := r.end(); err != nil {
			return err
		}
		c.regexes[part] = sortedNames(names)
	}
	return nil
}

func (c *consumers) applyEpoch(value []byte) error {
	r := &flexReader{b: value}
	if err := r.begin(); err != nil {
		return err
	}
	epoch, hash := r.int32(), int64(0)
	r.tags(func(tag int, f *flexReader) {
		if tag == 0 {
			hash = f.int64()
		}
	})
	if err := r.end(); err != nil {
		return err
	}
	c.epoch, c.topicsHash = epoch, hash
	return nil
}

func (c *consumers) ensure(id string) *consumerMember {
	m := c.members[id]
	if m == nil {
		m = newConsumerMember(id)
		c.members[id] = m
	}
	return m
}

func (c *consumers) setProfile(id string, p profile) {
	m := c.ensure(id)
	if c.static[m.instanceID] == m {
		delete(c.static, m.instanceID)
	}
	m.profile = p
	if p.instanceID != "" {
		c.static[p.instanceID] = m
	}
}

// forget applies a tombstone.
func (c *consumers) forget(kind int16, part string) {
	switch kind {
	case consumerGroupKey:
		c.g.consumer = nil
		if c.g.idle() {
			c.g.s.drop(c.g)
		}
	case consumerMemberKey:
		if m := c.members[part]; m != nil {
			c.put(m, newConsumerMember(part).standing)
			delete(c.members, part)
			if c.static[m.instanceID] == m {
				delete(c.static, m.instanceID)
			}
		}
	case consumerTargetEpochKey:
		c.assignmentEpoch = 0
	case consumerTargetKey:
		delete(c.targets, part)
	case consumerCurrentKey:
		if m := c.members[part]; m != nil {
			c.put(m, newConsumerMember(part).standing)
		}
	case consumerRegexKey:
		delete(c.regexes, part)
	}
}
