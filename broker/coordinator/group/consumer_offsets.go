package group

import "moldau/broker/coordinator"

// commit commits offsets of a group of the consumer protocol.
func (c *consumers) commit(t *coordinator.Turn, p coordinator.Producer, r *CommitRequest) ([]error, error) {
	transactional := p != coordinator.NoProducer
	m, err := c.committer(r, transactional)
	if err != nil {
		return nil, err
	}
	if m != nil && r.Generation != m.epoch {
		stale := ErrStaleEpoch
		if m.classic != nil {
			stale = ErrIllegalGeneration
		}
		if r.Generation > m.epoch || r.Generation < 0 {
			return nil, stale
		}
		c.refuseStale(m, r, stale)
	}
	return c.g.s.commit(t, p, r), nil
}

// committer returns the member that commits; nil is nobody, who may commit in an empty group, and, as clients before KIP-447 do,
// in a transaction.
func (c *consumers) committer(r *CommitRequest, transactional bool) (*consumerMember, error) {
	if r.Generation < 0 && (len(c.members) == 0 || transactional && r.MemberID == "" && r.InstanceID == nil) {
		return nil, nil
	}
	m := c.members[r.MemberID]
	switch {
	case m == nil:
		return nil, ErrUnknownMember
	case !transactional && m.classic == nil && !r.KnowsEpochs:
		return nil, ErrOldVersion
	}
	return m, nil
}

// refuseStale marks the offsets of partitions that the member did not have all the time since the epoch in which it commits: they
// may be somebody else's since. The others are as good as ever (KIP-1251).
func (c *consumers) refuseStale(m *consumerMember, r *CommitRequest, stale error) {
	topics := c.g.s.c.Topics()
	for i := range r.Offsets {
		o := &r.Offsets[i]
		topic, ok := topics.ByName(o.Topic)
		since, has := m.assigned[topic.ID][o.Partition]
		if !has {
			since, has = m.revoking[topic.ID][o.Partition]
		}
		if !ok || !has || since > r.Generation {
			o.refused = stale
		}
	}
}

// mayFetch checks the member that asks for offsets, if it says which it is.
func (c *consumers) mayFetch(r *FetchRequest) error {
	if r.MemberID == nil && r.MemberEpoch < 0 {
		return nil
	}
	m := c.members[text(r.MemberID)]
	switch {
	case m == nil:
		return ErrUnknownMember
	case r.MemberEpoch == m.epoch:
		return nil
	case m.classic != nil:
		return ErrIllegalGeneration
	default:
		return ErrStaleEpoch
	}
}
