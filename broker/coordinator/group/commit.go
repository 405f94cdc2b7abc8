package group

import (
	"time"

	"moldau/broker/coordinator"
)

// CommitRequest commits offsets. The generation is -1 where the committer is not a member.
type CommitRequest struct {
	Group      string
	Generation int32
	MemberID   string
	InstanceID *string
	// KnowsEpochs says that the version of the request knows member epochs (KIP-848).
	KnowsEpochs bool
	// Retention is how long the offsets live at least, as clients before KIP-211 say; negative: the broker's retention.
	Retention time.Duration
	Offsets   []PartitionOffset
}

// PartitionOffset is an offset to commit.
type PartitionOffset struct {
	Topic       string
	TopicID     [16]byte
	Partition   int32
	Offset      int64
	LeaderEpoch int32
	Metadata    string

	refused error // why the group does not take it
}

// CommitOffsets commits offsets and returns an error for each, or one for all. ErrNotFound says that only a member may
// commit so, and there is no such group.
func (s *Shard) CommitOffsets(t *coordinator.Turn, r *CommitRequest) ([]error, error) {
	g := s.groups[r.Group]
	switch {
	case g != nil && g.consumer != nil:
		return g.consumer.commit(t, coordinator.NoProducer, r)
	case g != nil:
		if err := g.mayCommit(t, r.Generation, r.MemberID, r.InstanceID, false); err != nil {
			return nil, err
		}
	case r.Generation >= 0:
		return nil, ErrNotFound
	}
	return s.commit(t, coordinator.NoProducer, r), nil
}

// CommitTxnOffsets commits offsets as part of a producer's transaction: they count once its marker comes (KIP-98). The
// member is checked where the client tells one (KIP-447). ErrNotFound says that only a member may commit so, and there is no such group.
func (s *Shard) CommitTxnOffsets(t *coordinator.Turn, p coordinator.Producer, r *CommitRequest) ([]error, error) {
	g := s.groups[r.Group]
	switch {
	case g != nil && g.consumer != nil:
		return g.consumer.commit(t, p, r)
	case g != nil:
		if err := g.mayCommit(t, r.Generation, r.MemberID, r.InstanceID, true); err != nil {
			return nil, err
		}
	case r.Generation >= 0:
		return nil, ErrNotFound
	}
	return s.commit(t, p, r), nil
}

// mayCommit tells whether the group takes offsets from a committer. Those of members keep their session alive.
func (g *group) mayCommit(t *coordinator.Turn, generation int32, memberID string, instanceID *string, transactional bool) error {
	if generation < 0 && g.state == Empty {
		return nil
	}
	if generation < 0 && memberID == "" && instanceID == nil {
		if transactional {
			return nil
		}
		return ErrUnknownMember
	}
	m, err := g.find(memberID, instanceID)
	switch {
	case err != nil:
		return err
	case generation != g.generation:
		return ErrIllegalGeneration
	case g.state == CompletingRebalance && !transactional:
		return ErrRebalanceInProgress
	}
	if !transactional && (g.state == Stable || g.state == PreparingRebalance) {
		g.touch(m, t.Now)
	}
	return nil
}

func (s *Shard) commit(t *coordinator.Turn, p coordinator.Producer, r *CommitRequest) []error {
	errs := make([]error, len(r.Offsets))
	for i := range r.Offsets {
		o := &r.Offsets[i]
		if o.refused != nil {
			errs[i] = o.refused
			continue
		}
		if len(o.Metadata) > s.c.OffsetMetadataMaxBytes {
			errs[i] = ErrMetadataTooLarge
			continue
		}
		v := Offset{Offset: o.Offset, LeaderEpoch: max(o.LeaderEpoch, -1), Metadata: o.Metadata, TopicID: o.TopicID, committed: t.Now}
		if r.Retention >= 0 {
			v.expires = t.Now.Add(r.Retention)
		}
		key, value := offsetKey(r.Group, topicPartition{o.Topic, o.Partition}), v.encode()
		if len(key)+len(value) > t.RecordBytesMax {
			errs[i] = ErrCommitTooLarge
			continue
		}
		t.AppendAs(p, key, value)
	}
	return errs
}
