package kafka

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// sampleProduce is a request with everything that may vary.
func sampleProduce(version int16) *kmsg.ProduceRequest {
	q := kmsg.NewPtrProduceRequest()
	q.Version, q.Acks, q.TimeoutMillis = version, -1, 1234
	q.TransactionID = kmsg.StringPtr("txn-1")
	for i, name := range []string{"access-log", "x", ""} {
		topic := kmsg.NewProduceRequestTopic()
		topic.Topic, topic.TopicID = name, [16]byte{byte(i), 1, 2, 3, 15: 9}
		for p := range i + 1 {
			part := kmsg.NewProduceRequestTopicPartition()
			part.Partition = int32(p * 7)
			part.Records = bytes.Repeat([]byte{byte(p)}, p*200)
			if p == 2 {
				part.Records = nil
			}
			if version >= 9 {
				part.UnknownTags.Set(7, []byte("unknown"))
			}
			topic.Partitions = append(topic.Partitions, part)
		}
		if version >= 9 {
			topic.UnknownTags.Set(300, nil)
		}
		q.Topics = append(q.Topics, topic)
	}
	if version >= 9 {
		q.UnknownTags.Set(1, []byte{1})
	}
	return q
}

// sameProduce compares our decoding with kmsg's of the same bytes. Where kmsg refuses, we must; we refuse more: counts and
// tags beyond Kafka's caps, and strings that may not be null.
func sameProduce(t *testing.T, body []byte, version int16) {
	t.Helper()
	var ours produceRequest
	ok := ours.decode(body, version)
	theirs := kmsg.NewPtrProduceRequest()
	theirs.Version = version
	err := theirs.ReadFrom(body)
	if ok && err != nil {
		t.Fatalf("version %d: we take what kmsg refuses (%v): %x", version, err, body)
	}
	if !ok {
		return
	}
	id := ""
	if theirs.TransactionID != nil {
		id = *theirs.TransactionID
	}
	if ours.transactionalID != id || ours.acks != theirs.Acks || ours.timeoutMs != theirs.TimeoutMillis || len(ours.topics) != len(theirs.Topics) {
		t.Fatalf("version %d: %+v differs from %+v", version, ours, theirs)
	}
	at := 0
	for i, topic := range theirs.Topics {
		got := ours.topics[i]
		if got.name != topic.Topic || got.id != topic.TopicID || got.first != at || got.last != at+len(topic.Partitions) {
			t.Fatalf("version %d, topic %d: %+v differs from %+v", version, i, got, topic)
		}
		for _, part := range topic.Partitions {
			p := ours.partitions[at]
			if p.index != part.Partition || !bytes.Equal(p.records, part.Records) || (p.records == nil) != (part.Records == nil) {
				t.Fatalf("version %d, partition %d: %+v differs from %+v", version, at, p, part)
			}
			at++
		}
	}
}

func TestProduceDecoderEqualsKmsg(t *testing.T) {
	for version := int16(3); version <= 13; version++ {
		full := sampleProduce(version).AppendTo(nil)
		var q produceRequest
		if !q.decode(full, version) {
			t.Errorf("version %d: refused", version)
		}
		sameProduce(t, full, version)
		for n := range full {
			sameProduce(t, full[:n], version)
		}
		none := kmsg.NewPtrProduceRequest()
		none.Version = version
		sameProduce(t, none.AppendTo(nil), version)
	}
}

func FuzzProduceRequest(f *testing.F) {
	for version := int16(3); version <= 13; version++ {
		f.Add(sampleProduce(version).AppendTo(nil), version)
	}
	f.Fuzz(func(t *testing.T, body []byte, version int16) {
		sameProduce(t, body, 3+int16(uint16(version)%11))
	})
}

func TestProduceDecoderMakesNoGarbage(t *testing.T) {
	body := sampleProduce(12).AppendTo(nil)
	var q produceRequest
	if n := testing.AllocsPerRun(100, func() { q.decode(body, 12) }); n > 0 {
		t.Errorf("decoding allocates %v times", n)
	}
}

func TestProduceDecoderRefusesHugeCounts(t *testing.T) {
	q := sampleProduce(9)
	q.Topics = nil
	body := q.AppendTo(nil)
	body = body[:len(body)-5] // tag count, the tag, and the length of the array
	body = appendCount(body, maxElements, true)
	body = append(body, make([]byte, 1000)...)
	var ours produceRequest
	if ours.decode(body, 9) || cap(ours.topics) > 0 {
		t.Errorf("a million topics in 1,000 bytes: %d topics were made", cap(ours.topics))
	}
}
