package partition

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"moldau/broker/configdef"
	"moldau/broker/metadata"
	"moldau/broker/storage"
)

// This file opens, changes and closes replicas as the metadata says. Everything here runs under Manager.turn.

// add makes a topic that is new here, with all of this node's replicas.
func (m *Manager) add(mt *metadata.Topic) {
	t := &Topic{Name: mt.Name, ID: mt.ID, Internal: mt.Internal}
	t.config.Store(m.topicConfig(mt))
	parts := make([]*Partition, len(mt.Partitions))
	m.fill(t, parts, mt.Partitions)
	t.parts.Store(&parts)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byName[t.Name] = t
	m.byID[t.ID] = t
}

// change brings a topic and its replicas up to date.
func (m *Manager) change(t *Topic, c *metadata.TopicChange) {
	if c.ConfigChanged {
		t.setConfig(m.topicConfig(c.Next))
	}
	parts := make([]*Partition, len(c.Next.Partitions))
	copy(parts, t.Partitions())
	for i := range c.Partitions {
		next := c.Partitions[i].Next
		if next == nil {
			continue // Kafka has no way to take partitions away
		}
		p := parts[next.Index]
		switch {
		case p == nil || p.log == nil: // fill opens it, or retryFailed
		case !m.isReplica(next):
			parts[next.Index] = nil
			m.discard(p, ErrNotLeader)
		default:
			m.assign(p, next)
		}
	}
	m.fill(t, parts, c.Next.Partitions)
	t.parts.Store(&parts)
}

// remove closes a deleted topic and discards its logs.
func (m *Manager) remove(id metadata.TopicID) {
	t, ok := m.byID[id]
	if !ok {
		return
	}
	m.mu.Lock()
	delete(m.byID, id)
	if m.byName[t.Name] == t {
		delete(m.byName, t.Name)
	}
	m.mu.Unlock()
	for _, p := range t.Partitions() {
		if p != nil {
			m.discard(p, ErrUnknown)
		}
	}
}

// discard ends all waits of a replica with err and deletes its log.
func (m *Manager) discard(p *Partition, err error) {
	p.close(err)
	if p.log == nil {
		return
	}
	if err := m.o.Engine.Delete(p.log); err != nil {
		m.o.Logger.Error("log cannot be deleted", "topic", p.topic.Name, "partition", p.index, "dir", p.log.Dir(), "err", err)
	}
}

func (m *Manager) isReplica(mp *metadata.Partition) bool {
	return slices.Contains(mp.Replicas, m.o.Self)
}

// fill opens the replicas that are missing in parts, several at a time.
func (m *Manager) fill(t *Topic, parts []*Partition, want []*metadata.Partition) {
	var missing []*metadata.Partition
	for i, mp := range want {
		if parts[i] == nil && m.isReplica(mp) {
			missing = append(missing, mp)
		}
	}
	work := make(chan *metadata.Partition)
	var workers sync.WaitGroup
	for range min(len(missing), 2*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for mp := range work {
				parts[mp.Index] = m.open(t, mp)
			}
		})
	}
	for _, mp := range missing {
		work <- mp
	}
	close(work)
	workers.Wait()
	for _, mp := range missing {
		if parts[mp.Index].log == nil {
			m.failed++
		}
	}
}

// open opens one replica and gives it its place. A replica whose log can't be opened answers everything with the reason.
func (m *Manager) open(t *Topic, mp *metadata.Partition) *Partition {
	l, err := m.openLog(storage.TopicPartition{Topic: t.Name, Partition: mp.Index}, storage.TopicID(t.ID), t.Config().Log)
	if err != nil {
		m.o.Logger.Error("log cannot be opened", "topic", t.Name, "partition", mp.Index, "err", err)
		return newBroken(t, mp.Index, err)
	}
	p := newPartition(t, mp.Index, l, m.o.Self, m.o.Strict)
	p.configure(t.Config())
	l.Watch(p)
	p.Flushed(l.FlushedEnd())
	m.assign(p, mp)
	return p
}

// openLog finds the log of a partition or makes it. A log that belongs to another topic of the same name is set aside.
func (m *Manager) openLog(tp storage.TopicPartition, id storage.TopicID, c storage.Config) (*storage.Log, error) {
	if l, ok := m.o.Engine.Log(tp); ok {
		switch l.TopicID() {
		case storage.TopicID{}: // the file that held it is gone or damaged; the name is all there is to go by
			if err := l.AdoptTopicID(id); err != nil {
				return nil, fmt.Errorf("adopt the log of %s: %w", tp, err)
			}
			m.o.Logger.Warn("log had lost its topic id", "log", tp, "topic_id", id, "dir", l.Dir())
			return l, nil
		case id:
			return l, nil
		}
		m.setAside(l, "it belongs to another topic of this name")
	}
	l, err := m.o.Engine.Create(tp, id, c)
	if err != nil {
		return nil, fmt.Errorf("create the log of %s: %w", tp, err)
	}
	return l, nil
}

// setAside renames a log that no partition of this node owns. It is not served and not deleted.
func (m *Manager) setAside(l *storage.Log, why string) {
	name, err := m.o.Engine.SetAside(l)
	if err != nil {
		m.o.Logger.Error("stray log cannot be renamed", "log", l.TopicPartition(), "dir", l.Dir(), "reason", why, "err", err)
		return
	}
	m.o.Logger.Warn("stray log was set aside", "log", l.TopicPartition(), "topic_id", l.TopicID(), "dir", name, "reason", why)
}

// assign gives a replica its place.
func (m *Manager) assign(p *Partition, mp *metadata.Partition) {
	err := p.assign(mp)
	if err != nil && !errors.Is(err, storage.ErrClosed) && !errors.Is(err, storage.ErrReadOnly) { // nothing is appended then
		m.o.Logger.Error("leader epoch could not be noted", "topic", p.topic.Name, "partition", p.index, "leader_epoch", mp.LeaderEpoch, "err", err)
	}
}

// concernsBroker tells whether configs in force on this broker changed.
func (m *Manager) concernsBroker(changed []metadata.Resource) bool {
	self := fmt.Sprint(m.o.Self)
	return slices.ContainsFunc(changed, func(r metadata.Resource) bool {
		return r.Type == metadata.BrokerResource && (r.Name == "" || r.Name == self)
	})
}

// reconfigure computes the configuration of all topics again after the broker's own has changed.
func (m *Manager) reconfigure(img *metadata.Image) {
	if err := m.setBrokerConfig(img); err != nil {
		m.o.Logger.Error("changed broker configs are not applied to topics", "err", err)
		return
	}
	for t := range m.Topics() {
		if mt, ok := img.TopicByID(t.ID); ok {
			t.setConfig(m.topicConfig(mt))
		}
	}
}

// setBrokerConfig notes the broker configs in force, and what they mean for topics without overrides.
func (m *Manager) setBrokerConfig(img *metadata.Image) error {
	inForce := configdef.Layers{
		Broker:  img.Config(metadata.BrokerResource, fmt.Sprint(m.o.Self)),
		Cluster: img.Config(metadata.BrokerResource, ""),
		Static:  m.o.Static,
	}.InForce()
	c, err := configdef.ParseTopic(nil, inForce)
	if err != nil {
		return fmt.Errorf("topic defaults: %w", err)
	}
	m.inForce, m.defaults = maps.Clone(inForce), &c
	return m.setCleaner(inForce)
}

// setCleaner passes on how logs are compacted, if that is something else than before.
func (m *Manager) setCleaner(inForce map[string]string) error {
	c, err := configdef.ParseCleaner(inForce)
	if err != nil {
		return fmt.Errorf("log cleaner: %w", err)
	}
	if m.cleaner == nil || *m.cleaner != c {
		m.o.Engine.SetCleaner(c)
		m.cleaner = &c
	}
	return nil
}

// topicConfig returns the configuration of a topic. Overrides were checked before they were stored; should this version
// not understand one, the topic gets the broker's configuration.
func (m *Manager) topicConfig(mt *metadata.Topic) *configdef.Topic {
	if len(mt.Config) == 0 {
		return m.defaults
	}
	c, err := configdef.ParseTopic(mt.Config, m.inForce)
	if err != nil {
		m.o.Logger.Error("topic configuration is not understood, the broker's is used", "topic", mt.Name, "err", err)
		return m.defaults
	}
	return &c
}
