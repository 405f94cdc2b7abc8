package group

import "moldau/broker/coordinator"

// Heartbeat notes that a member is alive, and returns what it has to know: ErrRebalanceInProgress while it should join.
func (s *Shard) Heartbeat(t *coordinator.Turn, groupID, memberID string, instanceID *string, generation int32) error {
	if g := s.groups[groupID]; g != nil && g.consumer != nil {
		defer g.settle()
		return g.consumer.heartbeatClassic(t, memberID, instanceID, generation)
	}
	g, m, err := s.member(groupID, memberID, instanceID)
	switch {
	case err != nil:
		return err
	case generation != g.generation:
		return ErrIllegalGeneration
	case g.state == Empty:
		return ErrUnknownMember
	}
	g.touch(m, t.Now)
	if g.state == PreparingRebalance {
		return ErrRebalanceInProgress
	}
	return nil
}

// member finds the member that a request speaks for.
func (s *Shard) member(groupID, memberID string, instanceID *string) (*group, *member, error) {
	if groupID == "" {
		return nil, nil, ErrInvalidGroupID
	}
	g := s.groups[groupID]
	if g == nil {
		return nil, nil, ErrUnknownMember
	}
	m, err := g.find(memberID, instanceID)
	return g, m, err
}

// Leaving names a member that leaves: by its id, or, removed by an administrator, by its instance id alone.
type Leaving struct {
	MemberID   string
	InstanceID *string
}

// Leave removes members, and returns an error for each that is not in the group.
func (s *Shard) Leave(t *coordinator.Turn, groupID string, members []Leaving) ([]error, error) {
	if groupID == "" {
		return nil, ErrInvalidGroupID
	}
	g := s.groups[groupID]
	if g != nil && g.consumer != nil {
		defer g.settle()
		return g.consumer.leaveBy(t, members), nil
	}
	answers, left := make([]error, len(members)), false
	for i, l := range members {
		if g == nil {
			answers[i] = ErrUnknownMember
			continue
		}
		answers[i] = g.leave(l)
		left = left || answers[i] == nil
	}
	if left {
		g.changed(t)
	}
	if g != nil && g.idle() && !g.stored {
		s.drop(g)
	}
	return answers, nil
}

func (g *group) leave(l Leaving) error {
	if l.MemberID == "" {
		if l.InstanceID == nil || g.static[*l.InstanceID] == nil {
			return ErrUnknownMember
		}
		g.remove(g.static[*l.InstanceID])
		return nil
	}
	if _, ok := g.pending[l.MemberID]; ok {
		delete(g.pending, l.MemberID)
		return nil
	}
	m, err := g.find(l.MemberID, l.InstanceID)
	if err != nil {
		return err
	}
	g.remove(m)
	return nil
}
