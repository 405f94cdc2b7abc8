package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

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
	if resp := ask[*kmsg.InitProducerIDResponse](w, q); resp.ErrorCode != 16 || resp.ProducerID != -1 {
		t.Errorf("with a transactional id that nobody coordinates yet: %+v", resp)
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
