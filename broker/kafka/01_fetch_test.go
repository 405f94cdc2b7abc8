package kafka

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func fetchOne(version int16, topic string, id [16]byte, offset int64) *kmsg.FetchRequest {
	q := kmsg.NewPtrFetchRequest()
	q.Version, q.MaxWaitMillis, q.MinBytes, q.MaxBytes, q.ReplicaID = version, 0, 1, 1<<20, -1
	q.SessionEpoch = -1
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = topic, id
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes = offset, 1<<20
	rt.Partitions = append(rt.Partitions, rp)
	q.Topics = append(q.Topics, rt)
	return q
}

func TestFetchInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("versions")
	sent := batch(t, "one", "two", "three")
	ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "versions", id, 0, bytes.Clone(sent)))
	for version := int16(4); version <= 18; version++ {
		resp := ask[*kmsg.FetchResponse](w, fetchOne(version, "versions", id, 1)) // the batch that holds it comes whole
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 || p.HighWatermark != 3 || p.LastStableOffset != 3 || version >= 5 && p.LogStartOffset != 0 || p.AbortedTransactions != nil {
			t.Errorf("version %d: %+v", version, p)
		}
		if !bytes.Equal(p.RecordBatches[61:], sent[61:]) {
			t.Errorf("version %d: %d bytes of records, %d were sent", version, len(p.RecordBatches), len(sent))
		}
		if version >= 13 && resp.Topics[0].TopicID != id || version < 13 && resp.Topics[0].Topic != "versions" {
			t.Errorf("version %d: the topic is %+v", version, resp.Topics[0])
		}
	}
}

func TestFetchErrors(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("errors")
	ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "errors", id, 0, batch(t, "x")))
	partition := func(version int16, offset int64, change func(*kmsg.FetchRequestTopicPartition)) *kmsg.FetchRequest {
		q := fetchOne(version, "errors", id, offset)
		change(&q.Topics[0].Partitions[0])
		return q
	}
	nothing := func(*kmsg.FetchRequestTopicPartition) {}
	for _, tc := range []struct {
		name string
		q    *kmsg.FetchRequest
		want int16
	}{
		{"at the end", partition(12, 1, nothing), 0},
		{"beyond the end", partition(12, 2, nothing), 1},
		{"negative offset", partition(12, -1, nothing), 1},
		{"unknown topic", fetchOne(12, "nobody", id, 0), 3},
		{"unknown id", fetchOne(13, "", [16]byte{1}, 0), 100},
		{"zero id", fetchOne(13, "", [16]byte{}, 0), 100},
		{"unknown partition", partition(12, 0, func(p *kmsg.FetchRequestTopicPartition) { p.Partition = 5 }), 3},
		{"newer epoch", partition(12, 0, func(p *kmsg.FetchRequestTopicPartition) { p.CurrentLeaderEpoch = 1000 }), 75},
	} {
		resp := ask[*kmsg.FetchResponse](w, tc.q)
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 || resp.Topics[0].Partitions[0].ErrorCode != tc.want {
			t.Errorf("%s: %+v, want code %d", tc.name, resp, tc.want)
		}
		if p := resp.Topics[0].Partitions[0]; p.RecordBatches == nil || len(p.RecordBatches) > 0 {
			t.Errorf("%s: records are %v, want an empty set", tc.name, p.RecordBatches)
		}
	}
}

// Only a broker may fetch as a replica: a forged one could move the high watermark (CVE-2018-1288).
func TestForgedReplicasAreRefused(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("forged")
	for _, version := range []int16{4, 6, 12, 16} {
		q := fetchOne(version, "forged", id, 0)
		q.ReplicaID, q.ReplicaState.ID = 1, 1
		if resp := ask[*kmsg.FetchResponse](w, q); resp.ErrorCode != 0 || resp.Topics[0].Partitions[0].ErrorCode != 29 || len(resp.Topics[0].Partitions[0].RecordBatches) > 0 {
			t.Errorf("Fetch version %d: %+v", version, resp)
		}
	}
	list := kmsg.NewPtrListOffsetsRequest()
	list.Version, list.ReplicaID = 7, 1
	list.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "forged", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: -1, CurrentLeaderEpoch: -1}}}}
	if resp := ask[*kmsg.ListOffsetsResponse](w, list); resp.Topics[0].Partitions[0].ErrorCode != 29 {
		t.Errorf("ListOffsets: %+v", resp)
	}
	epoch := kmsg.NewPtrOffsetForLeaderEpochRequest()
	epoch.Version, epoch.ReplicaID = 4, 1
	epoch.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: "forged", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{{CurrentLeaderEpoch: -1}}}}
	if resp := ask[*kmsg.OffsetForLeaderEpochResponse](w, epoch); resp.Topics[0].Partitions[0].ErrorCode != 29 {
		t.Errorf("OffsetForLeaderEpoch: %+v", resp)
	}
}

// A parked Fetch is woken by what is produced, long before its time is over.
func TestFetchWaitsForRecords(t *testing.T) {
	d := open(t)
	consumer, producer := d.wire(), d.wire()
	id := producer.createTopic("wake")
	q := fetchOne(13, "wake", id, 0)
	q.MaxWaitMillis = 120_000
	consumer.send(q)
	later := kmsg.NewPtrApiVersionsRequest()
	consumer.send(later) // must not overtake
	began := time.Now()
	ask[*kmsg.ProduceResponse](producer, produceOne(9, -1, "wake", id, 0, batch(t, "wake up")))
	resp := consumer.receive(q, 1).(*kmsg.FetchResponse)
	if p := resp.Topics[0].Partitions[0]; len(p.RecordBatches) == 0 || p.HighWatermark != 1 {
		t.Errorf("%+v", p)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("woken after %v", took)
	}
	consumer.receive(later, 2)
	// Without records the answer comes when the time is over.
	q = fetchOne(13, "wake", id, 1)
	q.MaxWaitMillis = 50
	began = time.Now()
	resp = ask[*kmsg.FetchResponse](consumer, q)
	if took := time.Since(began); took < 50*time.Millisecond || len(resp.Topics[0].Partitions[0].RecordBatches) > 0 {
		t.Errorf("after %v: %+v", took, resp)
	}
}

func TestFetchSizes(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("sizes")
	large := strings.Repeat("x", 5000)
	for range 3 {
		ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "sizes", id, 0, batch(t, large)))
	}
	one := len(batch(t, large))
	for _, tc := range []struct {
		name              string
		maxBytes, perPart int32
		want              int
	}{
		{"the first batch is whole", 10, 10, one},
		{"zero", 0, 0, one},
		{"one and a half", 1 << 20, int32(one * 3 / 2), one},
		{"two", 1 << 20, int32(one * 2), 2 * one},
		{"all", 1 << 20, 1 << 20, 3 * one},
		{"bounded by the response", int32(one * 2), 1 << 20, 2 * one},
	} {
		q := fetchOne(13, "sizes", id, 0)
		q.MaxBytes, q.Topics[0].Partitions[0].PartitionMaxBytes = tc.maxBytes, tc.perPart
		resp := ask[*kmsg.FetchResponse](w, q)
		if got := len(resp.Topics[0].Partitions[0].RecordBatches); got != tc.want {
			t.Errorf("%s: %d bytes, want %d", tc.name, got, tc.want)
		}
	}
}

func TestFetchSessions(t *testing.T) {
	d := open(t)
	w := d.wire()
	a, b := w.createTopic("a"), w.createTopic("b")
	produce := func(topic string) {
		t.Helper()
		ask[*kmsg.ProduceResponse](w, produceOne(9, -1, topic, a, 0, batch(t, "x")))
	}
	full := fetchOne(13, "a", a, 0)
	full.SessionEpoch = 0
	full.Topics = append(full.Topics, fetchOne(13, "b", b, 0).Topics...)
	resp := ask[*kmsg.FetchResponse](w, full)
	id := resp.SessionID
	if id == 0 || len(resp.Topics) != 2 {
		t.Fatalf("no session was made: %+v", resp)
	}
	next := func(epoch int32) *kmsg.FetchRequest {
		q := fetchOne(13, "", [16]byte{}, 0)
		q.Topics, q.SessionID, q.SessionEpoch = nil, id, epoch
		return q
	}
	if resp = ask[*kmsg.FetchResponse](w, next(1)); resp.SessionID != id || len(resp.Topics) != 0 || resp.ErrorCode != 0 {
		t.Errorf("nothing is new: %+v", resp)
	}
	produce("b")
	if resp = ask[*kmsg.FetchResponse](w, next(2)); len(resp.Topics) != 1 || resp.Topics[0].TopicID != b {
		t.Errorf("b is new: %+v", resp)
	}
	moved := next(3)
	moved.Topics = fetchOne(13, "b", b, 1).Topics
	if resp = ask[*kmsg.FetchResponse](w, moved); len(resp.Topics) != 0 {
		t.Errorf("b is read on: %+v", resp)
	}
	if resp = ask[*kmsg.FetchResponse](w, next(3)); resp.ErrorCode != 71 {
		t.Errorf("an old epoch: %+v", resp)
	}
	forget := next(4)
	forget.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{TopicID: a, Partitions: []int32{0}}}
	produce("a")
	if resp = ask[*kmsg.FetchResponse](w, forget); len(resp.Topics) != 0 {
		t.Errorf("a is forgotten: %+v", resp)
	}
	named := next(5)
	named.Version, named.Topics = 12, fetchOne(12, "b", b, 1).Topics
	if resp = ask[*kmsg.FetchResponse](w, named); resp.ErrorCode != 106 {
		t.Errorf("names in a session of ids: %+v", resp)
	}
	other := next(5)
	other.SessionID = id ^ 1
	if resp = ask[*kmsg.FetchResponse](w, other); resp.ErrorCode != 70 {
		t.Errorf("an unknown session: %+v", resp)
	}
	end := fetchOne(13, "a", a, 0)
	end.SessionID, end.SessionEpoch = id, -1
	if resp = ask[*kmsg.FetchResponse](w, end); resp.SessionID != 0 || len(resp.Topics) != 1 {
		t.Errorf("the session's end: %+v", resp)
	}
	if resp = ask[*kmsg.FetchResponse](w, next(5)); resp.ErrorCode != 70 {
		t.Errorf("the session is still there: %+v", resp)
	}
}
