package configdef

import (
	"maps"
	"slices"
	"strings"
)

// Op is what a change does to a config. The numbers are those of IncrementalAlterConfigs.
type Op int8

// The operations of KIP-339.
const (
	Set      Op = 0
	Delete   Op = 1
	Append   Op = 2
	Subtract Op = 3
)

// String returns Kafka's name of the operation.
func (o Op) String() string {
	switch o {
	case Set:
		return "SET"
	case Delete:
		return "DELETE"
	case Append:
		return "APPEND"
	case Subtract:
		return "SUBTRACT"
	}
	return "UNKNOWN"
}

// Change is one change of one config.
type Change struct {
	Name string
	Op   Op
	// Value is nil for null, which only Delete permits.
	Value *string
}

// Replace returns the changes that turn the overrides that are there into those given, and nothing else: the meaning of
// AlterConfigs.
func Replace(current map[string]string, given []Change) []Change {
	changes := slices.Clone(given)
	for _, name := range slices.Sorted(maps.Keys(current)) {
		if !slices.ContainsFunc(given, func(c Change) bool { return c.Name == name }) {
			changes = append(changes, Change{Name: name, Op: Delete})
		}
	}
	return changes
}

// CheckChanges refuses lists that name a config twice, leave out a value, or use an operation that isn't there.
func CheckChanges(changes []Change) error {
	seen := make(map[string]bool, len(changes))
	var null []string
	for _, c := range changes {
		if seen[c.Name] {
			return refused("Error due to duplicate config keys")
		}
		seen[c.Name] = true
		if c.Op < Set || c.Op > Subtract {
			return refused("Unknown operation for config key " + c.Name)
		}
		if c.Value == nil && c.Op != Delete {
			null = append(null, c.Name)
		}
	}
	if null != nil {
		return refused("Null value not supported for : " + strings.Join(null, ","))
	}
	return nil
}

// AlterTopic returns the overrides of a topic after the changes, which CheckChanges must have passed. broker are the
// broker's configs in force. The map given is not changed.
func AlterTopic(current map[string]string, changes []Change, broker map[string]string) (map[string]string, error) {
	next, err := apply(current, changes, TopicKey)
	if err != nil {
		return nil, err
	}
	return next, ValidateTopic(next, broker)
}

// AlterClientMetrics returns the configs of a client metrics subscription after the changes, which CheckChanges must have
// passed. The map given is not changed.
func AlterClientMetrics(current map[string]string, changes []Change) (map[string]string, error) {
	next, err := apply(current, changes, ClientMetricsKey)
	if err != nil {
		return nil, err
	}
	_, err = ParseSubscription(next)
	return next, err
}

// AlterBroker returns the dynamic configs of one broker, or the default of all, after the changes, which CheckChanges
// must have passed. The map given is not changed.
func AlterBroker(current map[string]string, changes []Change) (map[string]string, error) {
	var fixed []string
	for _, c := range changes {
		if k, ok := BrokerKey(c.Name); (!ok || k.Scope == ReadOnly) && (c.Op != Delete || ok) {
			fixed = append(fixed, c.Name)
		}
	}
	if fixed != nil {
		slices.Sort(fixed)
		return nil, refused("Cannot update these configs dynamically: [" + strings.Join(fixed, ", ") + "]")
	}
	next, err := apply(current, changes, BrokerKey)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if k, ok := BrokerKey(name); ok {
			if _, err := k.Parse(next[name]); err != nil {
				return nil, refused(err.Error())
			}
		}
	}
	return next, nil
}

// ValidateBroker tells whether a broker may start with these configs: that all values can be read. Names that this table
// doesn't know are somebody else's.
func ValidateBroker(static map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(static)) {
		if k, ok := BrokerKey(name); ok {
			if _, err := k.Parse(static[name]); err != nil {
				return err
			}
		}
	}
	return ValidateTopic(nil, static)
}

// apply makes the changes. Values are not checked here.
func apply(current map[string]string, changes []Change, find func(string) (*Key, bool)) (map[string]string, error) {
	next := maps.Clone(current)
	if next == nil {
		next = map[string]string{}
	}
	for _, c := range changes {
		switch c.Op {
		case Set:
			next[c.Name] = *c.Value
		case Delete:
			delete(next, c.Name)
		case Append, Subtract:
			k, ok := find(c.Name)
			if !ok || k.Type != List {
				return nil, invalid("Can't " + c.Op.String() + " to key " + c.Name + " because its type is not LIST.")
			}
			next[c.Name] = listAfter(k, next, c)
		}
	}
	return next, nil
}

// listAfter returns the text of a list with items appended or taken away. A list that isn't set begins with the default.
func listAfter(k *Key, current map[string]string, c Change) string {
	text, ok := current[k.Name]
	if !ok {
		text = k.Default
	}
	items := slices.Clone(splitList(strings.TrimSpace(text)))
	for _, item := range splitList(strings.TrimSpace(*c.Value)) {
		at := slices.Index(items, item)
		switch {
		case c.Op == Append && at < 0:
			items = append(items, item)
		case c.Op == Subtract && at >= 0:
			items = slices.Delete(items, at, at+1)
		}
	}
	return strings.Join(items, ",")
}
