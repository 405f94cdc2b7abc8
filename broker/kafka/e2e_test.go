package kafka

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// short bounds what a test waits for when all is well; it is long because machines may be loaded.
const short = 30 * time.Second

func TestRoundTripThroughAClient(t *testing.T) {
	for _, durability := range []struct {
		name   string
		change func(*broker.Config, *Config)
	}{
		{"strict", func(c *broker.Config, _ *Config) { c.Durability = broker.Strict }},
		{"relaxed", func(c *broker.Config, _ *Config) { c.Durability = broker.Relaxed }},
	} {
		t.Run(durability.name, func(t *testing.T) {
			d := open(t, durability.change)
			ctx, cancel := context.WithTimeout(t.Context(), short)
			defer cancel()
			const count = 2000
			producer := d.client(kgo.DefaultProduceTopic("round-trip"), kgo.ProducerBatchCompression(kgo.SnappyCompression()))
			var want []string
			for i := range count {
				value := fmt.Sprintf("record %d %s", i, strings.Repeat("x", i%300))
				want = append(want, value)
				producer.Produce(ctx, kgo.StringRecord(value), func(_ *kgo.Record, err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			if err := producer.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			consumer := d.client(kgo.ConsumeTopics("round-trip"))
			var got []string
			for len(got) < count {
				fetches := consumer.PollFetches(ctx)
				if err := fetches.Err(); err != nil {
					t.Fatal(err)
				}
				fetches.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("record %d is %q, want %q", i, got[i], want[i])
				}
			}
		})
	}
}

func TestLargeRecordsComeFromTheFile(t *testing.T) {
	d := open(t, func(c *broker.Config, _ *Config) { c.Durability = broker.Relaxed })
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	producer := d.client(kgo.DefaultProduceTopic("large"), kgo.ProducerBatchCompression(kgo.NoCompression()))
	var values [][]byte
	for i := range 20 {
		values = append(values, bytes.Repeat([]byte{byte(i), 7}, 200_000+i))
		if err := producer.ProduceSync(ctx, &kgo.Record{Value: values[i]}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	consumer := d.client(kgo.ConsumeTopics("large"))
	for n := 0; n < len(values); {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !bytes.Equal(r.Value, values[n]) {
				t.Errorf("record %d differs", n)
			}
			n++
		})
	}
}

// batch makes one record batch.
func batch(t *testing.T, values ...string) []byte {
	t.Helper()
	return newBatch(t, func(*batchOptions) {}, values...)
}

func produceOne(version, acks int16, topic string, id [16]byte, partition int32, records []byte) *kmsg.ProduceRequest {
	q := kmsg.NewPtrProduceRequest()
	q.Version, q.Acks, q.TimeoutMillis = version, acks, 10_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = topic, id
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Partition, rp.Records = partition, records
	rt.Partitions = append(rt.Partitions, rp)
	q.Topics = append(q.Topics, rt)
	return q
}

// createTopic makes a topic as clients do, and returns its id.
func (w *wire) createTopic(name string) [16]byte {
	w.Helper()
	q := kmsg.NewPtrMetadataRequest()
	q.Version, q.AllowAutoTopicCreation = 12, true
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &name
	q.Topics = append(q.Topics, rt)
	resp := ask[*kmsg.MetadataResponse](w, q)
	if topic := resp.Topics[0]; topic.ErrorCode != 0 || len(topic.Partitions) == 0 {
		w.Fatalf("creating %s: %+v", name, topic)
	}
	return resp.Topics[0].TopicID
}

func TestProduceInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("versions")
	offset := int64(0)
	for version := int16(3); version <= 13; version++ {
		for _, acks := range []int16{1, -1} {
			resp := ask[*kmsg.ProduceResponse](w, produceOne(version, acks, "versions", id, 0, batch(t, "a", "b")))
			if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
				t.Fatalf("version %d: %+v", version, resp)
			}
			p := resp.Topics[0].Partitions[0]
			if p.ErrorCode != 0 || p.BaseOffset != offset || p.LogAppendTime != -1 || version >= 5 && p.LogStartOffset != 0 {
				t.Errorf("version %d, acks %d: %+v, want offset %d", version, acks, p, offset)
			}
			if version >= 13 && resp.Topics[0].TopicID != id || version < 13 && resp.Topics[0].Topic != "versions" {
				t.Errorf("version %d: the topic is %+v", version, resp.Topics[0])
			}
			offset += 2
		}
	}
}

func TestProduceErrors(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("errors")
	broken := batch(t, "broken")
	broken[len(broken)-1] ^= 1
	for _, tc := range []struct {
		name string
		q    *kmsg.ProduceRequest
		want int16
	}{
		{"acks 2", produceOne(9, 2, "errors", id, 0, batch(t, "x")), 21},
		{"acks -2", produceOne(9, -2, "errors", id, 0, batch(t, "x")), 21},
		{"unknown topic", produceOne(9, -1, "nobody", id, 0, batch(t, "x")), 3},
		{"unknown partition", produceOne(9, -1, "errors", id, 99, batch(t, "x")), 3},
		{"negative partition", produceOne(9, -1, "errors", id, -1, batch(t, "x")), 3},
		{"unknown id", produceOne(13, -1, "", [16]byte{1}, 0, batch(t, "x")), 100},
		{"zero id", produceOne(13, -1, "", [16]byte{}, 0, batch(t, "x")), 100},
		{"bad checksum", produceOne(9, -1, "errors", id, 0, broken), 2},
		{"no batch", produceOne(9, -1, "errors", id, 0, []byte{}), 87},
		{"null", produceOne(9, -1, "errors", id, 0, nil), 87},
		{"two batches", produceOne(9, -1, "errors", id, 0, append(batch(t, "x"), batch(t, "y")...)), 87},
		{"half a batch", produceOne(9, -1, "errors", id, 0, batch(t, "half")[:40]), 2},
		{"zstd before version 7", produceOne(6, -1, "errors", id, 0, newBatch(t, func(o *batchOptions) { o.zstd = true }, "z")), 76},
	} {
		resp := ask[*kmsg.ProduceResponse](w, tc.q)
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
			t.Fatalf("%s: %+v", tc.name, resp)
		}
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != tc.want || p.BaseOffset != -1 || p.Partition != tc.q.Topics[0].Partitions[0].Partition {
			t.Errorf("%s: %+v, want code %d", tc.name, p, tc.want)
		}
	}
}

// Every partition that was asked for is answered, the failed ones among the others.
func TestProduceAnswersEveryPartition(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("all")
	q := produceOne(9, -1, "all", id, 0, batch(t, "x"))
	q.Topics = append(q.Topics, produceOne(9, -1, "nobody", id, 3, batch(t, "x")).Topics...)
	q.Topics[0].Partitions = append(q.Topics[0].Partitions, kmsg.ProduceRequestTopicPartition{Partition: 7, Records: batch(t, "y")})
	resp := ask[*kmsg.ProduceResponse](w, q)
	if len(resp.Topics) != 2 || len(resp.Topics[0].Partitions) != 2 || len(resp.Topics[1].Partitions) != 1 ||
		resp.Topics[0].Partitions[0].ErrorCode != 0 || resp.Topics[0].Partitions[1].ErrorCode != 3 || resp.Topics[1].Partitions[0].ErrorCode != 3 {
		t.Errorf("%+v", resp)
	}
}

func TestProduceWithoutAcks(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("silent")
	w.send(produceOne(9, 0, "silent", id, 0, batch(t, "x")))
	// No answer: the next request's answer comes first.
	resp := ask[*kmsg.ProduceResponse](w, produceOne(9, 1, "silent", id, 0, batch(t, "y")))
	if p := resp.Topics[0].Partitions[0]; p.BaseOffset != 1 {
		t.Errorf("%+v, want offset 1", p)
	}
	// An error can be told only by closing.
	w.send(produceOne(9, 0, "nobody", id, 0, batch(t, "x")))
	w.peer.expectClosed()
}

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
	for _, version := range []int16{12, 16} {
		q := fetchOne(version, "forged", id, 0)
		q.ReplicaID, q.ReplicaState.ID = 1, 1
		if resp := ask[*kmsg.FetchResponse](w, q); resp.ErrorCode != 31 || len(resp.Topics) != 0 {
			t.Errorf("Fetch version %d: %+v", version, resp)
		}
	}
	list := kmsg.NewPtrListOffsetsRequest()
	list.Version, list.ReplicaID = 7, 1
	list.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "forged", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: -1, CurrentLeaderEpoch: -1}}}}
	if resp := ask[*kmsg.ListOffsetsResponse](w, list); resp.Topics[0].Partitions[0].ErrorCode != 31 {
		t.Errorf("ListOffsets: %+v", resp)
	}
	epoch := kmsg.NewPtrOffsetForLeaderEpochRequest()
	epoch.Version, epoch.ReplicaID = 4, 1
	epoch.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: "forged", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{{CurrentLeaderEpoch: -1}}}}
	if resp := ask[*kmsg.OffsetForLeaderEpochResponse](w, epoch); resp.Topics[0].Partitions[0].ErrorCode != 31 {
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

func TestListOffsetsInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("times")
	for i := range int64(3) {
		records := newBatch(t, func(o *batchOptions) { o.timestamp = 1_700_000_000_000 + i*1000 }, "x")
		ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "times", id, 0, records))
	}
	list := func(version int16, timestamp int64) kmsg.ListOffsetsResponseTopicPartition {
		q := kmsg.NewPtrListOffsetsRequest()
		q.Version, q.ReplicaID = version, -1
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp = timestamp
		q.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "times", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
		return ask[*kmsg.ListOffsetsResponse](w, q).Topics[0].Partitions[0]
	}
	for version := int16(1); version <= 11; version++ {
		for _, tc := range []struct {
			timestamp int64
			first     int16
			want      int64
		}{
			{-1, 1, 3},
			{-2, 1, 0},
			{-3, 7, 2},
			{-4, 8, 0},
			{-5, 9, -1},
			{-6, 11, -1},
			{0, 1, 0},
			{1_700_000_001_000, 1, 1},
			{1_700_000_001_001, 1, 2},
			{1_700_000_002_001, 1, -1},
		} {
			p := list(version, tc.timestamp)
			if version < tc.first {
				if p.ErrorCode != 35 {
					t.Errorf("version %d, timestamp %d: %+v, want UNSUPPORTED_VERSION", version, tc.timestamp, p)
				}
			} else if p.ErrorCode != 0 || p.Offset != tc.want {
				t.Errorf("version %d, timestamp %d: %+v, want %d", version, tc.timestamp, p, tc.want)
			}
		}
		if p := list(version, -7); p.ErrorCode != 35 {
			t.Errorf("version %d, timestamp -7: %+v", version, p)
		}
	}
}

func TestListOffsetsAnswersEveryPartition(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("there")
	q := kmsg.NewPtrListOffsetsRequest()
	q.Version, q.ReplicaID = 7, -1
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -1
	far := p
	far.Partition = 9
	q.Topics = []kmsg.ListOffsetsRequestTopic{
		{Topic: "nobody", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}},
		{Topic: "there", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p, far, far}},
	}
	resp := ask[*kmsg.ListOffsetsResponse](w, q)
	var got []int16
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			got = append(got, p.ErrorCode)
		}
	}
	if fmt.Sprint(got) != "[3 0 42 42]" {
		t.Errorf("codes %v: unknown topic, good, and one named twice", got)
	}
}

func TestMetadataInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("shown")
	for version := int16(0); version <= 13; version++ {
		q := kmsg.NewPtrMetadataRequest()
		q.Version, q.IncludeTopicAuthorizedOperations, q.IncludeClusterAuthorizedOperations = version, true, true
		resp := ask[*kmsg.MetadataResponse](w, q)
		if len(resp.Brokers) != 1 || resp.Brokers[0].Host+fmt.Sprint(":", resp.Brokers[0].Port) != d.addr {
			t.Errorf("version %d: brokers %+v", version, resp.Brokers)
		}
		if version >= 1 && resp.ControllerID != resp.Brokers[0].NodeID || version >= 2 && (resp.ClusterID == nil || *resp.ClusterID == "") {
			t.Errorf("version %d: controller %d, cluster %v", version, resp.ControllerID, resp.ClusterID)
		}
		if len(resp.Topics) != 1 || *resp.Topics[0].Topic != "shown" || version >= 10 && resp.Topics[0].TopicID != id {
			t.Fatalf("version %d: topics %+v", version, resp.Topics)
		}
		if version >= 8 && resp.Topics[0].AuthorizedOperations != 0b110111111000 || version >= 8 && version <= 10 && resp.AuthorizedOperations != 0b1111110100000 {
			t.Errorf("version %d: operations %b, %b", version, resp.Topics[0].AuthorizedOperations, resp.AuthorizedOperations)
		}
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 || p.Leader != resp.Brokers[0].NodeID || len(p.Replicas) != 1 || len(p.ISR) != 1 || len(p.OfflineReplicas) != 0 || version >= 7 && p.LeaderEpoch < 0 {
			t.Errorf("version %d: partition %+v", version, p)
		}
	}
}

func TestMetadataOfTopics(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("there")
	topics := func(version int16, allow bool, asked ...kmsg.MetadataRequestTopic) []kmsg.MetadataResponseTopic {
		q := kmsg.NewPtrMetadataRequest()
		q.Version, q.AllowAutoTopicCreation, q.Topics = version, allow, asked
		if asked == nil {
			q.Topics = []kmsg.MetadataRequestTopic{}
		}
		return ask[*kmsg.MetadataResponse](w, q).Topics
	}
	named := func(name string) kmsg.MetadataRequestTopic { return kmsg.MetadataRequestTopic{Topic: &name} }
	for _, tc := range []struct {
		name    string
		version int16
		allow   bool
		asked   kmsg.MetadataRequestTopic
		want    int16
	}{
		{"there", 12, true, named("there"), 0},
		{"there, by id", 12, true, kmsg.MetadataRequestTopic{TopicID: id}, 0},
		{"not there, not to be made", 12, false, named("not-made"), 3},
		{"made at once", 12, true, named("made"), 0},
		{"made by an old client", 1, false, named("made-too"), 0},
		{"impossible, not to be made", 12, false, named("im possible"), 17},
		{"impossible", 12, true, named("im/possible"), 17},
		{"empty", 12, true, named(""), 17},
		{"too long", 12, true, named(strings.Repeat("x", 250)), 17},
		{"unknown id", 12, true, kmsg.MetadataRequestTopic{TopicID: [16]byte{9}}, 100},
		{"zero id", 12, true, kmsg.MetadataRequestTopic{}, 100},
		{"an id before version 12", 11, true, kmsg.MetadataRequestTopic{TopicID: id}, 42},
	} {
		got := topics(tc.version, tc.allow, tc.asked)
		if len(got) != 1 || got[0].ErrorCode != tc.want || (tc.want == 0) != (len(got[0].Partitions) == 1) {
			t.Errorf("%s: %+v, want code %d", tc.name, got, tc.want)
		}
	}
	if got := topics(12, true); len(got) != 0 {
		t.Errorf("no topics: %+v", got)
	}
}

func TestOffsetForLeaderEpochInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("epochs")
	resp := ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "epochs", id, 0, batch(t, "x", "y")))
	if resp.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(resp)
	}
	fetched := ask[*kmsg.FetchResponse](w, fetchOne(13, "epochs", id, 0)).Topics[0].Partitions[0].RecordBatches
	epoch := int32(fetched[15]) // of the batch's leader epoch, the last byte
	for version := int16(0); version <= 4; version++ {
		q := kmsg.NewPtrOffsetForLeaderEpochRequest()
		q.Version = version
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.LeaderEpoch = epoch
		unknown := p
		unknown.Partition = 4
		q.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: "epochs", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{p, unknown}}}
		got := ask[*kmsg.OffsetForLeaderEpochResponse](w, q).Topics[0].Partitions
		if got[0].ErrorCode != 0 || got[0].EndOffset != 2 || version >= 1 && got[0].LeaderEpoch != epoch || got[1].ErrorCode != 3 {
			t.Errorf("version %d: %+v", version, got)
		}
	}
}

func TestProducerIDs(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("idempotent")
	seen := make(map[int64]bool)
	for version := int16(0); version <= 5; version++ {
		q := kmsg.NewPtrInitProducerIDRequest()
		q.Version = version
		resp := ask[*kmsg.InitProducerIDResponse](w, q)
		if resp.ErrorCode != 0 || resp.ProducerID < 0 || resp.ProducerEpoch != 0 || seen[resp.ProducerID] {
			t.Errorf("version %d: %+v", version, resp)
		}
		seen[resp.ProducerID] = true
	}
	q := kmsg.NewPtrInitProducerIDRequest()
	q.Version, q.TransactionalID, q.TransactionTimeoutMillis = 4, kmsg.StringPtr("t"), 1000
	if resp := ask[*kmsg.InitProducerIDResponse](w, q); resp.ErrorCode != 35 || resp.ProducerID != -1 {
		t.Errorf("with a transactional id: %+v", resp)
	}

	produce := func(sequence int32) kmsg.ProduceResponseTopicPartition {
		records := newBatch(t, func(o *batchOptions) { o.producer, o.sequence = 4711, sequence }, "x")
		return ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "idempotent", id, 0, records)).Topics[0].Partitions[0]
	}
	for sequence, want := range []int64{0, 1} {
		if p := produce(int32(sequence)); p.ErrorCode != 0 || p.BaseOffset != want {
			t.Errorf("sequence %d: %+v", sequence, p)
		}
	}
	if p := produce(0); p.ErrorCode != 0 || p.BaseOffset != 0 {
		t.Errorf("a duplicate: %+v, want the offset of its original", p)
	}
	if p := produce(7); p.ErrorCode != 45 {
		t.Errorf("a gap: %+v", p)
	}
	describe := kmsg.NewPtrDescribeProducersRequest()
	describe.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "idempotent", Partitions: []int32{0, 9}}}
	got := ask[*kmsg.DescribeProducersResponse](w, describe).Topics[0].Partitions
	if len(got) != 2 || len(got[0].ActiveProducers) != 1 || got[0].ActiveProducers[0].ProducerID != 4711 ||
		got[0].ActiveProducers[0].LastSequence != 1 || got[1].ErrorCode != 3 {
		t.Errorf("%+v", got)
	}
}

func TestAPIVersionsListsTheTable(t *testing.T) {
	d := open(t)
	w := d.wire()
	q := kmsg.NewPtrApiVersionsRequest()
	q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = 5, "test", "1"
	resp := ask[*kmsg.ApiVersionsResponse](w, q)
	if len(resp.ApiKeys) != len(apiTable()) || len(resp.SupportedFeatures)+len(resp.FinalizedFeatures) != 0 {
		t.Errorf("%+v", resp)
	}
	q.ClusterID = kmsg.StringPtr("another")
	if resp = ask[*kmsg.ApiVersionsResponse](w, q); resp.ErrorCode != 42 {
		t.Errorf("a cluster without a node: %+v", resp)
	}
	q.NodeID = d.node.Config().NodeID
	if resp = ask[*kmsg.ApiVersionsResponse](w, q); resp.ErrorCode != 129 {
		t.Errorf("another cluster: %+v", resp)
	}
	*q.ClusterID = string(d.node.Image().ClusterID())
	if resp = ask[*kmsg.ApiVersionsResponse](w, q); resp.ErrorCode != 0 {
		t.Errorf("this cluster: %+v", resp)
	}
}
