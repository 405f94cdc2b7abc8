package producer

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// acksAll asks for the acknowledgement of all in-sync replicas.
const acksAll = -1

// lastVersionWithNames is the last version of Produce that names topics; later ones have their ids (KIP-516).
const lastVersionWithNames = 12

// request is a Produce request.
type request struct {
	*kmsg.ProduceRequest
	max  int16
	made func()
}

// MaxVersion bounds the version that is agreed on with the broker.
func (r *request) MaxVersion() int16 { return r.max }

// AppendTo encodes the request. The client does that when it has the connection; requests that it is given from then on are sent behind
// this one.
func (r *request) AppendTo(dst []byte) []byte {
	r.made()
	return r.ProduceRequest.AppendTo(dst)
}

// request sends the batches whose verdict is open, and notes what the broker says of each. It calls made when the request is on its way.
func (p *Producer) request(broker int32, batches []*batch, made func()) {
	req := p.build(batches)
	if len(req.Topics) == 0 {
		return
	}
	var whole kmsg.Request = req
	if p.cfg.Acks != 0 { // for which the client looks at the type
		r := &request{ProduceRequest: req, max: req.MaxVersion(), made: made}
		for i := range req.Topics {
			if req.Topics[i].TopicID == [16]byte{} {
				r.max = lastVersionWithNames
			}
		}
		whole = r
	}
	resp, err := p.cfg.Client.Broker(int(broker)).Request(p.ctx, whole)
	if answer, ok := resp.(*kmsg.ProduceResponse); ok && err == nil && p.cfg.Acks != 0 {
		read(answer, batches)
	}
	for _, b := range batches {
		switch {
		case b.verdict.kind != open:
		case err != nil:
			b.verdict = verdict{kind: kindOf(err), err: err, unsure: !neverSent(err)}
		case p.cfg.Acks == 0:
			b.verdict = verdict{kind: written, base: -1, logAppendTime: -1}
		default:
			b.verdict = verdict{kind: again, err: errNoAnswer, unsure: true}
		}
	}
}

// build makes the request.
func (p *Producer) build(batches []*batch) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks = p.cfg.Acks
	req.TimeoutMillis = int32(min(p.patience(batches).Milliseconds(), math.MaxInt32))
	for _, b := range batches {
		if b.verdict.kind != open {
			continue
		}
		name := b.queue.topic.name
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != name {
			t := kmsg.NewProduceRequestTopic()
			t.Topic, t.TopicID = name, b.topicID
			req.Topics = append(req.Topics, t)
		}
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = b.queue.partition, b.frame.bytes
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, part)
	}
	return req
}

// leastPatience is how long a broker is given at least, however soon records are due.
const leastPatience = time.Second

// patience is how long the broker may wait for its replicas: until the first record is due.
func (p *Producer) patience(batches []*batch) time.Duration {
	due := batches[0].entries[0].call.due
	for _, b := range batches[1:] {
		if d := b.entries[0].call.due; d.Before(due) {
			due = d
		}
	}
	return max(time.Until(due), leastPatience)
}

// read takes the verdicts out of an answer. Brokers answer in the order of the request.
func read(answer *kmsg.ProduceResponse, batches []*batch) {
	byName := answer.Version <= lastVersionWithNames
	at := 0
	for i := range answer.Topics {
		t := &answer.Topics[i]
		for j := range t.Partitions {
			part := &t.Partitions[j]
			for range batches {
				b := batches[at]
				at = (at + 1) % len(batches)
				if b.verdict.kind == open && b.queue.partition == part.Partition &&
					(byName && t.Topic == b.queue.topic.name || !byName && t.TopicID == b.topicID) {
					b.verdict.read(part)
					break
				}
			}
		}
	}
}
