package kafka

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// Fetch (key 1), versions 4 to 18.
//
// 4: isolation levels, format 2. 5: log start offset. 7: sessions (KIP-227). 9: current leader epoch (KIP-320). 10: zstd.
// 11: rack (KIP-392). 12: flexible, last fetched and diverging epoch (KIP-595). 13: topic ids (KIP-516). 15: replica state.
// 16: current leader and endpoints (KIP-951). 17: replica directory id. 18: the follower's high watermark.

// firstFetchHint is the first version of Fetch whose clients understand leader hints.
const firstFetchHint = 16

// fetchReplies lends fetchReply objects with their slices.
type fetchReplies struct{ pool sync.Pool }

func (p *fetchReplies) get() *fetchReply {
	if r, ok := p.pool.Get().(*fetchReply); ok {
		return r
	}
	return new(fetchReply)
}

// fetchReply is the answer to a Fetch request, parked until there is enough to tell.
type fetchReply struct {
	c       *conn
	version int16
	failed  int16 // an error of the whole request
	denied  error // an error of every partition

	refusals []broker.FetchedPartition // the answers when denied
	op       *broker.FetchOp
	request  broker.FetchRequest
	keys     []fetchPartitionKey // by request.Partitions
	metrics  []*topicMetrics     // by request.Partitions; nil for unknown topics

	session   *fetchSession // incremental, or to be made
	wants     bool          // a session is to be made of this answer
	carried   []int         // the partitions that the answer carries
	sessionID int32
	usesIDs   bool
}

// fetch reads what is there, and leaves waiting for more to the reply.
func (c *conn) fetch(_ context.Context, r *request) reply {
	q := kmsg.NewPtrFetchRequest()
	q.SetVersion(r.version)
	if err := q.UnsafeReadFrom(r.body); err != nil { // names are replaced before the frame goes
		return hangUp(malformed(r, err))
	}
	f := c.srv.fetchReplies.get()
	f.c, f.version, f.usesIDs = c, r.version, r.version >= 13
	f.request.MaxWait = time.Duration(max(q.MaxWaitMillis, 0)) * time.Millisecond
	f.request.MinBytes, f.request.MaxBytes = int(q.MinBytes), int(q.MaxBytes)
	f.request.IsolationLevel = q.IsolationLevel
	f.request.Rack = strings.Clone(q.Rack)
	f.request.ReplicaID = -1
	if max(q.ReplicaID, q.ReplicaState.ID) >= 0 {
		f.denied = errForgedReplica
		f.eachAsked(q, f.add)
		return f
	}
	if f.failed = f.begin(q); f.failed != 0 {
		return f
	}
	f.op = c.node.Fetch(r.caller, &f.request)
	return f
}

// begin finds out which partitions are asked for: those of the request, or those of its session with the changes that the
// request names.
func (f *fetchReply) begin(q *kmsg.FetchRequest) (failed int16) {
	epoch := q.SessionEpoch
	if f.version < 7 {
		epoch = finalEpoch
	}
	if epoch == initialEpoch || epoch == finalEpoch {
		if q.SessionID != noSession && f.version >= 7 {
			f.c.srv.sessions.remove(q.SessionID)
		}
		f.wants = epoch == initialEpoch
		f.eachAsked(q, f.add)
		return 0
	}
	return f.resume(q)
}

// add asks for one partition.
func (f *fetchReply) add(key fetchPartitionKey, ask broker.FetchPartition, m *topicMetrics) {
	f.keys = append(f.keys, key)
	f.request.Partitions = append(f.request.Partitions, ask)
	f.metrics = append(f.metrics, m)
}

// resume continues a session.
func (f *fetchReply) resume(q *kmsg.FetchRequest) (failed int16) {
	s, ok := f.c.srv.sessions.get(q.SessionID)
	if !ok {
		return kerr.FetchSessionIDNotFound.Code
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.epoch != q.SessionEpoch:
		return kerr.InvalidFetchSessionEpoch.Code
	case s.usesIDs != f.usesIDs:
		return kerr.FetchSessionTopicIDError.Code
	}
	f.eachAsked(q, func(key fetchPartitionKey, ask broker.FetchPartition, _ *topicMetrics) { s.set(key, ask) })
	for i := range q.ForgottenTopics {
		t := &q.ForgottenTopics[i]
		for _, p := range t.Partitions {
			s.forget(fetchPartitionKey{t.Topic, t.TopicID, p})
		}
	}
	size := s.order.Len()
	if size == 0 {
		f.c.srv.sessions.remove(s.id)
		return 0
	}
	if size > maxSessionPartitions {
		f.c.srv.sessions.remove(s.id)
		return kerr.FetchSessionIDNotFound.Code // a full request follows, which gets no session
	}
	f.c.srv.sessions.touch(s, size, f.c.srv.now())
	s.epoch = nextEpoch(s.epoch)
	f.session, f.sessionID = s, s.id
	var names topicNames
	for e := s.order.Front(); e != nil; e = e.Next() {
		p := e.Value.(*cachedPartition)
		m, _ := names.find(f.c, p.topic, p.id)
		f.add(p.fetchPartitionKey, p.ask, m)
	}
	return 0
}

// eachAsked calls visit for every partition that the request names. Names no longer alias the frame then.
func (f *fetchReply) eachAsked(q *kmsg.FetchRequest, visit func(fetchPartitionKey, broker.FetchPartition, *topicMetrics)) {
	var names topicNames
	for i := range q.Topics {
		t := &q.Topics[i]
		m, name := names.find(f.c, t.Topic, t.TopicID)
		for j := range t.Partitions {
			p := &t.Partitions[j]
			visit(fetchPartitionKey{name, t.TopicID, p.Partition}, broker.FetchPartition{
				Topic:              broker.TopicRef{Name: name, ID: t.TopicID},
				Partition:          p.Partition,
				CurrentLeaderEpoch: p.CurrentLeaderEpoch,
				LastFetchedEpoch:   p.LastFetchedEpoch,
				FetchOffset:        p.FetchOffset,
				LogStartOffset:     p.LogStartOffset,
				MaxBytes:           int(p.PartitionMaxBytes),
			}, m)
		}
	}
}

// topicNames finds the numbers of topics, and names that live on. Requests name a topic many times in a row.
type topicNames struct {
	asked string
	id    [16]byte
	m     *topicMetrics
	name  string
	known bool
}

func (n *topicNames) find(c *conn, asked string, id [16]byte) (m *topicMetrics, name string) {
	if n.known && n.asked == asked && n.id == id {
		return n.m, n.name
	}
	n.asked, n.id, n.known = asked, id, true
	n.m, n.name = c.topicMetrics(asked, id), ""
	switch {
	case asked == "":
	case n.m != nil:
		n.name = n.m.name
	default:
		n.name = strings.Clone(asked)
	}
	return n.m, n.name
}

func (f *fetchReply) ready() bool { return f.op == nil || f.op.Done() }

func (f *fetchReply) wait(ctx context.Context) { f.op.Wait(ctx) }

// release gives back the pins on log segments, and files the object for another request.
func (f *fetchReply) release() {
	if f.op != nil {
		f.op.Release()
	}
	pool := &f.c.srv.fetchReplies.pool
	clear(f.keys)
	clear(f.request.Partitions)
	clear(f.metrics)
	next := fetchReply{keys: f.keys[:0], metrics: f.metrics[:0], carried: f.carried[:0]}
	next.request.Partitions = f.request.Partitions[:0]
	if cap(f.keys) > keepPartitions {
		next = fetchReply{}
	}
	*f = next
	pool.Put(f)
}

func (f *fetchReply) countErrors(count func(code int16)) {
	got := f.answers()
	if f.failed != 0 || len(got) == 0 {
		count(f.failed)
	}
	for i := range got {
		count(code(got[i].Err))
	}
}

// answers are what came out, by request.Partitions.
func (f *fetchReply) answers() []broker.FetchedPartition {
	switch {
	case f.op != nil:
		return f.op.Partitions()
	case f.denied != nil && f.refusals == nil:
		for range f.keys {
			f.refusals = append(f.refusals, broker.FetchedPartition{
				Err: f.denied, HighWatermark: -1, LastStableOffset: -1, LogStartOffset: -1,
				Diverging: broker.EpochEnd{Epoch: -1, EndOffset: -1}, PreferredReadReplica: -1, Leader: noLeader,
			})
		}
	}
	return f.refusals
}

// settle decides, once the answer is final, which partitions it carries, and keeps the session up to date.
func (f *fetchReply) settle(got []broker.FetchedPartition) {
	s := f.session
	if f.wants && len(f.keys) <= maxSessionPartitions {
		s = newFetchSession(f.usesIDs, len(f.keys))
		for i := range f.keys {
			s.set(f.keys[i], f.request.Partitions[i])
		}
	}
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	for i := range got {
		carry := s == nil || s.update(f.keys[i], &got[i])
		if carry || f.session == nil {
			f.carried = append(f.carried, i)
		}
	}
	if s != nil && f.session == nil && f.c.srv.sessions.create(s, f.c.srv.now()) {
		f.sessionID = s.id
	}
}

// encode writes the answer: everything but records as bytes, records as ranges of files.
func (f *fetchReply) encode(out *response) error {
	enc := fetchEncoder{out: out, version: f.version, compact: f.version >= 12, readCommitted: f.request.IsolationLevel == broker.ReadCommitted}
	got := f.answers()
	f.settle(got)
	var leaders endpoints
	enc.begin(f.failed, f.sessionID, f.topicRuns())
	for at := 0; at < len(f.carried); {
		end := f.runEnd(at)
		key := &f.keys[f.carried[at]]
		enc.topic(key.topic, key.id, end-at)
		for ; at < end; at++ {
			i := f.carried[at]
			p := &got[i]
			if f.version >= firstFetchHint {
				leaders.add(f.c, p.Leader)
			}
			enc.partition(f.keys[i].partition, p, &p.Records)
			if m := f.metrics[i]; m != nil {
				m.bytesOut.Add(uint64(p.Records.Len()))
			}
		}
		enc.endTopic()
	}
	enc.end(leaders.found)
	f.countTopics(got)
	return nil
}

// runEnd is where the run of carried partitions of one topic ends that begins at at.
func (f *fetchReply) runEnd(at int) int {
	first := &f.keys[f.carried[at]]
	end := at + 1
	for end < len(f.carried) && f.keys[f.carried[end]].sameTopic(first) {
		end++
	}
	return end
}

// topicRuns is the number of runs.
func (f *fetchReply) topicRuns() int {
	runs := 0
	for at := 0; at < len(f.carried); at = f.runEnd(at) {
		runs++
	}
	return runs
}

func (f *fetchReply) countTopics(got []broker.FetchedPartition) {
	for i := range got {
		if m := f.metrics[i]; m != nil {
			m.fetchRequests.Add(1)
			if got[i].Err != nil {
				m.failedFetch.Add(1)
			}
		}
	}
}
