package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

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
