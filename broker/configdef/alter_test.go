package configdef

import (
	"errors"
	"maps"
	"testing"
)

func change(name string, op Op, value ...string) Change {
	c := Change{Name: name, Op: op}
	if len(value) > 0 {
		c.Value = &value[0]
	}
	return c
}

func TestCheckChanges(t *testing.T) {
	for _, c := range []struct {
		changes []Change
		want    string
	}{
		{[]Change{change("a", Set, "1"), change("b", Set, "1")}, ""},
		{[]Change{change("a", Set, "1"), change("a", Delete)}, "Error due to duplicate config keys"},
		{[]Change{change("a", Set)}, "Null value not supported for : a"},
		{[]Change{change("a", Append), change("b", Subtract)}, "Null value not supported for : a,b"},
		{[]Change{change("a", Delete)}, ""},
		{[]Change{change("a", 9, "1")}, "Unknown operation for config key a"},
	} {
		err := CheckChanges(c.changes)
		if text(err) != c.want || err != nil && !errors.Is(err, ErrRequest) {
			t.Errorf("%v: %v", c.changes, err)
		}
	}
}

func TestAlterTopic(t *testing.T) {
	current := map[string]string{"retention.ms": "5", "cleanup.policy": "compact"}
	before := maps.Clone(current)
	for _, c := range []struct {
		changes []Change
		want    map[string]string
		err     string
	}{
		{changes: []Change{change("segment.ms", Set, "7")}, want: map[string]string{"retention.ms": "5", "cleanup.policy": "compact", "segment.ms": "7"}},
		{changes: []Change{change("retention.ms", Delete)}, want: map[string]string{"cleanup.policy": "compact"}},
		{changes: []Change{change("nope", Delete)}, want: before},
		{changes: []Change{change("cleanup.policy", Append, "delete")}, want: map[string]string{"retention.ms": "5", "cleanup.policy": "compact,delete"}},
		{changes: []Change{change("cleanup.policy", Append, "compact, delete")}, want: map[string]string{"retention.ms": "5", "cleanup.policy": "compact,delete"}},
		{changes: []Change{change("cleanup.policy", Subtract, "compact")}, want: map[string]string{"retention.ms": "5", "cleanup.policy": ""}},
		{changes: []Change{change("cleanup.policy", Subtract, "delete")}, want: before},
		{changes: []Change{change("retention.ms", Append, "1")}, err: "Can't APPEND to key retention.ms because its type is not LIST."},
		{changes: []Change{change("retention.ms", Subtract, "1")}, err: "Can't SUBTRACT to key retention.ms because its type is not LIST."},
		{changes: []Change{change("foo", Set, "1")}, err: "Unknown topic config name: foo"},
		{changes: []Change{change("retention.ms", Set, "x")}, err: "Invalid value x for configuration retention.ms: Not a number of type LONG"},
	} {
		got, err := AlterTopic(current, c.changes, nil)
		if text(err) != c.err || err == nil && !maps.Equal(got, c.want) {
			t.Errorf("%v: %v, %v", c.changes, got, err)
		}
		if !maps.Equal(current, before) {
			t.Fatal("the overrides given were changed")
		}
	}
	// A list that isn't set begins with the default.
	got, err := AlterTopic(nil, []Change{change("cleanup.policy", Append, "compact")}, nil)
	if err != nil || got["cleanup.policy"] != "delete,compact" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReplace(t *testing.T) {
	current := map[string]string{"retention.ms": "5", "cleanup.policy": "compact"}
	got, err := AlterTopic(current, Replace(current, []Change{change("cleanup.policy", Set, "delete"), change("segment.ms", Set, "9")}), nil)
	if want := map[string]string{"cleanup.policy": "delete", "segment.ms": "9"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAlterBroker(t *testing.T) {
	for _, c := range []struct {
		change Change
		err    string
	}{
		{change("log.retention.ms", Set, "1000"), ""},
		{change("log.retention.ms", Delete), ""},
		{change("nobody.knows", Delete), ""}, // a leftover may always go
		{change("log.cleanup.policy", Append, "compact"), ""},
		{change("num.partitions", Set, "3"), "Cannot update these configs dynamically: [num.partitions]"},
		{change("num.partitions", Delete), "Cannot update these configs dynamically: [num.partitions]"},
		{change("log.retention.hours", Set, "3"), "Cannot update these configs dynamically: [log.retention.hours]"},
		{change("nobody.knows", Set, "3"), "Cannot update these configs dynamically: [nobody.knows]"},
		{change("log.retention.ms", Set, "x"), "Invalid value x for configuration log.retention.ms: Not a number of type LONG"},
		{change("min.insync.replicas", Set, "0"), "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1"},
	} {
		_, err := AlterBroker(map[string]string{"message.max.bytes": "1"}, []Change{c.change})
		if text(err) != c.err || err != nil && !errors.Is(err, ErrRequest) {
			t.Errorf("%+v: %v", c.change, err)
		}
	}
}

func TestAlterClientMetrics(t *testing.T) {
	for _, c := range []struct {
		change Change
		err    string
	}{
		{change("interval.ms", Set, "100"), ""},
		{change("interval.ms", Set, "1"), "Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)"},
		{change("interval.ms", Set, "x"), "Invalid value x for configuration interval.ms: Not a number of type INT"},
		{change("foo", Set, "1"), "Unknown client metrics configuration: foo"},
		{change("match", Set, "foo"), "Illegal client matching pattern: foo"},
		{change("match", Set, "foo=bar"), "Illegal client matching pattern: foo=bar"},
		{change("match", Set, "client_id=["), "Illegal client matching pattern: client_id=["},
		{change("match", Set, "client_id=a)(b"), "Illegal client matching pattern: client_id=a)(b"},
		{change("match", Set, "client_id=abc.*"), ""},
		{change("metrics", Append, "*"), ""},
	} {
		if _, err := AlterClientMetrics(nil, []Change{c.change}); text(err) != c.err {
			t.Errorf("%+v: %v", c.change, err)
		}
	}
}

func TestSubscriptionMatches(t *testing.T) {
	s, err := ParseSubscription(map[string]string{"match": "client_id=a.*, client_software_name=apache-kafka-java"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, software string
		want         bool
	}{
		{"abc", "apache-kafka-java", true},
		{"bac", "apache-kafka-java", false}, // the whole text has to match
		{"abc", "librdkafka", false},
	} {
		if got := s.Matches(map[string]string{"client_id": c.id, "client_software_name": c.software}); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
	all, err := ParseSubscription(nil)
	if err != nil || !all.Matches(nil) || all.Interval != DefaultPushInterval || len(all.Metrics) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
