package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"moldau/broker/configdef"
	"moldau/broker/metadata"
)

// set makes the settings of a topic from names and values; "<null>" is null.
func set(namesAndValues ...string) []configdef.Change {
	var changes []configdef.Change
	for i := 0; i < len(namesAndValues); i += 2 {
		c := configdef.Change{Name: namesAndValues[i]}
		if v := namesAndValues[i+1]; v != "<null>" {
			c.Value = &v
		}
		changes = append(changes, c)
	}
	return changes
}

// create makes one topic, or only checks it.
func (n *testNode) create(t NewTopic, validateOnly bool) CreatedTopic {
	n.t.Helper()
	answers := n.CreateTopics(n.t.Context(), testCaller, []NewTopic{t}, validateOnly)
	if len(answers) != 1 || answers[0].Name != t.Name {
		n.t.Fatalf("answers %+v", answers)
	}
	return answers[0]
}

// refused compares an error with a sentinel and a text.
func refused(t *testing.T, what string, err, kind error, text string) {
	t.Helper()
	if kind == nil {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	if !errors.Is(err, kind) || err.Error() != text {
		t.Errorf("%s:\n got %v\nwant %s (%v)", what, err, text, kind)
	}
}

// The texts are those of Apache Kafka 4.4.0 for the same requests, except where the comment says so.
func TestCreateTopicsAnswersAsKafka(t *testing.T) {
	n := startNode(t)
	n.topic("a.b", 1)
	auto := func(name string) NewTopic { return NewTopic{Name: name, NumPartitions: 1, ReplicationFactor: 1} }
	manual := func(assignments ...Assignment) NewTopic {
		return NewTopic{Name: "manual", NumPartitions: -1, ReplicationFactor: -1, Assignments: assignments}
	}
	long := strings.Repeat("x", 250)
	for what, c := range map[string]struct {
		topic NewTopic
		kind  error
		text  string
	}{
		"plain":            {topic: auto("t")},
		"defaults":         {topic: NewTopic{Name: "t", NumPartitions: -1, ReplicationFactor: -1}},
		"no partitions":    {NewTopic{Name: "t", NumPartitions: 0, ReplicationFactor: 1}, ErrInvalidPartitions, "Number of partitions was set to an invalid non-positive value."},
		"-2 partitions":    {NewTopic{Name: "t", NumPartitions: -2, ReplicationFactor: 1}, ErrInvalidPartitions, "Number of partitions was set to an invalid non-positive value."},
		"no replicas":      {NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: 0}, ErrInvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value."},
		"-2 replicas":      {NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: -2}, ErrInvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value."},
		"many partitions":  {NewTopic{Name: "t", NumPartitions: 10_001, ReplicationFactor: 1}, ErrPolicyViolation, "Excessively large number of partitions per request."},
		"empty name":       {auto(""), ErrInvalidTopic, "Topic name is invalid: the empty string is not allowed"},
		"dot":              {auto("."), ErrInvalidTopic, "Topic name is invalid: '.' is not allowed"},
		"two dots":         {auto(".."), ErrInvalidTopic, "Topic name is invalid: '..' is not allowed"},
		"space":            {auto("a b"), ErrInvalidTopic, "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"},
		"long":             {auto(long), ErrInvalidTopic, "Topic name is invalid: the length of '" + long + "' is longer than the max allowed length 249"},
		"collision":        {auto("a_b"), ErrInvalidTopic, "Topic 'a_b' collides with existing topic: a.b"},
		"exists":           {auto("a.b"), ErrTopicExists, "Topic 'a.b' already exists."},
		"exists, bad":      {NewTopic{Name: "a.b", NumPartitions: 1, ReplicationFactor: 1, Configs: set("foo", "bar")}, ErrTopicExists, "Topic 'a.b' already exists."},
		"unknown config":   {NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: 1, Configs: set("foo", "bar")}, ErrInvalidConfig, "Unknown topic config name: foo"},
		"null config":      {NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: 1, Configs: set("retention.ms", "<null>")}, ErrInvalidConfig, "Null value not supported for topic configs: retention.ms"},
		"bad config":       {NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: 1, Configs: set("retention.ms", "abc")}, ErrInvalidConfig, "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
		"config twice":     {topic: NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: 1, Configs: set("retention.ms", "abc", "retention.ms", "5")}},
		"manual":           {topic: manual(Assignment{0, []int32{1}}, Assignment{1, []int32{1}})},
		"manual, gap":      {manual(Assignment{0, []int32{1}}, Assignment{2, []int32{1}}), ErrInvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence"},
		"manual, negative": {manual(Assignment{-1, []int32{1}}), ErrInvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence"},
		"manual, twice":    {manual(Assignment{0, []int32{1}}, Assignment{0, []int32{1}}), ErrInvalidReplicaAssignment, "Found multiple manual partition assignments for partition 0"},
		"manual, replica":  {manual(Assignment{0, []int32{1, 1}}), ErrInvalidReplicaAssignment, "The manual partition assignment includes the broker 1 more than once."},
		"manual, unknown":  {manual(Assignment{0, []int32{9}}), ErrInvalidReplicaAssignment, "The manual partition assignment includes broker 9, but no such broker is registered."},
		"manual, empty":    {manual(Assignment{0, nil}), ErrInvalidReplicaAssignment, "The manual partition assignment includes an empty replica list."},
		"manual, count":    {NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: -1, Assignments: []Assignment{{0, []int32{1}}}}, ErrInvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1."},
		"manual, factor":   {NewTopic{Name: "t", NumPartitions: -1, ReplicationFactor: 1, Assignments: []Assignment{{0, []int32{1}}}}, ErrInvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1."},
	} {
		a := n.create(c.topic, true)
		refused(t, what, a.Err, c.kind, c.text)
		if a.Err != nil && (a.NumPartitions != -1 || a.ReplicationFactor != -1 || !a.ID.IsZero() || a.Configs != nil) {
			t.Errorf("%s: an error with %+v", what, a)
		}
	}
	if a := n.create(NewTopic{Name: "t", NumPartitions: 1, ReplicationFactor: 2}, true); !errors.Is(a.Err, ErrInvalidReplicationFactor) {
		t.Errorf("two replicas on one broker: %v", a.Err)
	}
	if n.Image().TopicCount() != 1 {
		t.Errorf("%d topics after only checking", n.Image().TopicCount())
	}
}

func TestCreateTopics(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.NumPartitions = 3 })
	answers := n.CreateTopics(t.Context(), testCaller, []NewTopic{
		{Name: "defaults", NumPartitions: -1, ReplicationFactor: -1},
		{Name: "twice", NumPartitions: 1, ReplicationFactor: 1},
		{Name: "a b", NumPartitions: 1, ReplicationFactor: 1},
		{Name: "twice", NumPartitions: 2, ReplicationFactor: 1},
		{Name: "set", NumPartitions: 200, ReplicationFactor: 1, Configs: set("retention.ms", "5", "cleanup.policy", "compact, delete")},
	}, false)
	if len(answers) != 4 {
		t.Fatalf("%d answers", len(answers))
	}
	defaults, twice, bad, tuned := answers[0], answers[1], answers[2], answers[3]
	if defaults.Err != nil || defaults.NumPartitions != 3 || defaults.ReplicationFactor != 1 {
		t.Errorf("%+v", defaults)
	}
	refused(t, "twice", twice.Err, ErrInvalidRequest, "Duplicate topic name.")
	if !errors.Is(bad.Err, ErrInvalidTopic) {
		t.Errorf("%+v", bad)
	}
	made, ok := n.Image().Topic("set")
	if tuned.Err != nil || !ok || made.ID != tuned.ID || len(made.Partitions) != 200 || tuned.NumPartitions != 200 || made.Config["retention.ms"] != "5" {
		t.Fatalf("%+v, %+v", tuned, made)
	}
	i := slices.IndexFunc(tuned.Configs, func(e configdef.Entry) bool { return e.Name == "retention.ms" })
	if i < 0 || *tuned.Configs[i].Value != "5" || tuned.Configs[i].Source != configdef.DynamicTopic || len(tuned.Configs) != len(configdef.TopicKeys())-1 {
		t.Errorf("configs %+v", tuned.Configs)
	}
	for p := range int32(200) { // it serves at once
		if s := n.partitionOf(TopicRef{ID: tuned.ID}, p).Status(); !s.Leads {
			t.Fatalf("partition %d: %+v", p, s)
		}
	}
	n.mustProduce(TopicRef{Name: "set"}, 199, plain(t, "x"))
}

func TestCreateTopicsStopsInTime(t *testing.T) {
	n := startNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := n.CreateTopics(ctx, testCaller, []NewTopic{{Name: "late", NumPartitions: 1, ReplicationFactor: 1}}, false)
	if !errors.Is(a[0].Err, ErrTimedOut) {
		t.Errorf("%v", a[0].Err)
	}
}

func TestCreatedConfigsAreBounded(t *testing.T) {
	n := startNode(t)
	topics := make([]NewTopic, 9000)
	for i := range topics {
		topics[i] = NewTopic{Name: fmt.Sprintf("t%d", i), NumPartitions: 1, ReplicationFactor: 1}
	}
	total, without := 0, 0
	for _, a := range n.CreateTopics(t.Context(), testCaller, topics, true) {
		must(t, a.Err)
		total += len(a.Configs)
		if errors.Is(a.ConfigsErr, ErrPolicyViolation) && a.Configs == nil {
			without++
		}
	}
	if total > maxDescribedConfigs+len(configdef.TopicKeys()) || without == 0 {
		t.Errorf("%d configs, %d topics without", total, without)
	}
}

func TestInternalTopics(t *testing.T) {
	n := startNode(t)
	must(t, n.create(NewTopic{Name: "__consumer_offsets", NumPartitions: 1, ReplicationFactor: 1}, false).Err)
	topic, ok := n.Image().Topic("__consumer_offsets")
	if !ok || !topic.Internal {
		t.Fatalf("%+v", topic)
	}
	d := n.DeleteRecords(testCaller, []RecordsBefore{{Topic: TopicRef{Name: topic.Name}, Offset: -1}})
	refused(t, "delete records", d[0].Err, ErrInvalidTopic, "Cannot delete records of internal topic __consumer_offsets")
}

func TestDeleteTopicsAnswersAsKafka(t *testing.T) {
	n := startNode(t)
	n.topic("d1", 1)
	d1, _ := n.Image().Topic("d1")
	other := metadata.TopicID{1, 2}
	byName, byID := TopicRef{Name: "d1"}, TopicRef{ID: d1.ID}
	const both = "The provided topic name maps to an ID that was already supplied."
	for what, c := range map[string]struct {
		refs []TopicRef
		want string
	}{
		"no such name": {[]TopicRef{{Name: "nope"}}, "nope/0: This server does not host this topic-partition."},
		"bad name":     {[]TopicRef{{Name: "a b"}}, "a b/0: This server does not host this topic-partition."},
		"no such id":   {[]TopicRef{{ID: other}}, "/1: This server does not host this topic ID."},
		"name twice":   {[]TopicRef{byName, byName}, "d1/0: Duplicate topic name."},
		"id twice":     {[]TopicRef{{ID: other}, {ID: other}}, "/1: Duplicate topic id."},
		"nothing":      {[]TopicRef{{}}, "/0: Neither topic name nor id were specified."},
		"name with id": {[]TopicRef{{Name: "d1", ID: other}}, "d1/1: You may not specify both topic name and topic id."},
		"name and id":  {[]TopicRef{byName, byID}, "d1/1: " + both},
		"id and name":  {[]TopicRef{byID, byName}, "d1/1: " + both},
	} {
		answers := n.DeleteTopics(t.Context(), testCaller, c.refs)
		if len(answers) != 1 || answers[0].Err == nil {
			t.Errorf("%s: %+v", what, answers)
			continue
		}
		a := answers[0]
		if got := fmt.Sprintf("%s/%d: %v", a.Name, min(1, int(a.ID[0])+int(a.ID[1])), a.Err); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
	}
}

func TestDeleteTopics(t *testing.T) {
	n := startNode(t)
	n.topic("one", 1)
	n.topic("two", 300)
	n.topic("three", 1)
	two, _ := n.Image().Topic("two")
	answers := n.DeleteTopics(t.Context(), testCaller, []TopicRef{{Name: "one"}, {ID: two.ID}, {Name: "nope"}})
	if len(answers) != 3 || answers[0].Err != nil || answers[1].Err != nil || answers[1].Name != "two" || answers[2].Err == nil {
		t.Fatalf("%+v", answers)
	}
	if n.Image().TopicCount() != 1 {
		t.Errorf("%d topics are left", n.Image().TopicCount())
	}
	again := n.create(NewTopic{Name: "two", NumPartitions: 1, ReplicationFactor: 1}, false)
	must(t, again.Err)
	if again.ID == two.ID {
		t.Error("the same id again")
	}
	if now, _ := n.Image().Topic("two"); now.Partitions[0].LeaderEpoch <= two.Partitions[0].LeaderEpoch {
		t.Errorf("leader epoch %d after %d", now.Partitions[0].LeaderEpoch, two.Partitions[0].LeaderEpoch)
	}
}

func TestDeleteTopicsDisabled(t *testing.T) {
	n := startNode(t, func(c *Config, _ *Deps) { c.DeleteTopics = false })
	n.topic("one", 1)
	a := n.DeleteTopics(t.Context(), testCaller, []TopicRef{{Name: "one"}})
	if !errors.Is(a[0].Err, ErrTopicDeletionDisabled) || n.Image().TopicCount() != 1 {
		t.Errorf("%+v", a)
	}
}

func TestCreatePartitions(t *testing.T) {
	n := startNode(t)
	n.topic("ok", 2)
	for what, c := range map[string]struct {
		ask  NewPartitions
		kind error
		text string
	}{
		"one more":       {ask: NewPartitions{Topic: "ok", Count: 3}},
		"the same":       {NewPartitions{Topic: "ok", Count: 2}, ErrInvalidPartitions, "Topic already has 2 partition(s)."},
		"less":           {NewPartitions{Topic: "ok", Count: 1}, ErrInvalidPartitions, "The topic ok currently has 2 partition(s); 1 would not be an increase."},
		"negative":       {NewPartitions{Topic: "ok", Count: -1}, ErrInvalidPartitions, "The topic ok currently has 2 partition(s); -1 would not be an increase."},
		"no such topic":  {NewPartitions{Topic: "nope", Count: 2}, ErrUnknownTopicOrPartition, "This server does not host this topic-partition."}, // Kafka: null
		"manual":         {ask: NewPartitions{Topic: "ok", Count: 3, Assignments: [][]int32{{1}}}},
		"manual, short":  {NewPartitions{Topic: "ok", Count: 4, Assignments: [][]int32{{1}}}, ErrInvalidReplicaAssignment, "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified."},
		"manual, broker": {NewPartitions{Topic: "ok", Count: 3, Assignments: [][]int32{{9}}}, ErrInvalidReplicaAssignment, "The manual partition assignment includes broker 9, but no such broker is registered."},
		"manual, twice":  {NewPartitions{Topic: "ok", Count: 3, Assignments: [][]int32{{1, 1}}}, ErrInvalidReplicaAssignment, "The manual partition assignment includes the broker 1 more than once."},
		"manual, empty":  {NewPartitions{Topic: "ok", Count: 3, Assignments: [][]int32{{}}}, ErrInvalidReplicaAssignment, "The manual partition assignment includes an empty replica list."},
	} {
		answers := n.CreatePartitions(t.Context(), testCaller, []NewPartitions{c.ask}, true)
		if len(answers) != 1 || answers[0].Topic != c.ask.Topic {
			t.Fatalf("%s: %+v", what, answers)
		}
		refused(t, what, answers[0].Err, c.kind, c.text)
	}
	answers := n.CreatePartitions(t.Context(), testCaller, []NewPartitions{{Topic: "ok", Count: 4}, {Topic: "nope", Count: 4}, {Topic: "nope", Count: 5}}, false)
	if len(answers) != 2 || answers[0].Err != nil {
		t.Fatalf("%+v", answers)
	}
	refused(t, "twice", answers[1].Err, ErrInvalidRequest, "Duplicate topic name.")
	n.mustProduce(TopicRef{Name: "ok"}, 3, plain(t, "x"))
}

func TestDeleteRecords(t *testing.T) {
	n := startNode(t)
	topic := n.topic("ok", 2)
	for _, v := range []string{"a", "b", "c"} {
		n.mustProduce(topic, 0, plain(t, v))
	}
	before := func(partition int32, offset int64) DeletedRecords {
		t.Helper()
		return n.DeleteRecords(testCaller, []RecordsBefore{{Topic: topic, Partition: partition, Offset: offset}})[0]
	}
	for _, c := range []struct {
		offset, start int64
		err           error
	}{
		{-2, -1, ErrOffsetOutOfRange}, {4, -1, ErrOffsetOutOfRange}, {0, 0, nil}, {2, 2, nil}, {1, 2, nil}, {-1, 3, nil}, {-1, 3, nil},
	} {
		if got := before(0, c.offset); got.LogStartOffset != c.start || !errors.Is(got.Err, c.err) {
			t.Errorf("before %d: %+v", c.offset, got)
		}
	}
	if got := n.read(topic, 0, 3); len(got) != 0 {
		t.Errorf("still there: %v", got)
	}
	if got := before(9, 0); !errors.Is(got.Err, ErrUnknownTopicOrPartition) || got.LogStartOffset != -1 {
		t.Errorf("no such partition: %+v", got)
	}
	for policy, want := range map[string]error{"compact": ErrPolicyViolation, "compact,delete": nil, "delete": nil} {
		must(t, n.alter(TopicResource, "ok", set("cleanup.policy", policy)...))
		if got := before(1, 0); !errors.Is(got.Err, want) {
			t.Errorf("%s: %v", policy, got.Err)
		}
	}
}
