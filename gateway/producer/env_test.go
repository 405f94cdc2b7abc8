package producer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"moldau/broker/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env is a producer in front of a fake cluster, which holds sequence numbers as Kafka does.
type env struct {
	t        *testing.T
	cluster  *kfake.Cluster
	client   *kgo.Client
	producer *Producer
	requests atomic.Int64 // of Produce
	keep     atomic.Int64 // how many of the next answers to Produce come,
	lose     atomic.Int64 // and how many of those behind them get lost

	sent    chan struct{}                 // has a token for each of the last requests of Produce
	hold    atomic.Pointer[chan struct{}] // answers to Produce wait until it is closed
	latency time.Duration                 // of answers to Produce

	errors    atomic.Int64 // how many of the next Produce requests are answered by errorCode
	errorCode atomic.Int32
}

func newEnv(t *testing.T, change func(*Config), opts ...kfake.Opt) *env {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(1, "t")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, cluster: cluster, sent: make(chan struct{}, 1000)}
	cfg := Config{Acks: -1, Partitioner: kgo.StickyKeyPartitioner(nil), Delivery: time.Minute}
	if change != nil {
		change(&cfg)
	}
	acks := []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks())}
	switch cfg.Acks {
	case 0:
		acks = []kgo.Opt{kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite()}
	case 1:
		acks = []kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()}
	}
	e.client, err = kgo.NewClient(append(acks, kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.Dialer(e.dial), kgo.MetadataMinAge(10*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Client = e.client
	cfg.Find = func(ctx context.Context, name string) (*Topic, error) { return e.lookup(ctx, name) }
	e.producer = New(cfg)
	t.Cleanup(func() {
		e.producer.Close()
		e.client.Close()
		cluster.Close()
	})
	return e
}

func (e *env) lookup(ctx context.Context, name string) (*Topic, error) {
	t, err := FindTopic(ctx, e.client, name, false)
	if err == nil {
		err = t.Limits(ctx, e.client)
	}
	return t, err
}

func (e *env) topic(name string) *Topic {
	e.t.Helper()
	t, err := e.lookup(e.t.Context(), name)
	if err != nil {
		e.t.Fatal(err)
	}
	return t
}

// dial counts Produce requests and loses answers.
func (e *env) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	return &conn{Conn: c, env: e}, err
}

// conn is a connection whose answers may get lost.
type conn struct {
	net.Conn
	env     *env
	produce atomic.Bool // the last request was Produce
	come    []byte      // of what came, what was not read
	left    int         // of the answer that is being read
}

func (c *conn) Write(p []byte) (int, error) {
	produce := len(p) > 6 && binary.BigEndian.Uint16(p[4:]) == 0
	c.produce.Store(produce)
	if produce {
		c.env.requests.Add(1)
		select {
		case c.env.sent <- struct{}{}:
		default:
		}
	}
	return c.Conn.Write(p)
}

// Read reads no more than the rest of an answer.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.come) < 4 {
		buf := make([]byte, 64<<10)
		n, err := c.Conn.Read(buf) // what was asked has happened
		if c.come = append(c.come, buf[:n]...); err != nil {
			return copy(p, c.come), err
		}
		if hold := c.env.hold.Load(); hold != nil && c.produce.Load() {
			<-*hold
		}
		if c.env.latency > 0 && c.produce.Load() {
			<-time.After(c.env.latency)
		}
	}
	if c.left == 0 {
		if c.produce.Load() && c.env.keep.Add(-1) < 0 && c.env.lose.Add(-1) >= 0 {
			_ = c.Close()
			return 0, io.ErrUnexpectedEOF
		}
		c.left = 4 + int(binary.BigEndian.Uint32(c.come))
	}
	n := copy(p[:min(len(p), c.left)], c.come)
	c.come, c.left = c.come[n:], c.left-n
	return n, nil
}

// call makes a call of records without keys.
func call(values ...string) *waited {
	w := &waited{done: make(chan struct{})}
	w.Done = func() { close(w.done) }
	for _, v := range values {
		w.Records = append(w.Records, kgo.Record{Value: []byte(v), Partition: -1})
	}
	return w
}

// waited is a call that a test waits for.
type waited struct {
	Call
	done chan struct{}
}

func (w *waited) wait(t *testing.T) {
	t.Helper()
	select {
	case <-w.done:
	case <-time.After(time.Minute):
		t.Fatal("no outcome after a minute")
	}
}

// errs waits for the outcomes.
func (w *waited) errs(t *testing.T) []error {
	t.Helper()
	w.wait(t)
	out := make([]error, len(w.Records))
	for i := range out {
		out[i] = w.Err(i)
	}
	return out
}

// produce writes values by one call and waits for the outcomes.
func (e *env) produce(topic string, values ...string) []error {
	e.t.Helper()
	w := call(values...)
	e.producer.Produce(e.topic(topic), &w.Call)
	return w.errs(e.t)
}

// fly sends calls one after the other while no answer comes, so that each is under way in a batch of its own, and then lets the answers come.
func (e *env) fly(calls ...*waited) {
	e.t.Helper()
	known := e.topic("t")
	for len(e.sent) > 0 {
		<-e.sent
	}
	hold := make(chan struct{})
	e.hold.Store(&hold)
	defer func() { e.hold.Store(nil); close(hold) }()
	for i, c := range calls {
		e.producer.Produce(known, &c.Call)
		select {
		case <-e.sent:
		case <-time.After(time.Minute):
			e.t.Fatalf("call %d was not sent while others are under way", i)
		}
	}
}

// ok demands that all values are written.
func (e *env) ok(topic string, values ...string) {
	e.t.Helper()
	for i, err := range e.produce(topic, values...) {
		if err != nil {
			e.t.Fatalf("%q: %v", values[i], err)
		}
	}
}

// log returns what is in a partition, in order.
func (e *env) log(topic string, partition int32) []string {
	e.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(e.cluster.ListenAddrs()...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topic: {partition: kgo.NewOffset().AtStart()},
	}))
	if err != nil {
		e.t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err != nil {
		e.t.Fatal(err)
	}
	end, _ := ends.Lookup(topic, partition)
	var out []string
	for int64(len(out)) < end.Offset {
		f := cl.PollFetches(ctx)
		if err := f.Err(); err != nil {
			e.t.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) {
			if r.Offset != int64(len(out)) {
				e.t.Fatalf("offset %d comes after %d records", r.Offset, len(out))
			}
			out = append(out, string(r.Value))
		})
	}
	return out
}

// wantLog demands what is in partition 0 of topic t.
func (e *env) wantLog(want ...string) {
	e.t.Helper()
	if got := e.log("t", 0); strings.Join(got, " ") != strings.Join(want, " ") {
		e.t.Errorf("the log holds %q, want %q", got, want)
	}
}

// values reads a batch.
func values(tb testing.TB, raw []byte) (out []string) {
	batch, rest, err := record.Next(raw)
	if err != nil || len(rest) > 0 {
		tb.Errorf("no batch: %v", err)
		return nil
	}
	r := batch.Records(record.NewDecompressor(record.DefaultLimits()))
	defer r.Close()
	for r.Next() {
		out = append(out, string(r.Record().Value))
	}
	return out
}

// rule judges a batch: it answers kerr 0 for one that is to be appended.
type rule func(values []string) (code int16, message string, named []recordError)

// refuse has the cluster judge batches by a rule. When a request holds a batch that is refused, the others of it are answered
// NOT_ENOUGH_REPLICAS.
func (e *env) refuse(judge rule) {
	e.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		e.cluster.KeepControl()
		resp, refused := e.judge(req.(*kmsg.ProduceRequest), judge)
		return resp, nil, refused
	})
}

// judge returns the answer to a request with a batch that is refused.
func (e *env) judge(q *kmsg.ProduceRequest, judge rule) (kmsg.Response, bool) {
	resp := q.ResponseKind().(*kmsg.ProduceResponse)
	refused := false
	for _, rt := range q.Topics {
		st := kmsg.NewProduceResponseTopic()
		st.Topic, st.TopicID = rt.Topic, rt.TopicID
		for _, rp := range rt.Partitions {
			sp := kmsg.NewProduceResponseTopicPartition()
			sp.Partition, sp.BaseOffset, sp.ErrorCode = rp.Partition, -1, kerr.NotEnoughReplicas.Code
			if code, message, named := judge(values(e.t, rp.Records)); code != 0 {
				refused = true
				sp.ErrorCode, sp.ErrorMessage, sp.ErrorRecords = code, &message, named
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, refused
}

// answer has the next so many Produce requests answered by an error, without appending anything. It may be called again.
func (e *env) answer(times int, code int16) {
	first := e.errorCode.Swap(int32(code)) == 0
	e.errors.Store(int64(times))
	if !first {
		return
	}
	e.refuse(func([]string) (int16, string, []recordError) {
		if e.errors.Add(-1) < 0 {
			return 0, "", nil
		}
		return int16(e.errorCode.Load()), "", nil
	})
}

// bad tells whether a rule of ours refuses a value.
func bad(value string) bool { return strings.HasPrefix(value, "bad") }

// naming refuses batches with bad values and names up to most of them; none if most is 0.
func naming(most int) rule {
	return func(values []string) (code int16, message string, named []recordError) {
		for i, v := range values {
			if !bad(v) {
				continue
			}
			code, message = kerr.InvalidRecord.Code, "some records are bad"
			if len(named) < most {
				r := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				r.RelativeOffset, r.ErrorMessage = int32(i), kmsg.StringPtr(v+" is bad")
				named = append(named, r)
			}
		}
		return code, message, named
	}
}

// wantRefused demands that the bad values failed with Kafka's error and the text, and the others did not.
func wantRefused(t *testing.T, values []string, errs []error, k *kerr.Error, text func(value string) string) {
	t.Helper()
	for i, err := range errs {
		switch {
		case !bad(values[i]):
			if err != nil {
				t.Errorf("%q: %v", values[i], err)
			}
		case !errors.Is(err, k) || err.Error() != text(values[i]):
			t.Errorf("%q: %v, want %s: %s", values[i], err, k.Message, text(values[i]))
		}
	}
}

// group runs callers at a time.
func group(callers int, run func(caller int)) {
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { run(i) })
	}
	wg.Wait()
}

func numbered(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%04d", prefix, i))
	}
	return out
}

func good(values []string) (out []string) {
	for _, v := range values {
		if !bad(v) {
			out = append(out, v)
		}
	}
	return out
}
