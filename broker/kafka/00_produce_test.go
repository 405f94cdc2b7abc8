package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

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
		{"half a batch", produceOne(9, -1, "errors", id, 0, batch(t, "half")[:40]), 87},
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
