package kafka

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/metadata"
)

// Cases of docs/traps.md that have no place elsewhere.

// Strict clients refuse brokers whose newest versions are old, and those that fetch with an id must have learnt it from Metadata.
func TestVersionsThatClientsCountOn(t *testing.T) {
	table := map[kmsg.Key]api{}
	for _, a := range apiTable() {
		table[a.key] = a
	}
	for _, key := range []kmsg.Key{
		kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets, kmsg.Metadata, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.FindCoordinator,
		kmsg.JoinGroup, kmsg.SyncGroup, kmsg.InitProducerID, kmsg.AddPartitionsToTxn, kmsg.EndTxn, kmsg.TxnOffsetCommit,
	} {
		if got, newest := table[key].max, key.Request().MaxVersion(); got != newest {
			t.Errorf("%s is advertised up to %d, and Kafka 4.4 knows %d", key.Name(), got, newest)
		}
	}
	// librdkafka adds partitions and ends transactions with the first versions.
	for _, key := range []kmsg.Key{kmsg.AddPartitionsToTxn, kmsg.EndTxn, kmsg.JoinGroup} {
		if table[key].min != 0 {
			t.Errorf("%s begins with version %d", key.Name(), table[key].min)
		}
	}
	for key, first := range map[kmsg.Key]int16{kmsg.Produce: 13, kmsg.Fetch: 13, kmsg.OffsetCommit: 10, kmsg.OffsetFetch: 10} {
		if table[key].max >= first && table[kmsg.Metadata].max < 12 {
			t.Errorf("%s %d needs ids that Metadata %d does not tell", key.Name(), first, table[kmsg.Metadata].max)
		}
	}
}

// Metadata names a leader that is among its brokers, or none.
func TestLeaderIsAmongTheBrokers(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("led")
	q := kmsg.NewPtrMetadataRequest()
	q.Version = 12
	img := d.node.Image()
	c := &conn{listener: listener{"PLAINTEXT", "PLAINTEXT"}}
	for leader, want := range map[int32]int16{ask[*kmsg.MetadataResponse](w, q).Brokers[0].NodeID: 0, 77: 5, metadata.NoLeader: 5} {
		p := c.describePartition(img, &metadata.Partition{Leader: leader, Replicas: []int32{leader}})
		if p.ErrorCode != want || want != 0 && p.Leader != -1 {
			t.Errorf("led by %d: leader %d, error %d, want %d", leader, p.Leader, p.ErrorCode, want)
		}
	}
}

// A JoinGroup of version 0 has no rebalance timeout, and the session timeout stands for it: the group waits for its members, and not
// for ever.
func TestRebalanceTimeoutOfOldClients(t *testing.T) {
	d := open(t, func(c *broker.Config, _ *Config) { c.Groups.SessionTimeoutMin = time.Millisecond })
	first, second := d.wire(), d.wire()
	first.coordinate("old")
	join := joinGroup(0, "old", "")
	join.SessionTimeoutMillis = 60_000
	alone := ask[*kmsg.JoinGroupResponse](first, join)
	if r := ask[*kmsg.SyncGroupResponse](first, syncGroup(0, "old", alone.MemberID, 1, "x")); alone.ErrorCode != 0 || r.ErrorCode != 0 {
		t.Fatalf("%+v, %+v", alone, r)
	}
	newcomer := joinGroup(0, "old", "")
	newcomer.SessionTimeoutMillis = 100
	second.send(newcomer)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "old", alone.MemberID, 1
	for ask[*kmsg.HeartbeatResponse](first, beat).ErrorCode != kerr.RebalanceInProgress.Code {
	}
	join.MemberID, join.SessionTimeoutMillis = alone.MemberID, 100
	if r := ask[*kmsg.JoinGroupResponse](first, join); r.ErrorCode != 0 || r.Generation != 2 || len(r.Members) != 2 {
		t.Fatalf("%+v", r)
	}
	joined := second.receive(newcomer, second.correlation).(*kmsg.JoinGroupResponse)
	if joined.ErrorCode != 0 || joined.Generation != 2 {
		t.Fatalf("%+v", joined)
	}
	newcomer.MemberID = joined.MemberID // the first one does not come back
	newcomer.Protocols[0].Metadata = []byte{1, 1}
	if r := ask[*kmsg.JoinGroupResponse](second, newcomer); r.ErrorCode != 0 || r.Generation != 3 || len(r.Members) != 1 {
		t.Errorf("%+v", r)
	}
}

func initProducer(version int16, id string, timeout int32) *kmsg.InitProducerIDRequest {
	q := kmsg.NewPtrInitProducerIDRequest()
	q.Version, q.TransactionalID, q.TransactionTimeoutMillis = version, &id, timeout
	return q
}

func endTxn(version int16, id string, pid int64, epoch int16, commit bool) *kmsg.EndTxnRequest {
	q := kmsg.NewPtrEndTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Commit = version, id, pid, epoch, commit
	return q
}

// addPartition puts a partition into a transaction as clients of version 1 do.
func (w *wire) addPartition(id string, pid int64, epoch int16, topic string) {
	w.Helper()
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.TransactionalID, q.ProducerID, q.ProducerEpoch = id, pid, epoch
	q.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: []int32{0}}}
	w.untilOK("add a partition for "+id, func() int16 {
		return ask[*kmsg.AddPartitionsToTxnResponse](w, q).Topics[0].Partitions[0].ErrorCode
	})
}

// untilOK asks again while a transaction is being completed, as clients do.
func (w *wire) untilOK(what string, question func() int16) {
	w.Helper()
	for {
		switch code := question(); code {
		case 0:
			return
		case kerr.ConcurrentTransactions.Code:
		default:
			w.Fatalf("%s: error %d", what, code)
		}
	}
}

// coordinateTxn finds the coordinator of a transactional id, which makes the topic that keeps transactions.
func (w *wire) coordinateTxn(id string) {
	w.Helper()
	q := kmsg.NewPtrFindCoordinatorRequest()
	q.Version, q.CoordinatorType, q.CoordinatorKeys = 4, 1, []string{id}
	if c := ask[*kmsg.FindCoordinatorResponse](w, q).Coordinators[0]; c.ErrorCode != 0 {
		w.Fatalf("coordinator of %s: %+v", id, c)
	}
}

// The timeout of a transaction has a limit in every version, and transactions end in every version.
func TestTransactionInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("t")
	w.coordinateTxn("v")
	for v := int16(0); v <= 5; v++ {
		id := fmt.Sprint("v-", v)
		for _, timeout := range []int32{0, -1, 15*60*1000 + 1} {
			if r := ask[*kmsg.InitProducerIDResponse](w, initProducer(v, id, timeout)); r.ErrorCode != kerr.InvalidTransactionTimeout.Code {
				t.Errorf("InitProducerId %d with %d ms: %+v", v, timeout, r)
			}
		}
		p := ask[*kmsg.InitProducerIDResponse](w, initProducer(v, id, 15*60*1000))
		if p.ErrorCode != 0 || p.ProducerEpoch != 0 {
			t.Fatalf("InitProducerId %d: %+v", v, p)
		}
		for i, commit := range []bool{true, false} {
			epoch := p.ProducerEpoch
			if v >= 5 {
				epoch += int16(i) // each end moves it on
			}
			w.addPartition(id, p.ProducerID, epoch, "t")
			for range 2 { // the second time it did not get the answer
				w.untilOK("end "+id, func() int16 {
					return ask[*kmsg.EndTxnResponse](w, endTxn(v, id, p.ProducerID, epoch, commit)).ErrorCode
				})
			}
		}
	}
}

// Flink commits with the producer id and epoch that it has written down, from another process, more than once, and also what was
// never begun. The answers are Kafka's.
func TestTransactionsEndedBySomebodyElse(t *testing.T) {
	d := open(t)
	w := d.wire()
	w.createTopic("t")
	w.coordinateTxn("flink")
	p := ask[*kmsg.InitProducerIDResponse](w, initProducer(4, "flink", 60_000))
	if r := ask[*kmsg.EndTxnResponse](w, endTxn(4, "flink", p.ProducerID, p.ProducerEpoch, true)); r.ErrorCode != kerr.InvalidTxnState.Code {
		t.Errorf("a commit of what was not begun: %+v", r)
	}
	w.addPartition("flink", p.ProducerID, p.ProducerEpoch, "t")
	other := d.wire()
	for range 2 {
		other.untilOK("commit from another connection", func() int16 {
			return ask[*kmsg.EndTxnResponse](other, endTxn(4, "flink", p.ProducerID, p.ProducerEpoch, true)).ErrorCode
		})
	}
	for name, q := range map[string]struct {
		*kmsg.EndTxnRequest
		want *kerr.Error
	}{
		"an abort after the commit": {endTxn(4, "flink", p.ProducerID, p.ProducerEpoch, false), kerr.InvalidTxnState},
		"an older epoch":            {endTxn(4, "flink", p.ProducerID, p.ProducerEpoch-1, true), kerr.ProducerFenced},
		"another producer":          {endTxn(4, "flink", p.ProducerID+1, p.ProducerEpoch, true), kerr.InvalidProducerIDMapping},
		"an id that nobody has":     {endTxn(4, "nobody", p.ProducerID, p.ProducerEpoch, true), kerr.InvalidProducerIDMapping},
	} {
		if r := ask[*kmsg.EndTxnResponse](other, q.EndTxnRequest); r.ErrorCode != q.want.Code {
			t.Errorf("%s: %+v, want %s", name, r, q.want.Message)
		}
	}
}

// A producer whose transaction was ended for it hears PRODUCER_FENCED from the coordinator and INVALID_PRODUCER_EPOCH from
// partitions; both are what clients expect there.
func TestWhatFencedProducersHear(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("t")
	w.coordinateTxn("fenced")
	old := ask[*kmsg.InitProducerIDResponse](w, initProducer(4, "fenced", 60_000))
	w.addPartition("fenced", old.ProducerID, old.ProducerEpoch, "t")
	w.untilOK("take over", func() int16 {
		return ask[*kmsg.InitProducerIDResponse](w, initProducer(4, "fenced", 60_000)).ErrorCode
	})
	if r := ask[*kmsg.EndTxnResponse](w, endTxn(4, "fenced", old.ProducerID, old.ProducerEpoch, true)); r.ErrorCode != kerr.ProducerFenced.Code {
		t.Errorf("EndTxn: %+v", r)
	}
	records := newBatch(t, func(o *batchOptions) {
		o.producer, o.sequence, o.transactional = old.ProducerID, 0, true
	}, "late")
	q := produceOne(9, -1, "t", id, 0, records)
	q.TransactionID = kmsg.StringPtr("fenced")
	if p := ask[*kmsg.ProduceResponse](w, q).Topics[0].Partitions[0]; p.ErrorCode != kerr.InvalidProducerEpoch.Code {
		t.Errorf("Produce: %+v", p)
	}
}

// A topic that was made by the way can be written to at once, also by the first request that knows it.
func TestAutoCreatedTopicIsReady(t *testing.T) {
	d := open(t)
	w := d.wire()
	for i := range 5 {
		name := fmt.Sprint("made-", i)
		id := w.createTopic(name)
		if p := ask[*kmsg.ProduceResponse](w, produceOne(9, -1, name, id, 0, batch(t, "x"))).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != 0 {
			t.Errorf("%s: %+v", name, p)
		}
		list := kmsg.NewPtrListOffsetsRequest()
		list.Version = 4
		asked := kmsg.NewListOffsetsRequestTopicPartition()
		asked.Timestamp = -2
		list.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: name, Partitions: []kmsg.ListOffsetsRequestTopicPartition{asked}}}
		if p := ask[*kmsg.ListOffsetsResponse](w, list).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.Offset != 0 {
			t.Errorf("%s begins at %+v", name, p)
		}
	}
}
