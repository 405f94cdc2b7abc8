package kafka

import (
	"bytes"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/record"
)

func TestProduceAnswerEqualsKmsg(t *testing.T) {
	d := open(t)
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	c := d.srv.newConn(theirs, listener{"PLAINTEXT", "PLAINTEXT"})
	self, _ := d.node.Image().Broker(d.node.Config().NodeID)
	endpoint, _ := self.Endpoint("PLAINTEXT")

	results := []broker.Produced{
		{BaseOffset: 17, LogAppendTime: -1, LogStartOffset: 3, Leader: noLeader},
		{BaseOffset: 18, LogAppendTime: 1_700_000_000_000, LogStartOffset: 0, Leader: noLeader},
		notProduced(broker.ErrInvalidRecord, "two records are bad"),
		notProduced(broker.ErrNotLeader, ""),
	}
	results[2].RecordErrors = []record.RecordError{{Index: 4, Message: "has no key"}, {Index: 6}}
	results[3].Leader = broker.LeaderHint{ID: self.ID, Epoch: 5}

	for version := int16(3); version <= 13; version++ {
		p := &produceReply{c: c, version: version, results: results}
		p.request.topics = []produceTopic{{name: "one", id: [16]byte{1}, first: 0, last: 1}, {name: "three", id: [16]byte{2}, first: 1, last: 4}}
		p.request.partitions = []producePartition{{index: 9}, {index: 0}, {index: 1}, {index: 2}}
		var out response
		if err := p.encode(&out); err != nil {
			t.Fatal(err)
		}

		want := kmsg.NewPtrProduceResponse()
		want.Version = version
		for i := range p.request.topics {
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic, topic.TopicID = p.request.topics[i].name, p.request.topics[i].id
			for j := p.request.topics[i].first; j < p.request.topics[i].last; j++ {
				topic.Partitions = append(topic.Partitions, kmsgProduced(version, p.request.partitions[j].index, &results[j]))
			}
			want.Topics = append(want.Topics, topic)
		}
		if version >= 10 {
			want.Brokers = []kmsg.ProduceResponseBroker{{NodeID: self.ID, Host: endpoint.Host, Port: endpoint.Port}}
		}
		if b := want.AppendTo(nil); !bytes.Equal(out.bytes, b) {
			t.Errorf("version %d:\n%x\nkmsg has\n%x", version, out.bytes, b)
		}
	}
}

func kmsgProduced(version int16, index int32, r *broker.Produced) kmsg.ProduceResponseTopicPartition {
	out := kmsg.NewProduceResponseTopicPartition()
	out.Partition, out.ErrorCode = index, code(r.Err)
	out.BaseOffset, out.LogAppendTime, out.LogStartOffset = r.BaseOffset, r.LogAppendTime, r.LogStartOffset
	for _, e := range r.RecordErrors {
		bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		bad.RelativeOffset = e.Index
		if e.Message != "" {
			bad.ErrorMessage = &e.Message
		}
		out.ErrorRecords = append(out.ErrorRecords, bad)
	}
	if r.Err != nil {
		out.ErrorMessage = errorMessage(r.Err)
	}
	if r.Message != "" {
		out.ErrorMessage = &r.Message
	}
	if version >= 10 {
		out.CurrentLeader.LeaderID, out.CurrentLeader.LeaderEpoch = r.Leader.ID, r.Leader.Epoch
	}
	return out
}
