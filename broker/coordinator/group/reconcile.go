package group

// reconcile takes a member as far towards its target as it can go now: what it has to give up is taken from it first, and the
// rest is given to it when nobody has it any more.
//
// owned is what the member says that it has; told says that it says so.
func reconcile(m *standing, target Partitions, epoch int32, owned Partitions, told bool, free func(TopicID, int32) bool) (standing, error) {
	r := reconciliation{m: m, target: target, epoch: epoch, owned: owned, told: told, free: free}
	switch m.state {
	case MemberStable:
		if m.epoch == epoch {
			return *m, nil
		}
		return r.step(m.epoch), nil
	case MemberUnrevoked:
		if r.owns(m.revoking) {
			return *m, nil
		}
		return r.step(m.epoch + 1), nil
	case MemberUnreleased:
		return r.step(m.epoch), nil
	default: // whoever wrote it knew more than we do: the member begins anew
		if !told || len(owned) > 0 {
			return *m, ErrFencedEpoch
		}
		return r.step(epoch), nil
	}
}

type reconciliation struct {
	m      *standing
	target Partitions
	epoch  int32
	owned  Partitions
	told   bool
	free   func(TopicID, int32) bool
}

// owns tells whether the member may still have one of some partitions.
func (r *reconciliation) owns(partitions held) bool {
	if !r.told {
		return true
	}
	for topic, list := range r.owned {
		for _, p := range list {
			if partitions.has(topic, p) {
				return true
			}
		}
	}
	return false
}

// step works out what the member has next. Its epoch stays at from while it has something to give up.
func (r *reconciliation) step(from int32) standing {
	kept, revoking := held{}, held{}
	for topic, partitions := range r.m.assigned {
		for p, epoch := range partitions {
			if r.target.Has(topic, p) {
				kept.put(topic, p, epoch)
			} else {
				revoking.put(topic, p, epoch)
			}
		}
	}
	if len(revoking) > 0 && r.owns(revoking) {
		return r.at(from, MemberUnrevoked, kept, revoking)
	}
	state := MemberStable
	for topic, list := range r.target {
		for _, p := range list {
			switch {
			case kept.has(topic, p):
			case r.free(topic, p):
				kept.put(topic, p, r.epoch)
			default:
				state = MemberUnreleased
			}
		}
	}
	return r.at(r.epoch, state, kept, held{})
}

func (r *reconciliation) at(epoch int32, state MemberState, assigned, revoking held) standing {
	next := standing{epoch: epoch, previous: r.m.previous, state: state, assigned: assigned, revoking: revoking}
	if epoch != r.m.epoch {
		next.previous = r.m.epoch
	}
	return next
}
