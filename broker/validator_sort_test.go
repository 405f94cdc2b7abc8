package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"moldau/broker/coordinator/txn"
	"moldau/broker/record"
	"moldau/internal/vfs"
)

// validating makes a node refuse values that begin with "bad".
func validating(_ *Config, d *Deps) { d.Validator = new(fakeValidator) }

// deadLetterTopic makes a topic whose bad records become dead letters, and returns it with the topic of those.
func (n *testNode) deadLetterTopic(configs ...string) (topic, letters TopicRef) {
	n.t.Helper()
	configs = append(configs, "schema.validation.value", "structure", "schema.validation.action", "dlq")
	return n.topic("orders", 2, configs...), TopicRef{Name: "orders.dlq"}
}

// batches returns the batches of a partition.
func (n *testNode) batches(topic TopicRef, partition int32) []record.Batch {
	n.t.Helper()
	var out []record.Batch
	for offset := int64(0); ; offset = out[len(out)-1].NextOffset() {
		raw := n.rawFrom(topic, partition, offset)
		if len(raw) == 0 {
			return out
		}
		for len(raw) > 0 {
			b, rest, err := record.Next(raw)
			must(n.t, err)
			if b.ComputeCRC() != b.CRC() {
				n.t.Fatalf("the batch at %d has a wrong checksum", b.BaseOffset())
			}
			out, raw = append(out, b), rest
		}
	}
}

// rawFrom returns what one fetch from an offset on finds.
func (n *testNode) rawFrom(topic TopicRef, partition int32, offset int64) []byte {
	n.t.Helper()
	op := n.Fetch(testCaller, fetchRequest(want(topic, partition, offset)))
	defer op.Release()
	p := &op.Partitions()[0]
	must(n.t, p.Err)
	raw, err := p.Records.Bytes()
	must(n.t, err)
	return slices.Clone(raw)
}

// remaining returns the records of a partition as "offset=value". Some of its batches may end past their last record.
func (n *testNode) remaining(topic TopicRef, partition int32) []string {
	n.t.Helper()
	var out []string
	for _, b := range n.batches(topic, partition) {
		it := b.Records(testUnpack)
		for it.Next() {
			out = append(out, fmt.Sprintf("%d=%s", it.Record().Offset, it.Record().Value))
		}
		must(n.t, it.Err())
		it.Close()
	}
	return out
}

// annotations returns the records of a partition as "key=value header=value ...".
func (n *testNode) annotations(topic TopicRef, partition int32) []string {
	n.t.Helper()
	var out []string
	for _, b := range n.batches(topic, partition) {
		it := b.Records(testUnpack)
		for it.Next() {
			text := fmt.Sprintf("%s=%s", it.Record().Key, it.Record().Value)
			for _, h := range it.Record().Headers {
				text += fmt.Sprintf(" %s=%s", strings.TrimPrefix(string(h.Key), "moldau.validation."), h.Value)
			}
			out = append(out, text)
		}
		must(n.t, it.Err())
		it.Close()
	}
	return out
}

func letter(value string) string {
	return "k=" + value + " reason=malformed message=The value is bad schema.id=7 topic=orders partition=1"
}

func TestDeadLetters(t *testing.T) {
	for _, codec := range []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
		t.Run(codec.String(), func(t *testing.T) {
			n := startNode(t, relaxed, validating)
			topic, letters := n.deadLetterTopic()
			got := n.mustProduce(topic, 1, batchOf(t, record.NewOptions(codec), "a", "bad", "c", "bad too"))
			if got.BaseOffset != 0 || len(got.RecordErrors) > 0 {
				t.Errorf("%+v", got)
			}
			n.mustProduce(topic, 1, batchOf(t, record.NewOptions(codec), "bad 3", "bad 4"))
			n.mustProduce(topic, 1, batchOf(t, record.NewOptions(codec), "d"))
			equal(t, "records", n.remaining(topic, 1), []string{"0=a", "2=c", "6=d"})
			equal(t, "dead letters", n.annotations(letters, 0), []string{letter("bad"), letter("bad too"), letter("bad 3"), letter("bad 4")})
			kept := n.batches(topic, 1)
			if kept[0].Codec() != codec || kept[0].LastOffsetDelta() != 3 || kept[1].Count() != 0 || kept[1].LastOffset() != 5 {
				t.Errorf("the batches are %v", kept)
			}
			if b := n.batches(letters, 0)[0]; b.Codec() != codec || b.MaxTimestamp() != testStart.UnixMilli()+3 {
				t.Errorf("the dead letters have codec %v, timestamp %d", b.Codec(), b.MaxTimestamp())
			}
		})
	}
}

// TestDeadLettersFollowTheirTopic has codecs and append times that the topics ask for.
func TestDeadLettersFollowTheirTopic(t *testing.T) {
	n := startNode(t, relaxed, validating)
	letters := n.topic("graves", 3, "compression.type", "zstd", "message.timestamp.type", "LogAppendTime")
	topic, _ := n.deadLetterTopic("schema.validation.dlq.topic", "graves", "compression.type", "lz4")
	n.setNow(testStart.Add(time.Minute))
	n.mustProduce(topic, 1, plain(t, "a", "bad"))
	n.mustProduce(topic, 1, plain(t, "bad"))
	equal(t, "dead letters", n.annotations(letters, 1), []string{letter("bad"), letter("bad")})
	b := n.batches(letters, 1)[0]
	if b.Codec() != record.Zstd || b.TimestampType() != record.LogAppendTime || b.MaxTimestamp() != testStart.Add(time.Minute).UnixMilli() {
		t.Errorf("the dead letters: codec %v, %v %d", b.Codec(), b.TimestampType(), b.MaxTimestamp())
	}
	if kept := n.batches(topic, 1); kept[0].Codec() != record.LZ4 || kept[1].Codec() != record.None {
		t.Errorf("the rest: codecs %v, %v", kept[0].Codec(), kept[1].Codec())
	}
}

// TestManyDeadLetters writes more than go into one batch of them.
func TestManyDeadLetters(t *testing.T) {
	n := startNode(t, relaxed, validating)
	topic, letters := n.deadLetterTopic("max.message.bytes", "4000000")
	long := "bad" + strings.Repeat("x", 100_000)
	n.mustProduce(topic, 0, plain(t, slices.Repeat([]string{long, "good"}, 20)...))
	total := 0
	for _, b := range n.batches(letters, 0) {
		total += int(b.Count())
		if len(b) > letterBatchBytes+2*len(long) {
			t.Errorf("a batch of %d bytes", len(b))
		}
	}
	if got := n.remaining(topic, 0); total != 20 || len(got) != 20 || got[19] != "39=good" {
		t.Errorf("%d dead letters, the rest %v", total, got)
	}
}

// TestDeadLettersOfIdempotentProducers sends a batch again, one that comes too early, and one after a restart.
func TestDeadLettersOfIdempotentProducers(t *testing.T) {
	n := startNode(t, relaxed, validating)
	topic, letters := n.deadLetterTopic()
	id := ProducerIdentity{ID: 7, Epoch: 1}
	first := func() []byte { return batchOf(t, idempotent(id, 0), "a", "bad", "c") }
	n.mustProduce(topic, 1, first())
	if got := n.produce(topic, 1, batchOf(t, idempotent(id, 5), "bad")); !errors.Is(got.Err, ErrOutOfOrderSequence) {
		t.Errorf("a gap: %+v", got)
	}
	stale := ProducerIdentity{ID: 7, Epoch: 0}
	if got := n.produce(topic, 1, batchOf(t, idempotent(stale, 3), "bad")); !errors.Is(got.Err, ErrInvalidProducerEpoch) {
		t.Errorf("an old epoch: %+v", got)
	}
	if got := n.annotations(letters, 0); len(got) != 1 {
		t.Errorf("batches that were not taken left dead letters: %v", got)
	}
	n.mustProduce(topic, 1, batchOf(t, idempotent(id, 3), "bad", "bad"))
	n.restart(nil)
	if got := n.mustProduce(topic, 1, first()); got.BaseOffset != 0 {
		t.Errorf("a duplicate: %+v", got)
	}
	n.mustProduce(topic, 1, batchOf(t, idempotent(id, 5), "f"))
	equal(t, "records", n.remaining(topic, 1), []string{"0=a", "2=c", "5=f"})
	equal(t, "dead letters", n.annotations(letters, 0), []string{letter("bad"), letter("bad"), letter("bad"), letter("bad")})
}

// TestDeadLettersBeforeTheAnswer loses power at once after an answer under acks=1, which does not wait for the topic's own log.
func TestDeadLettersBeforeTheAnswer(t *testing.T) {
	for seed := range uint64(20) {
		fs := vfs.NewMem()
		n := startNode(t, validating, func(_ *Config, d *Deps) { d.FS = fs })
		topic, letters := n.deadLetterTopic()
		p := n.Produce(testCaller, topic, 1, plain(t, "a", "bad"), 1)
		p.Wait(t.Context())
		must(t, p.Err)
		n.restart(fs.CrashClone(seed))
		equal(t, "dead letters", n.annotations(letters, 0), []string{letter("bad")})
		must(t, n.Close(context.Background()))
	}
}

// TestDeathBetweenDeadLetterAndAppend has the disk fill up between the two, and the producer try again.
func TestDeathBetweenDeadLetterAndAppend(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	n := startNode(t, validating, func(_ *Config, d *Deps) { d.FS = faulty })
	topic, letters := n.deadLetterTopic()
	id := ProducerIdentity{ID: 7, Epoch: 0}
	remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpWrite}, Path: "/node/log/orders-1/*.log", Err: syscall.ENOSPC})
	batch := func() []byte { return batchOf(t, idempotent(id, 0), "a", "bad") }
	if got := n.produce(topic, 1, batch()); !errors.Is(got.Err, ErrNoSpace) {
		t.Fatalf("%+v", got)
	}
	remove()
	n.restart(nil)
	n.mustProduce(topic, 1, batch())
	equal(t, "records", n.remaining(topic, 1), []string{"0=a"})
	equal(t, "dead letters", n.annotations(letters, 0), []string{letter("bad"), letter("bad")})
}

// TestDeadLettersThatCannotBeWritten leave their batch unwritten too.
func TestDeadLettersThatCannotBeWritten(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	n := startNode(t, validating, func(_ *Config, d *Deps) { d.FS = faulty })
	topic, _ := n.deadLetterTopic()
	itself := n.topic("itself", 1, "schema.validation.value", "structure", "schema.validation.action", "dlq", "schema.validation.dlq.topic", "itself")
	n.topic("table", 1, "cleanup.policy", "compact")
	compacted := n.topic("compacted", 1, "schema.validation.value", "structure", "schema.validation.action", "dlq", "schema.validation.dlq.topic", "table")
	long := n.topic(strings.Repeat("l", 249), 1, "schema.validation.value", "structure", "schema.validation.action", "dlq")
	remove := faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpWrite}, Path: "/node/log/orders.dlq-0/*.log", Err: syscall.ENOSPC})
	for name, to := range map[string]TopicRef{"no space": topic, "itself": itself, "compacted": compacted, "name too long": long} {
		got := n.produce(to, 0, plain(t, "a", "bad"))
		if !errors.Is(got.Err, ErrDeadLettersNotAvailable) || got.BaseOffset != -1 || got.Message == "" {
			t.Errorf("%s: %+v", name, got)
		}
		n.mustProduce(to, 0, plain(t, "good"))
		equal(t, name, n.remaining(to, 0), []string{"0=good"})
	}
	remove()
	n.mustProduce(topic, 0, plain(t, "a", "bad"))
	equal(t, "records", n.remaining(topic, 0), []string{"0=good", "1=a"})
}

// TestFlushOfDeadLettersFails appends them, and then the disk refuses to keep them: the batch is not acknowledged under any acks.
func TestFlushOfDeadLettersFails(t *testing.T) {
	gate := make(chan struct{})
	faulty := vfs.NewFaultyWith(vfs.NewMem(), vfs.FaultyOptions{Sleep: func(time.Duration) { <-gate }})
	n := startNode(t, validating, func(_ *Config, d *Deps) { d.FS = faulty })
	topic, _ := n.deadLetterTopic()
	n.mustProduce(topic, 0, plain(t, "bad"))
	faulty.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpSync, vfs.OpSyncFS}, Delay: time.Hour, Err: syscall.EIO})
	p := n.Produce(testCaller, topic, 0, plain(t, "a", "bad"), 1)
	if p.Done() {
		t.Error("done before the dead letters were flushed")
	}
	close(gate)
	p.Wait(t.Context())
	if !errors.Is(p.Err, ErrDeadLettersNotAvailable) || p.BaseOffset != -1 || p.Message == "" {
		t.Errorf("%+v", p)
	}
}

func TestTransactionsHaveNoDeadLetters(t *testing.T) {
	n := startNode(t, validating)
	topic, _ := n.deadLetterTopic()
	p := n.producer("id", time.Minute)
	got := n.transact("id", true, topic, 0, transactional(p, 0), "bad")
	if !errors.Is(got.Err, ErrInvalidRecord) || len(got.RecordErrors) != 1 {
		t.Errorf("%+v", got)
	}
	if _, ok := n.Image().Topic("orders.dlq"); ok {
		t.Error("there is a topic of dead letters")
	}
}

func TestMark(t *testing.T) {
	n := startNode(t, validating)
	topic := n.topic("orders", 1, "schema.validation.value", "structure", "schema.validation.action", "mark")
	marked := "k=bad reason=malformed message=The value is bad schema.id=7"
	n.mustProduce(topic, 0, batchOf(t, record.NewOptions(record.Zstd), "a", "bad", "c"))
	id := ProducerIdentity{ID: 7, Epoch: 0}
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 0), "bad"))
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 0), "bad"))
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 1), "e"))
	p := n.producer("id", time.Minute)
	must(t, n.transact("id", true, topic, 0, transactional(p, 0), "bad").Err)
	if _, err := n.end("id", p, true, TxnVersion2); err != nil {
		t.Fatal(err)
	}
	n.await("id", txn.CompleteCommit)
	equal(t, "records", n.annotations(topic, 0)[:6], []string{"k=a", marked, "k=c", marked, "k=e", marked})
	if b := n.batches(topic, 0)[0]; b.Codec() != record.Zstd || b.Count() != 3 {
		t.Errorf("%v", b)
	}
}

// TestMarkOutgrowsTheLimit asks producers for smaller batches.
func TestMarkOutgrowsTheLimit(t *testing.T) {
	n := startNode(t, relaxed, validating)
	topic := n.topic("orders", 1, "schema.validation.value", "structure", "schema.validation.action", "mark", "max.message.bytes", "200")
	if got := n.produce(topic, 0, plain(t, "bad", "bad")); !errors.Is(got.Err, ErrMessageTooLarge) {
		t.Errorf("%+v", got)
	}
	n.mustProduce(topic, 0, plain(t, "bad"))
}

// TestTooManyToSort has more bad records than are kept in mind.
func TestTooManyToSort(t *testing.T) {
	n := startNode(t, relaxed, validating)
	topic, _ := n.deadLetterTopic("max.message.bytes", "10000000")
	got := n.produce(topic, 0, batchOf(t, record.NewOptions(record.Zstd), slices.Repeat([]string{"bad"}, maxSorted+1)...))
	if !errors.Is(got.Err, ErrInvalidRecord) || len(got.RecordErrors) != record.MaxRecordErrors {
		t.Errorf("%v, %d record errors", got.Err, len(got.RecordErrors))
	}
}
