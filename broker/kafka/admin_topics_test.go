package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// versions returns every version of a request that the table names.
func versions(t *testing.T, key kmsg.Key) []int16 {
	t.Helper()
	table := apiTable()
	i := slices.IndexFunc(table, func(a api) bool { return a.key == key })
	if i < 0 {
		t.Fatalf("%s is not in the table", key.Name())
	}
	var all []int16
	for v := table[i].min; v <= table[i].max; v++ {
		all = append(all, v)
	}
	return all
}

// at sets the version of a request.
func at[Q kmsg.Request](q Q, version int16) Q {
	q.SetVersion(version)
	return q
}

// createRequest asks for topics with these names.
func createRequest(names ...string) *kmsg.CreateTopicsRequest {
	q := kmsg.NewPtrCreateTopicsRequest()
	q.TimeoutMillis = 10_000
	for _, name := range names {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, 1, 1
		q.Topics = append(q.Topics, t)
	}
	return q
}

// mustCreate makes a topic with configs given as names and values.
func (w *wire) mustCreate(name string, partitions int32, configs ...string) [16]byte {
	w.Helper()
	q := at(createRequest(name), 7)
	q.Topics[0].NumPartitions = partitions
	for i := 0; i < len(configs); i += 2 {
		q.Topics[0].Configs = append(q.Topics[0].Configs, kmsg.CreateTopicsRequestTopicConfig{Name: configs[i], Value: &configs[i+1]})
	}
	got := ask[*kmsg.CreateTopicsResponse](w, q).Topics[0]
	w.wantCode("create "+name, got.ErrorCode, nil)
	return got.TopicID
}

func (w *wire) wantCode(what string, got int16, want *kerr.Error) {
	w.Helper()
	code := int16(0)
	if want != nil {
		code = want.Code
	}
	if got != code {
		w.Errorf("%s: error %v, want %v", what, kerr.ErrorForCode(got), kerr.ErrorForCode(code))
	}
}

func TestCreateTopicsVersions(t *testing.T) {
	d := open(t)
	w := d.wire()
	for _, v := range versions(t, kmsg.CreateTopics) {
		name := fmt.Sprintf("topic-%d", v)
		q := at(createRequest(name, "bad name", name+"-defaults"), v)
		value := "5"
		q.Topics[0].Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "retention.ms", Value: &value}}
		q.Topics[2].NumPartitions, q.Topics[2].ReplicationFactor = -1, -1
		topics := ask[*kmsg.CreateTopicsResponse](w, q).Topics
		if len(topics) != 3 || topics[0].Topic != name {
			t.Fatalf("version %d: %+v", v, topics)
		}
		good, bad := topics[0], topics[1]
		w.wantCode(name, good.ErrorCode, nil)
		w.wantCode("bad name", bad.ErrorCode, kerr.InvalidTopicException)
		w.wantCode("defaults", topics[2].ErrorCode, nil)
		made, ok := d.node.Image().Topic(name)
		switch {
		case !ok || made.Config["retention.ms"] != "5":
			t.Errorf("version %d: the topic is not there", v)
		case v >= 1 && (good.ErrorMessage != nil || bad.ErrorMessage == nil):
			t.Errorf("version %d: messages %v and %v", v, good.ErrorMessage, bad.ErrorMessage)
		case v >= 5 && (good.NumPartitions != 1 || good.ReplicationFactor != 1 || bad.NumPartitions != -1 || bad.ReplicationFactor != -1):
			t.Errorf("version %d: %+v", v, topics)
		case v >= 7 && (made.ID != good.TopicID || bad.TopicID != [16]byte{}):
			t.Errorf("version %d: ids %v and %v", v, good.TopicID, bad.TopicID)
		}
		if v >= 5 {
			i := slices.IndexFunc(good.Configs, func(c kmsg.CreateTopicsResponseTopicConfig) bool { return c.Name == "retention.ms" })
			if i < 0 || *good.Configs[i].Value != "5" || good.Configs[i].Source != 1 || good.Configs[i].ReadOnly || good.Configs[i].IsSensitive {
				t.Errorf("version %d: configs %+v", v, good.Configs)
			}
		}
		if v >= 1 {
			q.ValidateOnly = true
			q.Topics = createRequest("only-checked", name).Topics
			topics = ask[*kmsg.CreateTopicsResponse](w, q).Topics
			w.wantCode("only checked", topics[0].ErrorCode, nil)
			w.wantCode("exists", topics[1].ErrorCode, kerr.TopicAlreadyExists)
			if _, ok := d.node.Image().Topic("only-checked"); ok {
				t.Errorf("version %d: made by a check", v)
			}
		}
	}
}

func TestDeleteTopicsVersions(t *testing.T) {
	d := open(t)
	w := d.wire()
	for _, v := range versions(t, kmsg.DeleteTopics) {
		id := w.mustCreate("gone", 1)
		q := at(kmsg.NewPtrDeleteTopicsRequest(), v)
		q.TimeoutMillis = 10_000
		for _, name := range []string{"gone", "nope"} {
			if v < 6 {
				q.TopicNames = append(q.TopicNames, name)
			} else {
				q.Topics = append(q.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &name})
			}
		}
		topics := ask[*kmsg.DeleteTopicsResponse](w, q).Topics
		if len(topics) != 2 || *topics[0].Topic != "gone" || *topics[1].Topic != "nope" || v >= 6 && topics[0].TopicID != id {
			t.Fatalf("version %d: %+v", v, topics)
		}
		w.wantCode("gone", topics[0].ErrorCode, nil)
		w.wantCode("nope", topics[1].ErrorCode, kerr.UnknownTopicOrPartition)
		if _, ok := d.node.Image().Topic("gone"); ok || v >= 5 && (topics[0].ErrorMessage != nil || topics[1].ErrorMessage == nil) {
			t.Errorf("version %d: %+v", v, topics)
		}
	}
	q := at(kmsg.NewPtrDeleteTopicsRequest(), 6)
	q.TimeoutMillis = 10_000
	q.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: w.mustCreate("by-id", 1)}, {TopicID: [16]byte{1}}}
	topics := ask[*kmsg.DeleteTopicsResponse](w, q).Topics
	if len(topics) != 2 || *topics[0].Topic != "by-id" || topics[1].Topic != nil {
		t.Fatalf("by id: %+v", topics)
	}
	w.wantCode("by id", topics[0].ErrorCode, nil)
	w.wantCode("by an unknown id", topics[1].ErrorCode, kerr.UnknownTopicID)
}

func TestDeleteTopicsDisabledVersions(t *testing.T) {
	w := open(t, func(c *broker.Config, _ *Config) { c.DeleteTopics = false }).wire()
	w.mustCreate("kept", 1)
	for _, v := range versions(t, kmsg.DeleteTopics) {
		q := at(kmsg.NewPtrDeleteTopicsRequest(), v)
		name := "kept"
		q.TopicNames, q.Topics = []string{name}, []kmsg.DeleteTopicsRequestTopic{{Topic: &name}}
		want := kerr.TopicDeletionDisabled
		if v < 3 {
			want = kerr.InvalidRequest
		}
		w.wantCode(fmt.Sprintf("version %d", v), ask[*kmsg.DeleteTopicsResponse](w, q).Topics[0].ErrorCode, want)
	}
}

func TestCreatePartitionsVersions(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.mustCreate("grows", 1)
	for _, v := range versions(t, kmsg.CreatePartitions) {
		q := at(kmsg.NewPtrCreatePartitionsRequest(), v)
		q.TimeoutMillis = 10_000
		count := int32(v) + 2
		q.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "grows", Count: count}, {Topic: "nope", Count: 2}}
		if v == 1 {
			q.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{1}}}
		}
		q.ValidateOnly = true
		w.wantCode("checked", ask[*kmsg.CreatePartitionsResponse](w, q).Topics[0].ErrorCode, nil)
		q.ValidateOnly = false
		topics := ask[*kmsg.CreatePartitionsResponse](w, q).Topics
		w.wantCode("grows", topics[0].ErrorCode, nil)
		w.wantCode("nope", topics[1].ErrorCode, kerr.UnknownTopicOrPartition)
		if grown, _ := d.node.Image().Topic("grows"); len(grown.Partitions) != int(count) || topics[0].ErrorMessage != nil {
			t.Errorf("version %d: %d partitions", v, len(grown.Partitions))
		}
	}
}

func TestDeleteRecordsVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("one", 2)
	w.mustCreate("two", 1)
	for _, v := range versions(t, kmsg.DeleteRecords) {
		q := at(kmsg.NewPtrDeleteRecordsRequest(), v)
		q.Topics = []kmsg.DeleteRecordsRequestTopic{
			{Topic: "one", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 1, Offset: 0}, {Partition: 9}, {Partition: 0, Offset: -1}}},
			{Topic: "nope", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0}}},
			{Topic: "two", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 5}}},
		}
		var got []string
		for _, topic := range ask[*kmsg.DeleteRecordsResponse](w, q).Topics {
			for _, p := range topic.Partitions {
				got = append(got, fmt.Sprintf("%s-%d %d %d", topic.Topic, p.Partition, p.LowWatermark, p.ErrorCode))
			}
		}
		if want := []string{"one-1 0 0", "one-9 -1 3", "one-0 0 0", "nope-0 -1 3", "two-0 -1 1"}; !slices.Equal(got, want) {
			t.Errorf("version %d: %v", v, got)
		}
	}
}

func TestDescribeTopicPartitions(t *testing.T) {
	w := open(t).wire()
	a := w.mustCreate("a", 3)
	w.mustCreate("b", 2)
	page := func(limit int32, cursor string, partition int32, names ...string) string {
		t.Helper()
		q := kmsg.NewPtrDescribeTopicPartitionsRequest()
		q.ResponsePartitionLimit = limit
		for _, name := range names {
			q.Topics = append(q.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
		}
		if cursor != "" {
			q.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: cursor, Partition: partition}
		}
		resp := ask[*kmsg.DescribeTopicPartitionsResponse](w, q)
		var out []string
		for _, topic := range resp.Topics {
			text := fmt.Sprintf("%s/%d:", *topic.Topic, topic.ErrorCode)
			for _, p := range topic.Partitions {
				text += fmt.Sprint(p.Partition)
				if p.LeaderID != 1 || p.ErrorCode != 0 || !slices.Equal(p.Replicas, []int32{1}) || !slices.Equal(p.ISR, []int32{1}) || len(p.OfflineReplicas) != 0 {
					t.Errorf("%s-%d: %+v", *topic.Topic, p.Partition, p)
				}
			}
			if *topic.Topic == "a" && topic.ErrorCode == 0 && topic.TopicID != a {
				t.Errorf("id %v", topic.TopicID)
			}
			out = append(out, text)
		}
		if resp.NextCursor != nil {
			out = append(out, fmt.Sprintf("next %s-%d", resp.NextCursor.Topic, resp.NextCursor.Partition))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{page(2000, "", 0), "a/0:012 b/0:01"},
		{page(2000, "", 0, "b", "nope", "b", "a b"), "a b/17: b/0:01 nope/3:"},
		{page(1, "", 0), "a/0:0 next a-1"},
		{page(2, "a", 1), "a/0:12 next b-0"},
		{page(3, "a", 2), "a/0:2 b/0:01"},
		{page(3, "b", 0), "b/0:01"},
		{page(3, "aa", 7), "b/0:01"}, // the topic of the cursor was deleted
		{page(3, "a", 9), "a/0: b/0:01"},
		{page(0, "", 0, "a"), "a/0:0 next a-1"},
		{page(-1, "", 0, "a"), "a/0:0 next a-1"},
		{page(2000, "a", -1, "a"), "a/42:"},
		{page(2000, "c", 0, "a"), "a/42:"},
		{page(2000, "b", 1, "a", "b"), "b/0:1"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestDescribeTopicPartitionsLimit(t *testing.T) {
	w := open(t, func(c *broker.Config, _ *Config) { c.MaxRequestPartitions = 4 }).wire()
	w.mustCreate("a", 10)
	q := kmsg.NewPtrDescribeTopicPartitionsRequest()
	q.ResponsePartitionLimit = 100
	resp := ask[*kmsg.DescribeTopicPartitionsResponse](w, q)
	if len(resp.Topics[0].Partitions) != 4 || resp.NextCursor == nil || resp.NextCursor.Partition != 4 {
		t.Errorf("%d partitions, next %+v", len(resp.Topics[0].Partitions), resp.NextCursor)
	}
}
