package configdef

import (
	"fmt"
	"sync"
	"time"
)

var groupConfigTable = sync.OnceValue(func() *table { return newTable(groupConfigKeys()) })

// GroupKeys returns the definitions of the configs of groups by name. The caller must not change them.
func GroupKeys() []Key { return groupConfigTable().keys }

// GroupKey returns the definition of one config of groups.
func GroupKey(name string) (*Key, bool) { return groupConfigTable().find(name) }

func groupConfigKeys() []Key {
	return []Key{
		{
			Name: "consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: atLeast(1), Importance: Medium,
			Doc: "How often members of the group are told to send a heartbeat, if it has the consumer protocol.",
		},
		{
			Name: "consumer.session.timeout.ms", Type: Int, Default: "45000", Valid: atLeast(1), Importance: Medium,
			Doc: "How long a member of the group may be silent before it is taken for dead, if it has the consumer protocol.",
		},
	}
}

// GroupLimits are the values of a broker for groups of the consumer protocol, and the bounds for those of single groups.
type GroupLimits struct {
	Session, SessionMin, SessionMax       time.Duration
	Heartbeat, HeartbeatMin, HeartbeatMax time.Duration
}

// GroupTimes returns the session timeout and the heartbeat interval of a group with these configs. What was set before the
// broker's bounds were is pulled within them.
func (l *GroupLimits) GroupTimes(overrides map[string]string) (session, heartbeat time.Duration) {
	session, heartbeat = l.Session, l.Heartbeat
	if text, ok := overrides["consumer.session.timeout.ms"]; ok {
		session = min(max(millis("consumer.session.timeout.ms", text, session), l.SessionMin), l.SessionMax)
	}
	if text, ok := overrides["consumer.heartbeat.interval.ms"]; ok {
		heartbeat = min(max(millis("consumer.heartbeat.interval.ms", text, heartbeat), l.HeartbeatMin), l.HeartbeatMax)
	}
	return session, heartbeat
}

// millis reads a stored value of a group; what cannot be read is what the broker says.
func millis(name, text string, or time.Duration) time.Duration {
	k, ok := GroupKey(name)
	if !ok {
		return or
	}
	v, err := k.Parse(text)
	if err != nil {
		return or
	}
	return time.Duration(v.Int()) * time.Millisecond
}

// AlterGroup returns the configs of a group after the changes, which CheckChanges must have passed. The map given is not changed.
func AlterGroup(current map[string]string, changes []Change, limits *GroupLimits) (map[string]string, error) {
	for _, c := range changes {
		if _, ok := GroupKey(c.Name); !ok {
			return nil, invalid("Unknown group config name: " + c.Name)
		}
	}
	next, err := apply(current, changes, GroupKey)
	if err != nil {
		return nil, err
	}
	for i := range GroupKeys() {
		k := &GroupKeys()[i]
		if text, ok := next[k.Name]; ok {
			if _, err := k.Parse(text); err != nil {
				return nil, err
			}
		}
	}
	session := millis("consumer.session.timeout.ms", next["consumer.session.timeout.ms"], limits.Session)
	heartbeat := millis("consumer.heartbeat.interval.ms", next["consumer.heartbeat.interval.ms"], limits.Heartbeat)
	return next, limits.check(session, heartbeat)
}

func (l *GroupLimits) check(session, heartbeat time.Duration) error {
	within := func(name string, v, low, high time.Duration) error {
		if v >= low && v <= high {
			return nil
		}
		return invalid(fmt.Sprintf("%s must be in the range %d to %d inclusive.", name, low.Milliseconds(), high.Milliseconds()))
	}
	if err := within("consumer.heartbeat.interval.ms", heartbeat, l.HeartbeatMin, l.HeartbeatMax); err != nil {
		return err
	}
	if err := within("consumer.session.timeout.ms", session, l.SessionMin, l.SessionMax); err != nil {
		return err
	}
	if session <= heartbeat {
		return invalid("consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms")
	}
	return nil
}

// DescribeGroup returns all configs of a group, by name.
func DescribeGroup(overrides map[string]string, limits *GroupLimits) []Entry {
	keys := GroupKeys()
	entries := make([]Entry, 0, len(keys))
	for i := range keys {
		k := &keys[i]
		e := k.entry()
		of := limits.Heartbeat
		if k.Name == "consumer.session.timeout.ms" {
			of = limits.Session
		}
		e.Value = k.show(fmt.Sprint(of.Milliseconds()))
		if text, ok := overrides[k.Name]; ok {
			e.Value = k.canonical(text)
			e.Synonyms = []EntrySynonym{{k.Name, e.Value, Group}}
		}
		e.settle()
		entries = append(entries, e)
	}
	return entries
}
