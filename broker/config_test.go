package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"moldau/broker/configdef"
)

// alter changes one configuration.
func (n *testNode) alter(t ResourceType, name string, changes ...configdef.Change) error {
	n.t.Helper()
	return n.alterAll(ConfigAlteration{ConfigResource: ConfigResource{t, name}, Changes: changes}, false)
}

func (n *testNode) alterAll(a ConfigAlteration, validateOnly bool) error {
	n.t.Helper()
	answers := n.AlterConfigs(n.t.Context(), testCaller, []ConfigAlteration{a}, validateOnly)
	if len(answers) != 1 || answers[0].ConfigResource != a.ConfigResource {
		n.t.Fatalf("answers %+v", answers)
	}
	return answers[0].Err
}

// describe returns some configs as "name=value source".
func (n *testNode) describe(t ResourceType, name string, keys ...string) ([]string, error) {
	n.t.Helper()
	answers := n.DescribeConfigs(testCaller, []ConfigQuery{{ConfigResource{t, name}, keys}})
	if len(answers) != 1 || answers[0].ConfigResource != (ConfigResource{t, name}) {
		n.t.Fatalf("answers %+v", answers)
	}
	var out []string
	for _, e := range answers[0].Entries {
		value := "null"
		if e.Value != nil {
			value = *e.Value
		}
		out = append(out, fmt.Sprintf("%s=%s %d", e.Name, value, e.Source))
	}
	return out, answers[0].Err
}

func op(name string, o configdef.Op, value string) configdef.Change {
	return configdef.Change{Name: name, Op: o, Value: &value}
}

// The texts are those of Apache Kafka 4.4.0 for the same requests.
func TestAlterConfigsAnswersAsKafka(t *testing.T) {
	n := startNode(t, func(_ *Config, d *Deps) { d.LogLevel = new(slog.LevelVar) })
	n.topic("ok", 1)
	const badName = "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
	one := set("retention.ms", "1")
	for _, c := range []struct {
		what    string
		typ     ResourceType
		name    string
		changes []configdef.Change
		kind    error
		text    string
	}{
		{"set", TopicResource, "ok", one, nil, ""},
		{"bad value", TopicResource, "ok", set("retention.ms", "abc"), ErrInvalidConfig, "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
		{"null", TopicResource, "ok", set("retention.ms", "<null>"), ErrInvalidRequest, "Null value not supported for : retention.ms"},
		{"unknown", TopicResource, "ok", set("foo", "1"), ErrInvalidConfig, "Unknown topic config name: foo"},
		{"delete of an unknown", TopicResource, "ok", []configdef.Change{op("foo", configdef.Delete, "")}, nil, ""},
		{"no such topic", TopicResource, "nope", one, ErrUnknownTopicOrPartition, "The topic 'nope' does not exist."},
		{"bad name", TopicResource, "a b", one, ErrInvalidTopic, badName},
		{"no name", TopicResource, "", one, ErrInvalidRequest, "Default topic resources are not allowed."},
		{"twice", TopicResource, "ok", append(set("retention.ms", "1"), one...), ErrInvalidRequest, "Error due to duplicate config keys"},
		{"append to no list", TopicResource, "ok", []configdef.Change{op("retention.ms", configdef.Append, "1")}, ErrInvalidConfig, "Can't APPEND to key retention.ms because its type is not LIST."},
		{"type 0", 0, "ok", one, ErrInvalidRequest, "Unknown resource type 0"},
		{"type 99", 99, "ok", one, ErrInvalidRequest, "Unknown resource type 99"},
		{"broker", BrokerResource, "1", set("log.retention.ms", "1000"), nil, ""},
		{"all brokers", BrokerResource, "", set("log.retention.ms", "1000"), nil, ""},
		{"broker, read-only", BrokerResource, "1", set("num.partitions", "3"), ErrInvalidRequest, "Cannot update these configs dynamically: [num.partitions]"},
		{"broker, bad value", BrokerResource, "1", set("log.retention.ms", "x"), ErrInvalidRequest, "Invalid value x for configuration log.retention.ms: Not a number of type LONG"},
		{"another broker", BrokerResource, "2", set("log.retention.ms", "1"), ErrInvalidRequest, "Unexpected broker id, expected 1, but received 2"},
		{"broker x", BrokerResource, "x", set("log.retention.ms", "1"), ErrInvalidRequest, "Node id must be an integer, but it is: x"},
		{"logger", BrokerLoggerResource, "1", set("root", "DEBUG"), nil, ""},
		{"logger, level", BrokerLoggerResource, "1", set("root", "FOO"), ErrInvalidConfig, "Cannot set the log level of root to FOO as it is not a supported log level. Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN"},
		{"logger, name", BrokerLoggerResource, "1", set("nope", "INFO"), ErrInvalidConfig, "Logger nope does not exist!"},
		{"logger, delete", BrokerLoggerResource, "1", []configdef.Change{op("root", configdef.Delete, "")}, ErrInvalidRequest, "Removing the log level of the root logger is not allowed"},
		{"logger, append", BrokerLoggerResource, "1", []configdef.Change{op("root", configdef.Append, "INFO")}, ErrInvalidRequest, "APPEND operation is not allowed for the BROKER_LOGGER resource"},
		{"another logger", BrokerLoggerResource, "2", set("root", "INFO"), ErrInvalidRequest, "Unexpected node id. Expected 1, but received 2"},
		{"logger without name", BrokerLoggerResource, "", set("root", "INFO"), ErrInvalidRequest, "Node id must be an integer, but it is: "},
		{"client metrics", ClientMetricsResource, "sub", set("interval.ms", "1000", "match", "client_id=abc.*"), nil, ""},
		{"client metrics, unknown", ClientMetricsResource, "sub", set("foo", "1"), ErrInvalidRequest, "Unknown client metrics configuration: foo"},
		{"client metrics, interval", ClientMetricsResource, "sub", set("interval.ms", "1"), ErrInvalidRequest, "Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)"},
		{"client metrics, match", ClientMetricsResource, "sub", set("match", "foo"), ErrInvalidConfig, "Illegal client matching pattern: foo"},
		{"client metrics, no name", ClientMetricsResource, "", set("interval.ms", "1000"), ErrInvalidRequest, "Subscription name can't be empty"},
	} {
		a := ConfigAlteration{ConfigResource: ConfigResource{c.typ, c.name}, Changes: c.changes}
		refused(t, c.what+", checked", n.alterAll(a, true), c.kind, c.text)
		refused(t, c.what, n.alterAll(a, false), c.kind, c.text)
	}
	a := ConfigAlteration{ConfigResource: ConfigResource{BrokerLoggerResource, "1"}, Changes: set("root", "INFO"), Replace: true}
	refused(t, "replaced logger", n.alterAll(a, false), ErrInvalidRequest, "Unknown resource type 8")
	twice := ConfigAlteration{ConfigResource: ConfigResource{TopicResource, "ok"}, Changes: one}
	for _, got := range n.AlterConfigs(t.Context(), testCaller, []ConfigAlteration{twice, twice}, false) {
		refused(t, "resource twice", got.Err, ErrInvalidRequest, "Each resource must appear at most once.")
	}
}

func TestDescribeConfigsAnswersAsKafka(t *testing.T) {
	n := startNode(t)
	for _, c := range []struct {
		what string
		typ  ResourceType
		name string
		kind error
		text string
	}{
		{"no such topic", TopicResource, "nope", ErrUnknownTopicOrPartition, "This server does not host this topic-partition."}, // Kafka: empty
		{"no name", TopicResource, "", ErrInvalidTopic, "Topic name is invalid: the empty string is not allowed"},
		{"another broker", BrokerResource, "2", ErrInvalidRequest, "Unexpected broker id, expected 1 or empty string, but received 2"},
		{"broker x", BrokerResource, "x", ErrInvalidRequest, "Broker id must be an integer, but it is: x"},
		{"another logger", BrokerLoggerResource, "2", ErrInvalidRequest, "Unexpected broker id, expected 1 but received 2"},
		{"no logger", BrokerLoggerResource, "", ErrInvalidRequest, "Broker id must not be empty"},
		{"no subscription", ClientMetricsResource, "", ErrInvalidRequest, "Client metrics subscription name must not be empty"},
		{"type 0", 0, "x", ErrInvalidRequest, "Unknown resource type 0"}, // Kafka: a long text about malformed requests
	} {
		_, err := n.describe(c.typ, c.name)
		refused(t, c.what, err, c.kind, c.text)
	}
}

func TestDescribeConfigs(t *testing.T) {
	level := new(slog.LevelVar)
	n := startNode(t, func(c *Config, d *Deps) {
		c.Properties = map[string]string{"log.retention.hours": "24", "message.max.bytes": "5000", "secret.key": "x"}
		d.LogLevel = level
	})
	n.topic("ok", 1, "segment.ms", "7")
	check := func(typ ResourceType, name string, keys []string, want ...string) {
		t.Helper()
		got, err := n.describe(typ, name, keys...)
		must(t, err)
		equal(t, name, got, want)
	}
	check(TopicResource, "ok", []string{"segment.ms", "retention.ms", "foo", "max.message.bytes", "flush.ms"},
		"flush.ms=9223372036854775807 5", "max.message.bytes=5000 4", "retention.ms=86400000 4", "segment.ms=7 1")
	check(BrokerResource, "1", []string{"log.retention.hours", "secret.key", "num.partitions", "log.retention.ms"},
		"log.retention.hours=24 4", "log.retention.ms=null 5", "num.partitions=1 5", "secret.key=null 4")
	check(BrokerResource, "1", []string{"log.dirs", "advertised.listeners", "node.id", "broker.rack"},
		"advertised.listeners=PLAINTEXT://127.0.0.1:9092 4", "broker.rack=null 5", "log.dirs=/node/log 4", "node.id=1 5")
	check(BrokerResource, "", nil)
	check(BrokerLoggerResource, "1", nil, "root=INFO 6")
	check(ClientMetricsResource, "nope", nil, "interval.ms=300000 5", "match= 5", "metrics= 5")
	all, err := n.describe(TopicResource, "ok")
	if err != nil || len(all) != len(configdef.TopicKeys())-1 {
		t.Errorf("%d configs, %v", len(all), err)
	}

	must(t, n.alter(BrokerResource, "", set("log.retention.ms", "2000")...))
	must(t, n.alter(BrokerResource, "1", set("log.retention.ms", "1000")...))
	must(t, n.alter(BrokerLoggerResource, "1", set("root", "warn")...))
	check(TopicResource, "ok", []string{"retention.ms"}, "retention.ms=1000 2")
	check(BrokerResource, "", nil, "log.retention.ms=2000 3")
	check(BrokerLoggerResource, "1", nil, "root=WARN 6")
	if level.Level() != slog.LevelWarn {
		t.Errorf("level %v", level)
	}
}

// What a topic or a broker is told takes effect at once, on logs that are open.
func TestAlterConfigsTakesEffect(t *testing.T) {
	n := startNode(t)
	set1, unset := n.topic("set", 1, "retention.ms", "5"), n.topic("unset", 1)
	retention := func(topic TopicRef) int64 { return n.partitionOf(topic, 0).Log().Config().RetentionMs }
	if retention(set1) != 5 || retention(unset) != 604800000 {
		t.Fatalf("%d and %d", retention(set1), retention(unset))
	}
	must(t, n.alter(BrokerResource, "", set("log.retention.ms", "77")...))
	if retention(set1) != 5 || retention(unset) != 77 {
		t.Errorf("after the cluster's change: %d and %d", retention(set1), retention(unset))
	}
	must(t, n.alter(BrokerResource, "1", set("log.retention.ms", "78")...))
	must(t, n.alter(TopicResource, "set", op("retention.ms", configdef.Delete, "")))
	if retention(set1) != 78 || retention(unset) != 78 {
		t.Errorf("after the broker's change: %d and %d", retention(set1), retention(unset))
	}
	must(t, n.alter(TopicResource, "set", set("max.message.bytes", "10")...))
	if p := n.produce(set1, 0, plain(t, "too large for ten bytes")); !errors.Is(p.Err, ErrMessageTooLarge) {
		t.Errorf("after the smaller limit: %v", p.Err)
	}
	n.restart(nil)
	if retention(set1) != 78 || n.partitionOf(set1, 0).Log().Config().MaxMessageBytes != 10 {
		t.Errorf("after a restart: %+v", n.partitionOf(set1, 0).Log().Config())
	}
}

func TestAlterConfigsReplaces(t *testing.T) {
	n := startNode(t)
	n.topic("ok", 1, "retention.ms", "5", "segment.ms", "6")
	replace := ConfigAlteration{ConfigResource: ConfigResource{TopicResource, "ok"}, Changes: set("segment.ms", "7"), Replace: true}
	must(t, n.alterAll(replace, true))
	if topic, _ := n.Image().Topic("ok"); topic.Config["segment.ms"] != "6" {
		t.Errorf("changed by a check: %v", topic.Config)
	}
	must(t, n.alterAll(replace, false))
	if topic, _ := n.Image().Topic("ok"); len(topic.Config) != 1 || topic.Config["segment.ms"] != "7" {
		t.Errorf("%v", topic.Config)
	}
}

func TestListConfigResources(t *testing.T) {
	n := startNode(t)
	n.topic("b", 1)
	n.topic("a", 1)
	must(t, n.alter(ClientMetricsResource, "sub", set("metrics", "*")...))
	list := func(types ...ResourceType) string {
		t.Helper()
		found, err := n.ListConfigResources(testCaller, types)
		must(t, err)
		return fmt.Sprint(found)
	}
	for _, c := range []struct{ got, want string }{
		{list(), "[{16 sub} {8 1} {4 1} {2 a} {2 b}]"},
		{list(TopicResource), "[{2 a} {2 b}]"},
		{list(TopicResource, ClientMetricsResource), "[{16 sub} {2 a} {2 b}]"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if got := list(GroupResource); got != "[]" {
		t.Errorf("groups: %s", got)
	}
	if _, err := n.ListConfigResources(testCaller, []ResourceType{99}); !errors.Is(err, ErrUnsupportedVersion) {
		t.Errorf("type 99: %v", err)
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	n := startNode(t, relaxed)
	name := func(i int) string { return fmt.Sprintf("sub-%d", i) }
	var all []ConfigAlteration
	for i := range maxSubscriptions {
		all = append(all, ConfigAlteration{ConfigResource: ConfigResource{ClientMetricsResource, name(i)}, Changes: set("metrics", "a")})
	}
	for _, a := range n.AlterConfigs(t.Context(), testCaller, all, false) {
		must(t, a.Err)
	}
	if err := n.alter(ClientMetricsResource, "more", set("metrics", "a")...); !errors.Is(err, ErrPolicyViolation) {
		t.Errorf("one more: %v", err)
	}
	must(t, n.alter(ClientMetricsResource, name(0), op("metrics", configdef.Delete, "")))
	must(t, n.alter(ClientMetricsResource, "more", set("metrics", "a")...))
}

func TestDescribedConfigsAreBounded(t *testing.T) {
	n := startNode(t)
	n.topic("ok", 1)
	queries := make([]ConfigQuery, maxDescribedConfigs/len(configdef.TopicKeys())*2)
	for i := range queries {
		queries[i] = ConfigQuery{ConfigResource: ConfigResource{TopicResource, "ok"}}
	}
	total, refusals := 0, 0
	for _, a := range n.DescribeConfigs(testCaller, queries) {
		total += len(a.Entries)
		if errors.Is(a.Err, ErrPolicyViolation) && strings.Contains(a.Err.Error(), "fewer resources") {
			refusals++
		}
	}
	if total > maxDescribedConfigs+len(configdef.TopicKeys()) || refusals == 0 {
		t.Errorf("%d configs, %d refusals", total, refusals)
	}
}

// The table names every key that a node's configuration has, with the same default.
func TestConfigKeysAreInTheTable(t *testing.T) {
	cfg := reflect.ValueOf(DefaultConfig())
	for i := range cfg.NumField() {
		name := cfg.Type().Field(i).Tag.Get("kafka")
		if name == "" {
			continue // not set by a key of its own
		}
		k, ok := configdef.BrokerKey(name)
		if !ok {
			t.Errorf("%s is not in the table", name)
			continue
		}
		got := fmt.Sprint(cfg.Field(i).Interface())
		if d, ok := cfg.Field(i).Interface().(time.Duration); ok {
			got = fmt.Sprint(d.Milliseconds())
		}
		if k.NoDefault && (got == "" || got == "[]") {
			continue
		}
		if got != k.Default {
			t.Errorf("%s: default %s here, %s in the table", name, got, k.Default)
		}
	}
}
