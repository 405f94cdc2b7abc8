package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/record"
)

// Produce (key 0), versions 3 to 13. Versions 0 to 2 are advertised, because old librdkafka looks at the range before it
// uses any version (KAFKA-18659), and close the connection when used, as in Kafka 4: their message formats 0 and 1 are no
// longer written by anything current.
//
// 3: transactional id. 4: KAFKA_STORAGE_ERROR. 5: log start offset. 7: zstd (KIP-110). 8: record errors (KIP-467).
// 9: flexible. 10: current leader and endpoints (KIP-951). 11: TRANSACTION_ABORTABLE. 12: transactions v2 (KIP-890).
// 13: topic ids (KIP-516).

// firstZstdVersion is the first version of Produce that may carry zstd.
const firstZstdVersion = 7

// produceReplies lends produceReply objects with their slices.
type produceReplies struct{ pool sync.Pool }

func (p *produceReplies) get() *produceReply {
	if r, ok := p.pool.Get().(*produceReply); ok {
		return r
	}
	return new(produceReply)
}

// produceReply is the answer to a Produce request, under way until the high watermark covers what was appended.
type produceReply struct {
	c       *conn
	version int16
	request produceRequest
	results []broker.Produced // by request.partitions
	txn     *broker.Confirmation
	expires time.Duration // since the start of the server
}

// produce appends the records of all partitions, and leaves the waiting for acks=all to the reply.
func (c *conn) produce(_ context.Context, r *request) reply {
	p := c.srv.produceReplies.get()
	p.c, p.version = c, r.version
	if !p.request.decode(r.body, r.version) {
		p.release()
		return hangUp(fmt.Errorf("%w: Produce version %d of %d bytes", errMalformed, r.version, len(r.body)))
	}
	p.expires = c.srv.now() + time.Duration(p.request.timeoutMs)*time.Millisecond
	p.results = slices.Grow(p.results[:0], len(p.request.partitions))
	p.confirmTxn(r.caller)
	for i := range p.request.topics {
		p.appendTopic(r.caller, &p.request.topics[i])
	}
	p.request.detach()
	if p.request.acks != 0 {
		return p
	}
	defer p.release()
	for i := range p.results {
		if err := p.results[i].Err; err != nil {
			return hangUp(fmt.Errorf("a request with acks=0 failed, which only closing can tell: %w", err))
		}
	}
	return noAnswer{}
}

// appendTopic appends the records of one topic's partitions.
func (p *produceReply) appendTopic(caller *broker.Caller, t *produceTopic) {
	m := p.c.topicMetrics(t.name, t.id)
	t.ownName(m)
	ref := broker.TopicRef{Name: t.name, ID: t.id}
	for i := t.first; i < t.last; i++ {
		part := &p.request.partitions[i]
		result := p.appendPartition(caller, ref, i)
		if m != nil {
			m.produced(part.records, result.Err)
		}
		p.results = append(p.results, result)
	}
}

// appendPartition checks what only the edge can know, the request's version and acks, and calls the broker.
func (p *produceReply) appendPartition(caller *broker.Caller, topic broker.TopicRef, i int) broker.Produced {
	part := &p.request.partitions[i]
	if acks := p.request.acks; acks < -1 || acks > 1 {
		return notProduced(broker.ErrInvalidRequiredAcks, "")
	}
	if p.version < firstZstdVersion && len(part.records) >= record.HeaderLen && record.Batch(part.records).Codec() == record.Zstd {
		return notProduced(broker.ErrUnsupportedCompressionType, "zstd needs version 7 of Produce")
	}
	result := p.c.node.ProduceIn(caller, p.txn, i, topic, part.index, part.records, p.request.acks)
	if p.txn != nil && result.Err != nil {
		result.Message, result.Err = txnProduceError(result.Err, result.Message, p.version)
	}
	return result
}

// notProduced is an outcome that the broker wasn't asked for.
func notProduced(err error, message string) broker.Produced {
	return broker.Produced{
		Err: err, Message: message, BaseOffset: -1, LogAppendTime: -1, LogStartOffset: -1,
		Leader: broker.LeaderHint{ID: -1, Epoch: -1},
	}
}

func (p *produceReply) ready() bool {
	for i := range p.results {
		if !p.results[i].Done() {
			return false
		}
	}
	return true
}

// wait parks until every partition is done, or the time that the client gave is over.
func (p *produceReply) wait(ctx context.Context) {
	timer := time.NewTimer(p.expires - p.c.srv.now())
	defer timer.Stop()
	for i := range p.results {
		for {
			done, changed := p.results[i].Poll()
			if done {
				break
			}
			select {
			case <-changed:
				continue
			case <-timer.C:
			case <-ctx.Done():
			}
			p.expire()
			return
		}
	}
}

func (p *produceReply) expire() {
	for i := range p.results {
		p.results[i].Expire()
	}
}

// release files the object for another request.
func (p *produceReply) release() {
	pool := &p.c.srv.produceReplies.pool
	p.request.reset()
	clear(p.results)
	if cap(p.results) > keepPartitions {
		p.results = nil
	}
	p.c, p.txn = nil, nil
	pool.Put(p)
}

func (p *produceReply) countErrors(count func(code int16)) {
	for i := range p.results {
		count(code(p.results[i].Err))
	}
}

// encode writes the answer by hand, for the same reason as the request is read by hand.
func (p *produceReply) encode(out *response) error {
	compact := p.version >= 9
	dst := appendCount(out.bytes, len(p.request.topics), compact)
	for i := range p.request.topics {
		t := &p.request.topics[i]
		if p.version >= 13 {
			dst = append(dst, t.id[:]...)
		} else {
			dst = appendString(dst, t.name, compact)
		}
		dst = appendCount(dst, t.last-t.first, compact)
		for j := t.first; j < t.last; j++ {
			dst = p.appendResult(dst, p.request.partitions[j].index, &p.results[j], compact)
		}
		if compact {
			dst = append(dst, 0)
		}
	}
	dst = appendInt32(dst, 0) // throttle time
	if compact {
		dst = appendNodeEndpoints(dst, p.endpoints())
	}
	out.bytes = dst
	return nil
}

func (p *produceReply) appendResult(dst []byte, index int32, r *broker.Produced, compact bool) []byte {
	dst = appendInt32(dst, index)
	dst = appendInt16(dst, code(r.Err))
	dst = appendInt64(dst, r.BaseOffset)
	dst = appendInt64(dst, r.LogAppendTime)
	if p.version >= 5 {
		dst = appendInt64(dst, r.LogStartOffset)
	}
	if p.version >= 8 {
		dst = appendCount(dst, len(r.RecordErrors), compact)
		for i := range r.RecordErrors {
			e := &r.RecordErrors[i]
			dst = appendInt32(dst, e.Index)
			dst = appendNullableString(dst, optional(e.Message), compact)
			if compact {
				dst = append(dst, 0)
			}
		}
		dst = appendNullableString(dst, producedMessage(r), compact)
	}
	if compact {
		if leader := r.Leader; p.version >= 10 && leader != noLeader {
			dst = append(dst, 1)
			dst = appendLeaderTag(dst, 0, leader)
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

// endpoints names the leaders that the answer points to (KIP-951).
func (p *produceReply) endpoints() []kmsg.FetchResponseBroker {
	if p.version < 10 {
		return nil
	}
	var leaders endpoints
	for i := range p.results {
		leaders.add(p.c, p.results[i].Leader)
	}
	return leaders.found
}

// producedMessage is the text that goes with an outcome; nil if there is none.
func producedMessage(r *broker.Produced) *string {
	if r.Err == nil {
		return nil
	}
	if r.Message != "" {
		return &r.Message
	}
	return errorMessage(r.Err)
}

// optional is a string that is null when it is empty.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// produced counts the outcome of one partition of a request.
func (m *topicMetrics) produced(records []byte, err error) {
	m.produceRequests.Add(1)
	if err != nil {
		m.failedProduce.Add(1)
		if errors.Is(err, broker.ErrMessageTooLarge) || errors.Is(err, broker.ErrRecordListTooLarge) {
			m.bytesRejected.Add(uint64(len(records)))
		}
		return
	}
	m.bytesIn.Add(uint64(len(records)))
	for rest := records; len(rest) > 0; {
		batch, next, err := record.Next(rest)
		if err != nil {
			return
		}
		m.messagesIn.Add(uint64(batch.Count()))
		m.batches.Add(1)
		rest = next
	}
}
