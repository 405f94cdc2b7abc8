//go:build peers

package peers

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"regexp"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// exchange is one request's label and the answer to it.
type exchange struct {
	label  string
	fields Fields
}

// session sends a scenario's requests to one broker and keeps the answers in
// a form that does not depend on the broker: topic ids are numbered in order
// of appearance, addresses and clocks are replaced.
type session struct {
	tb    testing.TB
	addr  string
	wire  *Wire
	ids   map[string]string
	log   []exchange
	clock int64
}

// newSession begins a session; clock is the time in ms that the scenario's
// records carry, the same for both brokers.
func newSession(tb testing.TB, addr string, clock int64) *session {
	return &session{tb: tb, addr: addr, wire: DialWire(tb, addr), ids: map[string]string{}, clock: clock}
}

// ask sends req at version v and records the answer under "label vN". An
// answer that is a closed connection is recorded as such and a new
// connection is made.
func (s *session) ask(label string, req kmsg.Request, v int16) kmsg.Response {
	s.tb.Helper()
	resp, err := s.wire.Do(req, v)
	label = fmt.Sprintf("%s v%d", label, v)
	if err != nil {
		s.log = append(s.log, exchange{label, Fields{"connection": "closed"}})
		s.wire = DialWire(s.tb, s.addr)
		return nil
	}
	s.log = append(s.log, exchange{label, s.normalize(Flatten(resp))})
	return resp
}

// quiet sends req without recording the answer: to look something up.
func (s *session) quiet(req kmsg.Request, v int16) kmsg.Response {
	s.tb.Helper()
	resp, err := s.wire.Do(req, v)
	if err != nil {
		s.tb.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), v, err)
	}
	return resp
}

var (
	idPath   = regexp.MustCompile(`TopicID$`)
	addrPath = regexp.MustCompile(`(Host|Port|ClusterID|Dir|TotalBytes|UsableBytes|ClientInstanceID|SubscriptionID|LastTimestamp|IsCordoned)$`)
	timePath = regexp.MustCompile(`(LogAppendTime|Timestamp)$`)
	idInPath = regexp.MustCompile(`\[\[[0-9 ]+\]\]`)
)

func (s *session) normalize(f Fields) Fields {
	out := Fields{}
	for path, v := range f {
		path = idInPath.ReplaceAllStringFunc(path, s.nameID)
		switch {
		case idPath.MatchString(path):
			v = s.nameID(v)
		case addrPath.MatchString(path):
			v = "<varies>"
		case timePath.MatchString(path) && len(v) > 10:
			v = "<time>"
		case pathEnds(path, "ProducerID") && v != "-1":
			v = "<producer>"
		}
		out[path] = v
	}
	return out
}

func pathEnds(path, field string) bool {
	return len(path) >= len(field) && path[len(path)-len(field):] == field
}

func (s *session) nameID(id string) string {
	if id == fmt.Sprint([16]byte{}) {
		return "<zero id>"
	}
	if _, ok := s.ids[id]; !ok {
		s.ids[id] = "<id>"
	}
	return s.ids[id]
}

// create makes a topic, waits until its partitions serve, and answers its id.
func (s *session) create(topic string, partitions int32, configs ...string) [16]byte {
	s.tb.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = append(req.Topics, newTopic(topic, partitions, 1, configs...))
	resp := s.quiet(req, 7).(*kmsg.CreateTopicsResponse)
	if resp.Topics[0].ErrorCode != 0 {
		s.tb.Fatalf("create %s: error %d", topic, resp.Topics[0].ErrorCode)
	}
	list := kmsg.NewPtrListOffsetsRequest()
	lt := kmsg.NewListOffsetsRequestTopic()
	lt.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = i, -1, -1
		lt.Partitions = append(lt.Partitions, p)
	}
	list.Topics = append(list.Topics, lt)
	s.until("leaders of "+topic, func() bool {
		for _, p := range s.quiet(list, 4).(*kmsg.ListOffsetsResponse).Topics[0].Partitions {
			if p.ErrorCode != 0 {
				return false
			}
		}
		return true
	})
	return resp.Topics[0].TopicID
}

// until repeats f until it answers true: a broker that has just started or
// just made a topic may say for a moment that it is not ready.
func (s *session) until(what string, f func() bool) {
	s.tb.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if f() {
			return
		}
	}
	s.tb.Fatalf("no %s in 30 s", what)
}

// write produces one batch to partition 0 and waits until it is committed
// and a reader can see it.
func (s *session) write(topic string, b batch) {
	s.tb.Helper()
	var end int64
	s.until("leader of "+topic, func() bool {
		p := s.quiet(produce(topic, [16]byte{}, 0, -1, b.bytes()), 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		end = p.BaseOffset + int64(len(b.values))
		return p.ErrorCode == 0
	})
	s.until("committed record in "+topic, func() bool {
		return s.quiet(fetch(topic, [16]byte{}, end), 12).(*kmsg.FetchResponse).Topics[0].Partitions[0].HighWatermark >= end
	})
}

func newTopic(topic string, partitions int32, rf int16, configs ...string) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, rf
	for i := 0; i+1 < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], kmsg.StringPtr(configs[i+1])
		t.Configs = append(t.Configs, c)
	}
	return t
}

// batch describes a record batch to build; the zero value of every field but
// values is what a plain producer sends.
type batch struct {
	values     []string
	noKey      bool
	timestamp  int64
	attributes int16
	pid        int64
	epoch      int16
	sequence   int32
	idempotent bool
	magic      int8
	badCRC     bool
	count      int32 // overrides the record count
}

func (b batch) bytes() []byte {
	var records []byte
	for i, v := range b.values {
		r := kmsg.NewRecord()
		r.OffsetDelta = int32(i)
		if !b.noKey {
			r.Key = []byte("k")
		}
		r.Value = []byte(v)
		body := r.AppendTo(nil)
		r.Length = int32(len(body) - 1) // the zero length takes one byte
		records = r.AppendTo(records)
	}
	rb := kmsg.NewRecordBatch()
	rb.PartitionLeaderEpoch, rb.Magic = -1, 2
	rb.Attributes, rb.LastOffsetDelta = b.attributes, int32(len(b.values)-1)
	rb.FirstTimestamp, rb.MaxTimestamp = b.timestamp, b.timestamp
	rb.ProducerID, rb.ProducerEpoch, rb.FirstSequence = -1, -1, -1
	if b.idempotent {
		rb.ProducerID, rb.ProducerEpoch, rb.FirstSequence = b.pid, b.epoch, b.sequence
	}
	rb.NumRecords, rb.Records = int32(len(b.values)), records
	if b.count != 0 {
		rb.NumRecords = b.count
	}
	raw := rb.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	crc := crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli))
	if b.badCRC {
		crc++
	}
	binary.BigEndian.PutUint32(raw[17:], crc)
	if b.magic != 0 {
		raw[16] = byte(b.magic)
	}
	return raw
}

func produce(topic string, id [16]byte, partition int32, acks int16, raw []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = topic, id
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, raw
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func fetch(topic string, id [16]byte, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, 0, 1, 1<<20
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, id
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = offset, 1<<20, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}
