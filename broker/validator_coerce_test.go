package broker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"moldau/broker/coordinator/txn"
	"moldau/broker/record"
	"moldau/internal/vfs"
)

// coerced makes a topic whose bare records get envelopes.
func (n *testNode) coerced(name, action string, configs ...string) TopicRef {
	n.t.Helper()
	configs = append(configs, "schema.validation.value", "structure", "schema.validation.envelope", "coerce", "schema.validation.action", action)
	return n.topic(name, 1, configs...)
}

// whole returns all of the records of a partition: "offset@timestamp key=value header=value ...".
func (n *testNode) whole(topic TopicRef, partition int32) []string {
	n.t.Helper()
	var out []string
	for _, b := range n.batches(topic, partition) {
		it := b.Records(testUnpack)
		for it.Next() {
			r := it.Record()
			text := fmt.Sprintf("%d@%d %s=%s", r.Offset, r.Timestamp-testStart.UnixMilli(), text(r.Key), text(r.Value))
			for _, h := range r.Headers {
				text += fmt.Sprintf(" %s=%s", h.Key, h.Value)
			}
			out = append(out, text)
		}
		must(n.t, it.Err())
		it.Close()
	}
	return out
}

func text(b []byte) string {
	if b == nil {
		return "null"
	}
	return string(b)
}

// mixed is a batch of records that need an envelope, have one, are null, empty and bad.
func mixed(t *testing.T, o record.Options) []byte {
	t.Helper()
	b := record.NewBuilder(o)
	own := []record.Header{{Key: []byte("own"), Value: []byte("1")}, {Key: []byte("own")}}
	for i, r := range []record.Record{
		{Key: []byte("bare a"), Value: []byte("bare a"), Headers: own},
		{Key: []byte("b"), Value: []byte("good b")},
		{Key: []byte("bare c")},
		{Key: []byte("bare d"), Value: []byte("bad d"), Headers: own},
		{Value: []byte("bare e")},
		{Key: []byte{}, Value: []byte("bare f")},
	} {
		r.Timestamp = testStart.UnixMilli() + int64(i*i) - 7
		b.Append(&r)
	}
	built, err := b.Build(nil, testCompressor)
	must(t, err)
	return built
}

var mixedStored = []string{
	"0@-7 key:bare a=value:bare a own=1 own=", "1@-6 b=good b", "2@-3 key:bare c=null",
	"3@2 bare d=bad d own=1 own=", "4@9 null=value:bare e", "5@18 =value:bare f",
}

// TestCoerce sends one batch under every action and codec: it is made anew once, with what the action says of the bad record.
func TestCoerce(t *testing.T) {
	for _, codec := range []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
		n := startNode(t, relaxed, validating)
		reject, observe, mark := n.coerced("reject", "reject"), n.coerced("observe", "observe"), n.coerced("mark", "mark")
		dlq := n.coerced("dlq", "dlq")
		o := record.NewOptions(codec)
		if got := n.produce(reject, 0, mixed(t, o)); !errors.Is(got.Err, ErrInvalidRecord) || len(got.RecordErrors) != 1 || got.RecordErrors[0].Index != 3 {
			t.Errorf("reject: %+v", got)
		}
		n.mustProduce(reject, 0, batchOf(t, o, "bare", "good"))
		equal(t, "reject", n.whole(reject, 0), []string{"0@0 k=value:bare", "1@1 k=good"})
		n.mustProduce(observe, 0, mixed(t, o))
		equal(t, "observe", n.whole(observe, 0), mixedStored)
		n.mustProduce(mark, 0, mixed(t, o))
		marked := slices.Clone(mixedStored)
		marked[3] += " moldau.validation.reason=malformed moldau.validation.message=The value is bad moldau.validation.schema.id=7"
		equal(t, "mark", n.whole(mark, 0), marked)
		n.mustProduce(dlq, 0, mixed(t, o))
		n.mustProduce(dlq, 0, batchOf(t, o, "bad"))
		equal(t, "dlq", n.whole(dlq, 0), slices.Delete(slices.Clone(mixedStored), 3, 4))
		equal(t, "dead letters", n.annotations(TopicRef{Name: "dlq.dlq"}, 0)[:1], []string{
			"bare d=bad d own=1 own= reason=malformed message=The value is bad schema.id=7 topic=dlq partition=0",
		})
		for _, topic := range []TopicRef{observe, mark, dlq} {
			if b := n.batches(topic, 0)[0]; b.Codec() != codec || b.LastOffsetDelta() != 5 || b.MaxTimestamp() != testStart.UnixMilli()+18 || b.BaseTimestamp() != testStart.UnixMilli()-7 {
				t.Errorf("%s: %s, last offset delta %d, timestamps %d to %d", topic.Name, b.Codec(), b.LastOffsetDelta(), b.BaseTimestamp(), b.MaxTimestamp())
			}
		}
	}
}

// TestCoerceOfIdempotentProducers sends batches again, before and after a restart, and out of their order.
func TestCoerceOfIdempotentProducers(t *testing.T) {
	n := startNode(t, relaxed, validating)
	topic := n.coerced("orders", "dlq", "compression.type", "zstd")
	id := ProducerIdentity{ID: 7, Epoch: 1}
	first := func() []byte { return batchOf(t, idempotent(id, 0), "bare a", "bad", "c") }
	for range 2 {
		if got := n.mustProduce(topic, 0, first()); got.BaseOffset != 0 {
			t.Errorf("%+v", got)
		}
	}
	if got := n.produce(topic, 0, batchOf(t, idempotent(id, 5), "bare")); !errors.Is(got.Err, ErrOutOfOrderSequence) {
		t.Errorf("a gap: %+v", got)
	}
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 3), "bare d"))
	n.restart(nil)
	if got := n.mustProduce(topic, 0, first()); got.BaseOffset != 0 {
		t.Errorf("a duplicate after the restart: %+v", got)
	}
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 4), "bare e"))
	equal(t, "records", n.remaining(topic, 0), []string{"0=value:bare a", "2=c", "3=value:bare d", "4=value:bare e"})
	for i, b := range n.batches(topic, 0) {
		if b.ProducerID() != 7 || b.ProducerEpoch() != 1 || b.BaseSequence() != []int32{0, 3, 4}[i] || b.LastSequence() != []int32{2, 3, 4}[i] || b.Codec() != record.Zstd {
			t.Errorf("batch %d: producer %d/%d, sequences %d to %d, %s", i, b.ProducerID(), b.ProducerEpoch(), b.BaseSequence(), b.LastSequence(), b.Codec())
		}
	}
}

func TestCoerceInTransactions(t *testing.T) {
	n := startNode(t, validating)
	topic := n.coerced("orders", "dlq")
	p := n.producer("id", time.Minute)
	if got := n.transact("id", true, topic, 0, transactional(p, 0), "bad"); !errors.Is(got.Err, ErrInvalidRecord) || len(got.RecordErrors) != 1 {
		t.Errorf("a bad record: %+v", got)
	}
	must(t, n.transact("id", true, topic, 0, transactional(p, 0), "bare a").Err)
	must(t, n.transact("id", true, topic, 0, transactional(p, 1), "bare b").Err)
	must(t, n.transact("id", true, topic, 0, transactional(p, 1), "bare b").Err) // again
	_, err := n.end("id", p, true, TxnVersion2)
	must(t, err)
	n.await("id", txn.CompleteCommit)
	p.Epoch++
	must(t, n.transact("id", true, topic, 0, transactional(p, 0), "bare c").Err)
	_, err = n.end("id", p, false, TxnVersion2)
	must(t, err)
	n.await("id", txn.CompleteAbort)
	n.expectCommitted(topic, 5, "value:bare a", "value:bare b")
}

// TestCoerceKeepsTheTimeOfTheBroker has a topic whose records have the time of their append.
func TestCoerceKeepsTheTimeOfTheBroker(t *testing.T) {
	n := startNode(t, relaxed, validating)
	topic := n.coerced("orders", "dlq", "message.timestamp.type", "LogAppendTime")
	n.setNow(testStart.Add(time.Second))
	for _, values := range [][]string{{"bare a", "bad", "c"}, {"bad"}, {"bare d"}} {
		if got := n.mustProduce(topic, 0, plain(t, values...)); got.LogAppendTime != testStart.UnixMilli()+1000 {
			t.Errorf("%v: %+v", values, got)
		}
	}
	equal(t, "records", n.whole(topic, 0), []string{"0@1000 k=value:bare a", "2@1000 k=c", "4@1000 k=value:bare d"})
	for _, b := range n.batches(topic, 0) {
		if b.TimestampType() != record.LogAppendTime || b.MaxTimestamp() != testStart.UnixMilli()+1000 {
			t.Errorf("the batch at %d: %s %d", b.BaseOffset(), b.TimestampType(), b.MaxTimestamp())
		}
	}
}

// TestCoerceOutgrowsTheLimits asks producers for smaller batches: where they are too large, and where nobody would expand them.
func TestCoerceOutgrowsTheLimits(t *testing.T) {
	n := startNode(t, relaxed, validating)
	for _, action := range []string{"reject", "dlq", "mark", "observe"} {
		topic := n.coerced(action, action, "max.message.bytes", "100")
		batch := plain(t, "bare a", "bare b")
		if len(batch) > 100 {
			t.Fatal("the batch is too large itself")
		}
		if got := n.produce(topic, 0, batch); !errors.Is(got.Err, ErrMessageTooLarge) {
			t.Errorf("%s: %+v", action, got)
		}
		n.mustProduce(topic, 0, plain(t, "bare a"))
		n.mustProduce(topic, 0, plain(t, "good a", "good"))
	}
	expanded := n.coerced("expanded", "reject", "max.decompressed.message.bytes", "10000")
	batch := batchOf(t, record.NewOptions(record.Zstd), slices.Repeat([]string{"bare"}, 700)...)
	if got := n.produce(expanded, 0, batch); !errors.Is(got.Err, ErrMessageTooLarge) {
		t.Errorf("expanded: %+v", got)
	}
	n.mustProduce(expanded, 0, batchOf(t, record.NewOptions(record.Zstd), slices.Repeat([]string{"good"}, 700)...))
	bomb := n.coerced("bomb", "reject")
	batch = batchOf(t, record.NewOptions(record.Zstd), slices.Repeat([]string{"bare" + strings.Repeat(" ", 26_196)}, 40)...) // just below what any batch may expand to
	if got := n.produce(bomb, 0, batch); !errors.Is(got.Err, ErrMessageTooLarge) {
		t.Errorf("%d bytes that expand to too many: %+v", len(batch), got)
	}
}

// TestCoerceSurvivesACrash loses power after answers under acks=all: what was acknowledged is there as it was made.
func TestCoerceSurvivesACrash(t *testing.T) {
	for seed := range uint64(10) {
		fs := vfs.NewMem()
		n := startNode(t, validating, func(_ *Config, d *Deps) { d.FS = fs })
		topic := n.coerced("orders", "dlq")
		id := ProducerIdentity{ID: 7, Epoch: 0}
		n.mustProduce(topic, 0, batchOf(t, idempotent(id, 0), "bare a", "bad", "bare c"))
		n.restart(fs.CrashClone(seed))
		if got := n.mustProduce(topic, 0, batchOf(t, idempotent(id, 0), "bare a", "bad", "bare c")); got.BaseOffset != 0 {
			t.Errorf("a duplicate: %+v", got)
		}
		equal(t, "records", n.remaining(topic, 0), []string{"0=value:bare a", "2=value:bare c"})
		must(t, n.Close(t.Context()))
	}
}
