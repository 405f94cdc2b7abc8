package broker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

func TestProduceAndFetch(t *testing.T) {
	for _, d := range []Durability{Strict, Relaxed} {
		t.Run(string(d), func(t *testing.T) {
			n := startNode(t, func(c *Config, _ *Deps) { c.Durability = d })
			topic := n.topic("events", 1)
			for acks := int16(-1); acks <= 1; acks++ {
				p := n.Produce(testCaller, topic, 0, plain(t, "a", "b"), acks)
				p.Wait(t.Context())
				if want := int64(acks+1) * 2; p.Err != nil || p.BaseOffset != want || p.LogStartOffset != 0 || p.LogAppendTime != -1 || p.Leader != noLeader {
					t.Fatalf("acks %d: %+v", acks, p)
				}
			}
			must(t, n.partitionOf(topic, 0).Log().Flush(t.Context()))
			equal(t, "records", n.read(topic, 0, 2), []string{"2=a", "3=b", "4=a", "5=b"})
		})
	}
}

func TestProduceRefusals(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1, "max.message.bytes", "1000")
	compacted := n.topic("compacted", 1, "cleanup.policy", "compact")
	image, _ := n.Image().Topic("events")
	other, _ := n.Image().Topic("compacted")
	two := append(slices.Clone(plain(t, "a")), plain(t, "b")...)
	broken := plain(t, "a")
	broken[len(broken)-1] ^= 1
	legacy := plain(t, "a")
	legacy[16] = 1
	control := record.NewOptions(record.None)
	control.ProducerID, control.ProducerEpoch, control.BaseSequence, control.Control = 1, 0, 0, true
	transactional := idempotent(ProducerIdentity{ID: 1}, 0)
	transactional.Transactional = true
	keyless := func(t *testing.T) []byte {
		b := record.NewBuilder(record.NewOptions(record.None))
		for _, key := range []string{"k", "", "k", ""} {
			r := record.Record{Timestamp: testStart.UnixMilli(), Value: []byte("v")}
			if key != "" {
				r.Key = []byte(key)
			}
			b.Append(&r)
		}
		built, err := b.Build(nil, testCompressor)
		must(t, err)
		return built
	}
	for _, c := range []struct {
		name    string
		topic   TopicRef
		index   int32
		records []byte
		acks    int16
		want    error
		faulty  []int32
		start   int64 // of the log: 0 where the batch was held against topic and log, as in Kafka
	}{
		{"unknown name", TopicRef{Name: "nowhere"}, 0, plain(t, "a"), 1, ErrUnknownTopicOrPartition, nil, -1},
		{"no name and no id", TopicRef{}, 0, plain(t, "a"), 1, ErrUnknownTopicID, nil, -1},
		{"unknown id", TopicRef{ID: [16]byte{1}}, 0, plain(t, "a"), 1, ErrUnknownTopicID, nil, -1},
		{"name and id of two topics", TopicRef{Name: "events", ID: other.ID}, 0, plain(t, "a"), 1, ErrInconsistentTopicID, nil, -1},
		{"unknown partition", TopicRef{ID: image.ID}, 1, plain(t, "a"), 1, ErrUnknownTopicOrPartition, nil, -1},
		{"negative partition", topic, -1, plain(t, "a"), 1, ErrUnknownTopicOrPartition, nil, -1},
		{"acks 2", topic, 0, plain(t, "a"), 2, ErrInvalidRequiredAcks, nil, -1},
		{"no records", topic, 0, nil, 1, ErrInvalidRecord, nil, -1},
		{"two batches", topic, 0, two, 1, ErrInvalidRecord, nil, -1},
		{"half a batch", topic, 0, plain(t, "a")[:66], 1, ErrInvalidRecord, nil, -1},
		{"noise", topic, 0, []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 1, ErrCorruptMessage, nil, -1},
		{"wrong checksum", topic, 0, broken, 1, ErrCorruptMessage, nil, -1},
		{"message format 1", topic, 0, legacy, 1, ErrInvalidRecord, nil, -1},
		{"too large", topic, 0, plain(t, strings.Repeat("x", 1000)), 1, ErrMessageTooLarge, nil, -1},
		{"control batch", topic, 0, batchOf(t, control, "a"), 1, ErrInvalidRecord, nil, 0},
		{"transaction", topic, 0, batchOf(t, transactional, "a"), 1, ErrInvalidTxnState, nil, 0},
		{"no keys on a compacted topic", compacted, 0, keyless(t), 1, ErrInvalidRecord, []int32{1, 3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := n.Produce(testCaller, c.topic, c.index, c.records, c.acks)
			if !p.Done() || !errors.Is(p.Err, c.want) || p.BaseOffset != -1 || p.LogAppendTime != -1 || p.LogStartOffset != c.start {
				t.Fatalf("got %+v, want %v", p, c.want)
			}
			var indexes []int32
			for _, e := range p.RecordErrors {
				indexes = append(indexes, e.Index)
			}
			equal(t, "record errors", indexes, c.faulty)
		})
	}
	if end := n.partitionOf(topic, 0).Log().End() + n.partitionOf(compacted, 0).Log().End(); end != 0 {
		t.Fatalf("%d refused records were appended", end)
	}
}

// The limit counts the batch as it was sent: 10 MB that compress to less than it are fine.
func TestLimitCountsCompressedBytes(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1, "max.message.bytes", "2000")
	o := record.NewOptions(record.Zstd)
	n.mustProduce(topic, 0, batchOf(t, o, strings.Repeat("x", 900_000)))
}

func TestTimestamps(t *testing.T) {
	n := startNode(t, relaxed)
	appendTime := n.topic("append-time", 1, "message.timestamp.type", "LogAppendTime")
	n.setNow(testStart.Add(time.Hour))
	p := n.mustProduce(appendTime, 0, plain(t, "a", "b"))
	if p.LogAppendTime != n.clock().UnixMilli() {
		t.Fatalf("append time %d, want %d", p.LogAppendTime, n.clock().UnixMilli())
	}
	op := n.Fetch(testCaller, fetchRequest(want(appendTime, 0, 0)))
	raw, err := op.Partitions()[0].Records.Bytes()
	must(t, err)
	op.Release()
	if b := record.Batch(raw); b.TimestampType() != record.LogAppendTime || b.MaxTimestamp() != n.clock().UnixMilli() || b.Verify() != nil {
		t.Fatalf("stored with type %v at %d, %v", b.TimestampType(), b.MaxTimestamp(), b.Verify())
	}

	bounded := n.topic("bounded", 1, "message.timestamp.before.max.ms", "60000", "message.timestamp.after.max.ms", "60000")
	refused := n.produce(bounded, 0, plain(t, "an hour old"))
	if !errors.Is(refused.Err, ErrInvalidTimestamp) || len(refused.RecordErrors) != 1 || refused.RecordErrors[0].Index != 0 {
		t.Fatalf("too old: %+v", refused)
	}
	n.setNow(testStart)
	n.mustProduce(bounded, 0, plain(t, "in time"))
}

func TestCompressionType(t *testing.T) {
	n := startNode(t, relaxed)
	for _, c := range []struct {
		config string
		sent   record.Codec
		stored record.Codec
	}{
		{"producer", record.LZ4, record.LZ4},
		{"gzip", record.None, record.Gzip},
		{"gzip", record.Gzip, record.Gzip},
		{"uncompressed", record.Zstd, record.None},
		{"snappy", record.Zstd, record.Snappy},
		{"zstd", record.LZ4, record.Zstd},
	} {
		t.Run(c.config+" from "+c.sent.String(), func(t *testing.T) {
			topic := n.topic("t-"+c.config+"-"+c.sent.String(), 1, "compression.type", c.config)
			id, err := n.InitProducerID(t.Context(), testCaller, InitProducerIDRequest{ProducerID: -1, ProducerEpoch: -1})
			must(t, err)
			o := idempotent(id, 0)
			o.Codec = c.sent
			n.mustProduce(topic, 0, batchOf(t, o, "a", strings.Repeat("b", 500)))
			op := n.Fetch(testCaller, fetchRequest(want(topic, 0, 0)))
			defer op.Release()
			raw, err := op.Partitions()[0].Records.Bytes()
			must(t, err)
			b := record.Batch(raw)
			if b.Codec() != c.stored || b.ProducerID() != id.ID || b.Verify() != nil {
				t.Fatalf("stored with codec %v by producer %d, %v", b.Codec(), b.ProducerID(), b.Verify())
			}
			equal(t, "records", values(t, &op.Partitions()[0]), []string{"0=a", "1=" + strings.Repeat("b", 500)})
			if again := n.mustProduce(topic, 0, batchOf(t, o, "a", strings.Repeat("b", 500))); again.BaseOffset != 0 {
				t.Fatalf("a retry is not recognised: %+v", again)
			}
		})
	}
}

func TestRecompressedBatchMustFit(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1, "compression.type", "uncompressed", "max.message.bytes", "1000")
	if p := n.produce(topic, 0, batchOf(t, record.NewOptions(record.Zstd), strings.Repeat("x", 5000))); !errors.Is(p.Err, ErrMessageTooLarge) {
		t.Fatalf("got %+v", p)
	}
}

func TestIdempotentProducer(t *testing.T) {
	n := startNode(t)
	topic := n.topic("events", 1)
	id, err := n.InitProducerID(t.Context(), testCaller, InitProducerIDRequest{ProducerID: -1, ProducerEpoch: -1})
	must(t, err)
	for i := range int32(8) {
		n.mustProduce(topic, 0, batchOf(t, idempotent(id, i), "v"))
	}
	n.restart(nil)
	for i := int32(3); i < 8; i++ { // the last five are remembered, also by the next life of the broker
		if p := n.mustProduce(topic, 0, batchOf(t, idempotent(id, i), "v")); p.BaseOffset != int64(i) {
			t.Fatalf("retry of batch %d: offset %d", i, p.BaseOffset)
		}
	}
	if p := n.produce(topic, 0, batchOf(t, idempotent(id, 9), "v")); !errors.Is(p.Err, ErrOutOfOrderSequence) {
		t.Fatalf("gap: %+v", p)
	}
	newer := ProducerIdentity{ID: id.ID, Epoch: 1}
	n.mustProduce(topic, 0, batchOf(t, idempotent(newer, 0), "v"))
	if p := n.produce(topic, 0, batchOf(t, idempotent(id, 8), "v")); !errors.Is(p.Err, ErrInvalidProducerEpoch) {
		t.Fatalf("old epoch: %+v", p)
	}
	// A producer that the partition does not know (any more) may begin with any sequence (KIP-360).
	n.mustProduce(topic, 0, batchOf(t, idempotent(ProducerIdentity{ID: 999}, 77), "v"))
	got, err := n.DescribeProducers(testCaller, topic, 0)
	must(t, err)
	equal(t, "producers", got, []ActiveProducer{
		{ProducerID: id.ID, ProducerEpoch: 1, LastSequence: 0, LastTimestamp: testStart.UnixMilli(), CoordinatorEpoch: -1, CurrentTxnStartOffset: -1},
		{ProducerID: 999, LastSequence: 77, LastTimestamp: testStart.UnixMilli(), CoordinatorEpoch: -1, CurrentTxnStartOffset: -1},
	})
	if _, err := n.DescribeProducers(testCaller, TopicRef{Name: "nowhere"}, 0); !errors.Is(err, ErrUnknownTopicOrPartition) {
		t.Fatalf("producers of a topic that isn't there: %v", err)
	}
}

// A producer that waits for a flush is told when its time is over; the record may still be committed.
func TestProduceTimesOut(t *testing.T) {
	gate := make(chan struct{})
	fs := vfs.NewFaultyWith(vfs.NewMem(), vfs.FaultyOptions{Sleep: func(time.Duration) { <-gate }})
	n := startNode(t, func(_ *Config, d *Deps) { d.FS = fs })
	topic := n.topic("events", 1)
	fs.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpSync, vfs.OpSyncDir, vfs.OpSyncFS}, Delay: time.Hour, Times: 1})
	p := n.Produce(testCaller, topic, 0, plain(t, "a"), -1)
	if p.Done() {
		t.Fatal("done before it was flushed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := p
	p.Wait(ctx)
	if !errors.Is(p.Err, ErrTimedOut) || p.BaseOffset != -1 || !p.Done() {
		t.Fatalf("got %+v", p)
	}
	close(gate)
	late.Wait(t.Context())
	must(t, late.Err)
	late.Expire() // too late to change anything
	must(t, late.Err)
}

func TestProduceWithoutSpace(t *testing.T) {
	fs := vfs.NewFaulty(vfs.NewMem())
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.FS = fs })
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a"))
	fs.LimitSpace(0)
	if p := n.produce(topic, 0, plain(t, "b")); !errors.Is(p.Err, ErrNoSpace) {
		t.Fatalf("on a full disk: %+v", p)
	}
	equal(t, "records on a full disk", n.read(topic, 0, 0), []string{"0=a"})
	fs.LimitSpace(-1)
	if p := n.mustProduce(topic, 0, plain(t, "c")); p.BaseOffset != 1 {
		t.Fatalf("with space again: %+v", p)
	}
}

func TestProduceToADamagedDisk(t *testing.T) {
	fs := vfs.NewFaulty(vfs.NewMem())
	n := startNode(t, func(_ *Config, d *Deps) { d.FS = fs })
	topic := n.topic("events", 1)
	n.mustProduce(topic, 0, plain(t, "a"))
	fs.Inject(vfs.Rule{Ops: []vfs.Op{vfs.OpSync, vfs.OpSyncFS}, Err: syscall.EIO})
	if p := n.produce(topic, 0, plain(t, "b")); !errors.Is(p.Err, ErrStorage) {
		t.Fatalf("after a failed fsync: %+v", p)
	}
	if p := n.produce(topic, 0, plain(t, "c")); !errors.Is(p.Err, ErrStorage) {
		t.Fatalf("an fsync that failed was tried again: %+v", p)
	}
}

func BenchmarkProduce(b *testing.B) {
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Durability = b.TempDir(), Relaxed
	n, err := Start(b.Context(), cfg, Deps{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = n.Close(context.Background()) }()
	if _, err := n.controller.CreateTopic(b.Context(), specOf("events", 1, nil)); err != nil {
		b.Fatal(err)
	}
	builder := record.NewBuilder(record.NewOptions(record.None))
	for range 10 {
		builder.Append(&record.Record{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 100)})
	}
	batch, err := builder.Build(nil, testCompressor)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, len(batch))
	b.SetBytes(int64(len(batch)))
	b.ReportAllocs()
	for b.Loop() {
		copy(buf, batch)
		if p := n.Produce(testCaller, TopicRef{Name: "events"}, 0, buf, 1); p.Err != nil {
			b.Fatal(p.Err)
		}
	}
}
