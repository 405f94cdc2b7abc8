package group

import (
	"maps"
	"slices"
	"time"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group/assignor"
)

// update takes over what a member says of itself, raises the epoch if that or the topics have changed what there is to assign, and
// assigns. It returns the member as it is in the group from now on.
func (c *consumers) update(t *coordinator.Turn, m *consumerMember, says *profile) (*consumerMember, error) {
	changed := !slices.Equal(m.topics, says.topics) || m.regex != says.regex
	if c.members[m.id] == nil || !m.profile.equal(says) {
		if len(c.memberKey(m.id))+len(says.encode()) > t.RecordBytesMax {
			return nil, ErrSubscriptionTooLarge
		}
		if err := c.learn(t, says.regex); err != nil {
			return nil, err
		}
		c.appendMember(t, m.id, says)
		m = c.members[m.id]
		c.touch(m, t.Now) // whatever comes of its request
	}
	c.refresh(t, changed)
	return m, c.retarget(t)
}

// refresh looks whether what there is to assign has changed: changed says that subscriptions have. If so, the epoch is raised.
func (c *consumers) refresh(t *coordinator.Turn, changed bool) {
	topics := c.g.s.c.Topics()
	if !changed && c.epoch > 0 && c.topicsRev == topics.Rev() {
		return
	}
	matched, whole := c.resolve(t, topics)
	if whole {
		c.topicsRev = topics.Rev()
	}
	hash := hashTopics(topics, c.subscribed())
	switch {
	case changed || matched || hash != c.topicsHash:
		c.raise(t, hash)
	case c.epoch == 0: // the first member, which subscribes to nothing
		c.appendEpoch(t, firstEpoch, hash)
	}
}

// firstEpoch is the epoch of a group before anything was to be assigned.
const firstEpoch = 1

// raise begins the next epoch of the group.
func (c *consumers) raise(t *coordinator.Turn, hash int64) {
	c.appendEpoch(t, max(c.epoch, firstEpoch)+1, hash)
}

// retarget assigns, if the epoch was raised since.
func (c *consumers) retarget(t *coordinator.Turn) error {
	if c.epoch <= c.assignmentEpoch {
		return nil
	}
	targets := c.g.s.c.assignor(c.assignor()).Assign(c.spec(c.g.s.c.Topics()))
	members := slices.Sorted(maps.Keys(c.members))
	for _, id := range members {
		// What the member has while it moves from target to target is no more than both of them, with an epoch each.
		if 4*(len(encodeTarget(targets[id]))+len(c.memberKey(id))) > t.RecordBytesMax {
			return ErrAssignmentTooLarge
		}
	}
	for _, id := range members {
		if had, ok := c.targets[id]; !ok || !had.Equal(targets[id]) {
			c.appendTarget(t, id, targets[id])
		}
	}
	c.appendTargetEpoch(t, c.epoch, t.Now)
	return nil
}

// spec is what the assignor needs to know.
func (c *consumers) spec(topics Topics) *assignor.Spec {
	s := &assignor.Spec{Members: make(map[string]assignor.Member, len(c.members)), Topics: make(map[TopicID]int32)}
	ids := make(map[string][]TopicID) // of subscriptions, many of which are the same
	for _, m := range c.members {
		key := joinNames(m.topics, m.regex)
		list, ok := ids[key]
		if !ok {
			for _, name := range c.topicsOf(&m.profile) {
				if topic, ok := topics.ByName(name); ok {
					s.Topics[topic.ID] = topic.Partitions
					list = append(list, topic.ID)
				}
			}
			slices.SortFunc(list, assignor.CompareTopics)
			ids[key] = list
		}
		s.Members[m.id] = assignor.Member{InstanceID: m.instanceID, Topics: list, Assigned: c.targets[m.id]}
	}
	return s
}

// joinNames is a key for a subscription. Names of topics have no zero bytes.
func joinNames(names []string, regex string) string {
	n := len(regex)
	for _, name := range names {
		n += len(name) + 1
	}
	b := make([]byte, 0, n)
	for _, name := range names {
		b = append(append(b, name...), 0)
	}
	return string(append(b, regex...))
}

// regexPause is how long the regular expressions of a group are left alone after they were matched with all topics, so that
// topics that come in numbers do not keep the coordinator busy.
const regexPause = time.Second

// learn matches a regular expression that nobody has had so far with the topics there are.
func (c *consumers) learn(t *coordinator.Turn, expression string) error {
	if _, known := c.regexes[expression]; known || expression == "" {
		return nil
	}
	topics := c.g.s.c.Topics()
	names := matchTopics(expression, topics)
	if !c.appendRegex(t, expression, names, topics.Rev()) {
		return ErrSubscriptionTooLarge
	}
	return nil
}

// resolve matches the regular expressions with the topics there are, when these have changed. whole is false where that was put
// off. changed says that one of them now means other topics. Should these not fit into a record, it stays as it was.
func (c *consumers) resolve(t *coordinator.Turn, topics Topics) (changed, whole bool) {
	c.dropRegexes(t)
	switch {
	case len(c.regexes) == 0 || c.topicsRev == topics.Rev():
		return false, true
	case !c.resolved.IsZero() && t.Now.Sub(c.resolved) < regexPause:
		return false, false
	}
	c.resolved = t.Now
	for _, expression := range sortedKeys(c.regexes) {
		names := matchTopics(expression, topics)
		if !slices.Equal(c.regexes[expression], names) && c.appendRegex(t, expression, names, topics.Rev()) {
			changed = true
		}
	}
	return changed, true
}
