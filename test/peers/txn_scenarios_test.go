//go:build peers

package peers

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnScenarios are the requests of transactions.
var txnScenarios = []scenario{
	{"transaction coordinator", findTxnCoordinators},
	{"transactional ids", transactionalIDs},
	{"transaction version 1", transactionV1},
	{"transaction version 2", transactionV2},
	{"transaction completing", transactionCompleting},
	{"transaction verification", transactionVerification},
	{"transaction fencing", transactionFencing},
	{"transaction offsets", transactionOffsets},
	{"transaction markers", transactionMarkers},
	{"transaction lists", transactionLists},
	{"transaction timeout", transactionTimeout},
}

// txnProducer is who a producer is.
type txnProducer struct {
	id    string
	pid   int64
	epoch int16
}

func (p txnProducer) at(epoch int16) txnProducer { return txnProducer{p.id, p.pid, epoch} }

// awaitTxnCoordinator returns when a transactional id can be used.
func (s *session) awaitTxnCoordinator(id string) {
	s.tb.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorType, req.CoordinatorKeys = 1, []string{id}
	s.until("coordinator of "+id, func() bool {
		return s.quiet(req, 6).(*kmsg.FindCoordinatorResponse).Coordinators[0].ErrorCode == 0
	})
	s.until("loaded coordinator of "+id, func() bool {
		code := s.describeTxn(id).ErrorCode
		return code == 0 || code == 105 // not found
	})
	s.until("a producer id", func() bool { // Kafka says that it is loading while it takes a block of them
		return s.quiet(kmsg.NewPtrInitProducerIDRequest(), 4).(*kmsg.InitProducerIDResponse).ErrorCode == 0
	})
}

func (s *session) describeTxn(id string) kmsg.DescribeTransactionsResponseTransactionState {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{id}
	return s.quiet(req, 0).(*kmsg.DescribeTransactionsResponse).TransactionStates[0]
}

// settle returns when a transaction is not being completed, and can be read.
func (s *session) settle(id string) {
	s.tb.Helper()
	s.until("completion of "+id, func() bool {
		state := s.describeTxn(id).State
		return state != "PrepareCommit" && state != "PrepareAbort"
	})
}

func initRequest(id string, timeout int32) *kmsg.InitProducerIDRequest {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, timeout
	return req
}

// begin makes a producer of an id, without recording it.
func (s *session) begin(id string) txnProducer {
	s.tb.Helper()
	s.awaitTxnCoordinator(id)
	var p txnProducer
	s.until("producer of "+id, func() bool {
		resp := s.quiet(initRequest(id, 60_000), 4).(*kmsg.InitProducerIDResponse)
		p = txnProducer{id, resp.ProducerID, resp.ProducerEpoch}
		return resp.ErrorCode == 0
	})
	return p
}

func addRequest(p txnProducer, topic string, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = p.id, p.pid, p.epoch
	t := kmsg.NewAddPartitionsToTxnRequestTopic()
	t.Topic, t.Partitions = topic, partitions
	req.Topics = append(req.Topics, t)
	return req
}

func batchedAdd(p txnProducer, verify bool, topic string, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	tx := kmsg.NewAddPartitionsToTxnRequestTransaction()
	tx.TransactionalID, tx.ProducerID, tx.ProducerEpoch, tx.VerifyOnly = p.id, p.pid, p.epoch, verify
	t := kmsg.NewAddPartitionsToTxnRequestTransactionTopic()
	t.Topic, t.Partitions = topic, partitions
	tx.Topics = append(tx.Topics, t)
	req.Transactions = append(req.Transactions, tx)
	return req
}

func endRequest(p txnProducer, commit bool) *kmsg.EndTxnRequest {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = p.id, p.pid, p.epoch, commit
	return req
}

// txnProduce is one record of a transaction.
func (s *session) txnProduce(p txnProducer, topic string, id [16]byte, sequence int32) *kmsg.ProduceRequest {
	req := produce(topic, id, 0, -1, batch{
		values: []string{"a"}, timestamp: s.clock, idempotent: true, pid: p.pid, epoch: p.epoch, sequence: sequence, attributes: 0x10,
	}.bytes())
	req.TransactionID = &p.id
	return req
}

func findTxnCoordinators(s *session) {
	s.awaitTxnCoordinator("anything")
	versions(1, 6, func(v int16) {
		ask := func(label string, keys ...string) {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorType, req.CoordinatorKeys, req.CoordinatorKey = 1, keys, keys[0]
			s.ask("FindCoordinator transaction "+label, req, v)
		}
		ask("id", "anything")
		ask("empty id", "")
		if v >= 4 {
			ask("several", "a", "b")
		}
	})
	versions(3, 5, func(v int16) {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "peers", "1"
		resp := s.quiet(req, v).(*kmsg.ApiVersionsResponse)
		for _, f := range resp.SupportedFeatures {
			if f.Name == "transaction.version" {
				s.log = append(s.log, exchange{fmt.Sprintf("ApiVersions supported v%d", v), Flatten(f)})
			}
		}
		for _, f := range resp.FinalizedFeatures {
			if f.Name == "transaction.version" {
				s.log = append(s.log, exchange{fmt.Sprintf("ApiVersions finalized v%d", v), Flatten(f)})
			}
		}
	})
}

func transactionalIDs(s *session) {
	versions(0, 5, func(v int16) {
		id := name("ids", v)
		s.awaitTxnCoordinator(id)
		var p txnProducer
		ask := func(label, id string, timeout int32, pid int64, epoch int16) {
			req := initRequest(id, timeout)
			req.ProducerID, req.ProducerEpoch = pid, epoch
			resp := s.ask("InitProducerId "+label, req, v).(*kmsg.InitProducerIDResponse)
			if resp.ErrorCode == 0 {
				p = txnProducer{id, resp.ProducerID, resp.ProducerEpoch}
			}
		}
		ask("empty id", "", 60_000, -1, -1)
		ask("no time", id, 0, -1, -1)
		ask("negative time", id, -5, -1, -1)
		ask("too long", id, 900_001, -1, -1)
		ask("first", id, 900_000, -1, -1)
		ask("second", id, 1000, -1, -1)
		if v < 3 {
			return
		}
		ask("producer id alone", id, 1000, p.pid, -1)
		ask("epoch alone", id, 1000, -1, 3)
		before := p
		ask("itself", id, 1000, p.pid, p.epoch)
		ask("itself again", id, 1000, before.pid, before.epoch)
		ask("older epoch", id, 1000, p.pid, 0)
		ask("newer epoch", id, 1000, p.pid, 99)
		ask("other producer", id, 1000, p.pid+1000, p.epoch)
		ask("somebody new", id, 1000, -1, -1)
		ask("fenced", id, 1000, before.pid, before.epoch+1)
		ask("unknown id", id+"-new", 1000, 12345, 7)
	})
}

// reads records what readers see of a topic.
func (s *session) reads(label, topic string, id [16]byte, producers bool) {
	for _, v := range []int16{4, 10, 12, 18} {
		for isolation := range int8(2) {
			req := fetch(topic, id, 0)
			req.IsolationLevel = isolation
			s.askFetch(fmt.Sprintf("Fetch %s isolation %d", label, isolation), req, v)
		}
	}
	for isolation := range int8(2) {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.IsolationLevel = -1, isolation
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp, p.CurrentLeaderEpoch = -1, -1
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		s.ask(fmt.Sprintf("ListOffsets %s isolation %d", label, isolation), req, 7)
	}
	if producers {
		req := kmsg.NewPtrDescribeProducersRequest()
		t := kmsg.NewDescribeProducersRequestTopic()
		t.Topic, t.Partitions = topic, []int32{0}
		req.Topics = append(req.Topics, t)
		s.ask("DescribeProducers "+label, req, 0)
	}
}

// askFetch asks and describes the batches of the answer without what differs between brokers: producer ids and the times of
// markers.
func (s *session) askFetch(label string, req *kmsg.FetchRequest, v int16) {
	resp := s.ask(label, req, v).(*kmsg.FetchResponse)
	f := s.log[len(s.log)-1].fields
	for path := range f {
		if pathEnds(path, "RecordBatches") {
			f[path] = describeBatches(resp.Topics[0].Partitions[0].RecordBatches)
		}
	}
}

func describeBatches(raw []byte) string {
	var out strings.Builder
	for len(raw) > 0 {
		var b kmsg.RecordBatch
		n := 12 + int(binary.BigEndian.Uint32(raw[8:]))
		if err := b.ReadFrom(raw[:n]); err != nil {
			return err.Error()
		}
		records := fmt.Sprintf("%x", b.Records)
		if b.Attributes&0x20 != 0 { // the coordinator's epoch is at the end, before the number of headers
			records = records[:len(records)-10]
		}
		fmt.Fprintf(&out, "[%d+%d attributes %#x epoch %d sequence %d leader %d: %s]", b.FirstOffset, b.LastOffsetDelta, b.Attributes,
			b.ProducerEpoch, b.FirstSequence, b.PartitionLeaderEpoch, records)
		raw = raw[n:]
	}
	return out.String()
}

// stable returns when readers of committed records have come up to an offset.
func (s *session) stable(topic string, id [16]byte, offset int64) {
	s.tb.Helper()
	s.until(fmt.Sprintf("stable offset %d of %s", offset, topic), func() bool {
		req := fetch(topic, id, 0)
		req.IsolationLevel = 1
		return s.quiet(req, 12).(*kmsg.FetchResponse).Topics[0].Partitions[0].LastStableOffset >= offset
	})
}

func (s *session) describes(label string, ids ...string) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = ids
	resp := s.ask("DescribeTransactions "+label, req, 0).(*kmsg.DescribeTransactionsResponse)
	for i := range resp.TransactionStates {
		for j := range resp.TransactionStates[i].Topics { // in no order
			slices.Sort(resp.TransactionStates[i].Topics[j].Partitions)
		}
	}
	s.log[len(s.log)-1].fields = s.normalize(Flatten(resp))
}

func transactionV1(s *session) {
	versions(0, 3, func(v int16) {
		topic := name("txn-one", v)
		id := s.create(topic, 2)
		p := s.begin(topic)
		end := min(v+1, 4)
		s.ask("EndTxn commit of nothing", endRequest(p, true), end)
		s.ask("EndTxn abort of nothing", endRequest(p, false), end)
		s.describes("empty", topic)
		s.ask("AddPartitionsToTxn unknown partition", addRequest(p, topic, 0, 9), v)
		s.ask("AddPartitionsToTxn unknown topic", addRequest(p, "nowhere", 0), v)
		s.ask("AddPartitionsToTxn unknown id", addRequest(txnProducer{"nobody", p.pid, p.epoch}, topic, 0), v)
		s.ask("AddPartitionsToTxn empty id", addRequest(txnProducer{"", p.pid, p.epoch}, topic, 0), v)
		s.ask("AddPartitionsToTxn other producer", addRequest(txnProducer{p.id, p.pid + 1000, p.epoch}, topic, 0), v)
		s.ask("AddPartitionsToTxn other epoch", addRequest(p.at(p.epoch+1), topic, 0), v)
		s.ask("AddPartitionsToTxn", addRequest(p, topic, 0), v)
		s.ask("AddPartitionsToTxn again", addRequest(p, topic, 0), v)
		s.ask("AddPartitionsToTxn more", addRequest(p, topic, 1, 0), v)
		s.ask("Produce in the transaction", s.txnProduce(p, topic, id, 0), 9)
		s.ask("Produce duplicate", s.txnProduce(p, topic, id, 0), 9)
		s.ask("Produce more", s.txnProduce(p, topic, id, 1), 9)
		s.ask("Produce outside of the transaction", produce(topic, id, 0, -1, batch{
			values: []string{"x"}, timestamp: s.clock, idempotent: true, pid: p.pid, epoch: p.epoch, sequence: 2,
		}.bytes()), 9)
		s.reads("while open", topic, id, true)
		s.describes("ongoing", topic)
		s.ask("EndTxn other epoch", endRequest(p.at(p.epoch+1), true), end)
		s.ask("EndTxn other producer", endRequest(txnProducer{p.id, p.pid + 1000, p.epoch}, true), end)
		s.ask("EndTxn unknown id", endRequest(txnProducer{"nobody", p.pid, p.epoch}, true), end)
		s.ask("EndTxn empty id", endRequest(txnProducer{"", p.pid, p.epoch}, true), end)
		s.ask("EndTxn commit", endRequest(p, true), end)
		s.settle(topic)
		s.stable(topic, id, 3)
		s.ask("EndTxn commit again", endRequest(p, true), end)
		s.ask("EndTxn abort after commit", endRequest(p, false), end)
		s.describes("committed", topic)
		s.reads("after commit", topic, id, true)
		s.ask("AddPartitionsToTxn second", addRequest(p, topic, 0), v)
		s.ask("Produce second", s.txnProduce(p, topic, id, 2), 9)
		s.ask("EndTxn abort", endRequest(p, false), end)
		s.settle(topic)
		s.stable(topic, id, 5)
		s.ask("EndTxn abort again", endRequest(p, false), end)
		s.ask("EndTxn commit after abort", endRequest(p, true), end)
		s.describes("aborted", topic)
		s.reads("after abort", topic, id, true)
	})
}

func transactionV2(s *session) {
	for _, v := range []int16{12, 13} {
		topic := name("txn-two", v)
		id := s.create(topic, 2)
		p := s.begin(topic)
		s.ask("EndTxn commit of nothing", endRequest(p, true), 5)
		s.ask("Produce first", s.txnProduce(p, topic, id, 0), v)
		s.ask("Produce more", s.txnProduce(p, topic, id, 1), v)
		s.describes("ongoing", topic)
		s.ask("EndTxn newer epoch", endRequest(p.at(p.epoch+1), true), 5)
		s.ask("EndTxn commit", endRequest(p, true), 5)
		s.settle(topic)
		s.stable(topic, id, 3)
		s.ask("EndTxn commit again", endRequest(p, true), 5)
		s.ask("EndTxn abort of the old epoch", endRequest(p, false), 5)
		s.ask("Produce with the old epoch", s.txnProduce(p, topic, id, 2), v)
		s.describes("committed", topic)
		s.reads("after commit", topic, id, true)
		next := p.at(p.epoch + 1)
		s.ask("EndTxn commit of nothing again", endRequest(next, true), 5)
		s.ask("Produce late sequence", s.txnProduce(next, topic, id, 5), v)
		s.settle(topic)
		s.ask("Produce second", s.txnProduce(next, topic, id, 0), v)
		s.ask("EndTxn abort", endRequest(next, false), 5)
		s.settle(topic)
		s.stable(topic, id, 5)
		s.ask("EndTxn abort again", endRequest(next, false), 5)
		s.ask("EndTxn commit of the old epoch", endRequest(next, true), 5)
		s.reads("after abort", topic, id, true)
		last := p.at(p.epoch + 2)
		s.ask("EndTxn abort of nothing", endRequest(last, false), 5)
		s.settle(topic)
		s.describes("aborted without partitions", topic)
		s.ask("EndTxn two epochs old", endRequest(p, false), 5)
		s.ask("InitProducerId itself", func() kmsg.Request {
			req := initRequest(topic, 1000)
			req.ProducerID, req.ProducerEpoch = p.pid, p.epoch+3
			return req
		}(), 5)
		s.describes("initialized", topic)
	}
}

// transactionCompleting is about what is asked while the markers of the last transaction are being written: there are many of them,
// so that this takes a while.
func transactionCompleting(s *session) {
	const topic = "txn-completing"
	s.create(topic, 300)
	all := make([]int32, 300)
	for i := range all {
		all[i] = int32(i)
	}
	ids := 0
	// during asks a producer's question after it ended a transaction, again with another one until that was in time.
	during := func(label string, end, v int16, question func(p txnProducer) kmsg.Request) {
		s.until("answer while completing: "+label, func() bool {
			ids++
			p := s.begin(name(topic, int16(ids)))
			s.quiet(addRequest(p, topic, all...), 3)
			s.quiet(endRequest(p, true), end)
			before, n := s.describeTxn(p.id).State, len(s.log)
			s.ask(label+" while completing", question(p), v)
			if after := s.describeTxn(p.id).State; before == "PrepareCommit" && after == "PrepareCommit" {
				s.settle(p.id)
				return true
			}
			s.log = s.log[:n]
			s.settle(p.id)
			return false
		})
	}
	ends := func(label string, epochs int16, commit bool) {
		during("EndTxn "+label, 5, 5, func(p txnProducer) kmsg.Request { return endRequest(p.at(p.epoch+epochs), commit) })
	}
	ends("again", 0, true)
	ends("again the other way", 0, false)
	ends("commit of the next", 1, true)
	ends("abort of the next", 1, false)
	ends("from the future", 3, false)
	during("EndTxn other producer", 5, 5, func(p txnProducer) kmsg.Request { return endRequest(txnProducer{p.id, p.pid + 1000, p.epoch}, true) })
	for _, epochs := range []int16{0, 3} {
		during(fmt.Sprint("EndTxn version 1 ", epochs), 4, 4, func(p txnProducer) kmsg.Request { return endRequest(p.at(p.epoch+epochs), false) })
		during(fmt.Sprint("AddPartitionsToTxn verify ", epochs), 4, 4, func(p txnProducer) kmsg.Request {
			return batchedAdd(p.at(p.epoch+epochs), true, topic, 0)
		})
	}
	for _, pid := range []int64{-1, 0, 1000} {
		during(fmt.Sprint("InitProducerId ", pid), 5, 5, func(p txnProducer) kmsg.Request {
			req := initRequest(p.id, 60_000)
			if pid >= 0 {
				req.ProducerID, req.ProducerEpoch = p.pid+pid, p.epoch+1
			}
			return req
		})
	}
}

// transactionVerification is about records of partitions that nobody added (KIP-890).
func transactionVerification(s *session) {
	versions(3, 11, func(v int16) {
		topic := name("txn-verify", v)
		id := s.create(topic, 2)
		p := s.begin(topic)
		s.ask("Produce without a transaction", s.txnProduce(p, topic, id, 0), v)
		s.ask("AddPartitionsToTxn another partition", addRequest(p, topic, 1), 3)
		s.ask("Produce to a partition that was not added", s.txnProduce(p, topic, id, 0), v)
		s.ask("Produce unknown id", s.txnProduce(txnProducer{"nobody", p.pid, p.epoch}, topic, id, 0), v)
		s.ask("Produce other producer", s.txnProduce(txnProducer{p.id, p.pid + 1000, p.epoch}, topic, id, 0), v)
		s.ask("Produce other epoch", s.txnProduce(p.at(p.epoch+1), topic, id, 0), v)
		bare := s.txnProduce(p, topic, id, 0)
		bare.TransactionID = nil
		s.ask("Produce without a transactional id", bare, v)
		s.ask("AddPartitionsToTxn the partition", addRequest(p, topic, 0), 3)
		s.ask("Produce in the transaction", s.txnProduce(p, topic, id, 0), v)
	})
	for _, v := range []int16{4, 5} {
		topic := name("txn-batched", v)
		s.create(topic, 3)
		p := s.begin(topic)
		s.ask("AddPartitionsToTxn verify empty", batchedAdd(p, true, topic, 0), v)
		s.ask("AddPartitionsToTxn batched", batchedAdd(p, false, topic, 0, 1), v)
		s.ask("AddPartitionsToTxn verify", batchedAdd(p, true, topic, 0, 1), v)
		s.ask("AddPartitionsToTxn verify another", batchedAdd(p, true, topic, 0, 2), v)
		s.ask("AddPartitionsToTxn verify other epoch", batchedAdd(p.at(9), true, topic, 0), v)
		s.ask("AddPartitionsToTxn verify unknown id", batchedAdd(txnProducer{"nobody", 1, 1}, true, topic, 0), v)
		s.ask("AddPartitionsToTxn verify unknown partition", batchedAdd(p, true, topic, 0, 7), v)
		s.describes("batched", topic)
		both := batchedAdd(p, true, topic, 1)
		both.Transactions = append(both.Transactions, batchedAdd(txnProducer{"nobody", 1, 1}, false, topic, 0).Transactions...)
		s.ask("AddPartitionsToTxn two transactions", both, v)
	}
}

func transactionFencing(s *session) {
	for _, end := range []int16{1, 4, 5} {
		topic := name("txn-fence", end)
		id := s.create(topic, 1)
		p := s.begin(topic)
		version := int16(9)
		if end == 5 {
			version = 12
		} else {
			s.ask("AddPartitionsToTxn", addRequest(p, topic, 0), 3)
		}
		s.ask("Produce", s.txnProduce(p, topic, id, 0), version)
		s.ask("InitProducerId while open", initRequest(topic, 60_000), 4)
		s.settle(topic)
		s.describes("fenced", topic)
		s.stable(topic, id, 2)
		s.ask("EndTxn of the fenced", endRequest(p, true), end)
		s.ask("AddPartitionsToTxn of the fenced", addRequest(p, topic, 0), 3)
		s.ask("Produce of the fenced", s.txnProduce(p, topic, id, 1), version)
		s.ask("InitProducerId", initRequest(topic, 60_000), 4)
		s.ask("InitProducerId of the fenced", func() kmsg.Request {
			req := initRequest(topic, 60_000)
			req.ProducerID, req.ProducerEpoch = p.pid, p.epoch
			return req
		}(), 4)
		s.ask("EndTxn abort of the fenced", endRequest(p, false), end)
		s.reads("after fencing", topic, id, true)
	}
}

func txnCommit(p txnProducer, group, topic string, id [16]byte, partition int32, offset int64) *kmsg.TxnOffsetCommitRequest {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = p.id, p.pid, p.epoch, group
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	t.Topic, t.TopicID = topic, id
	op := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	op.Partition, op.Offset, op.LeaderEpoch, op.Metadata = partition, offset, 2, kmsg.StringPtr("note")
	t.Partitions = append(t.Partitions, op)
	req.Topics = append(req.Topics, t)
	return req
}

func transactionOffsets(s *session) {
	versions(0, 6, func(v int16) {
		topic := name("txn-offsets", v)
		group := topic
		id := s.create(topic, 2)
		s.awaitCoordinator(group)
		p := s.begin(topic)
		fetches := func(label string) {
			for _, stable := range []bool{false, true} {
				req := offsetFetchRequest(8, group, topic, id, 0, 1)
				req.RequireStable = stable
				s.ask(fmt.Sprintf("OffsetFetch %s stable %t", label, stable), req, 8)
			}
		}
		add := kmsg.NewPtrAddOffsetsToTxnRequest()
		add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = p.id, p.pid, p.epoch, group
		if v < 5 {
			s.ask("TxnOffsetCommit before it was added", txnCommit(p, group, topic, id, 0, 1), v)
			wrong := *add
			wrong.ProducerEpoch += 3
			s.ask("AddOffsetsToTxn other epoch", &wrong, min(v, 4))
			wrong.TransactionalID = "nobody"
			s.ask("AddOffsetsToTxn unknown id", &wrong, min(v, 4))
			s.ask("AddOffsetsToTxn", add, min(v, 4))
		}
		s.ask("TxnOffsetCommit", txnCommit(p, group, topic, id, 0, 7), v)
		s.ask("TxnOffsetCommit unknown partition", txnCommit(p, group, topic, id, 9, 7), v)
		s.ask("TxnOffsetCommit unknown topic", txnCommit(p, group, "nowhere", [16]byte{5}, 0, 7), v)
		s.ask("TxnOffsetCommit other epoch", txnCommit(p.at(p.epoch+3), group, topic, id, 0, 8), v)
		s.ask("TxnOffsetCommit unknown id", txnCommit(txnProducer{"nobody", p.pid, p.epoch}, group, topic, id, 0, 7), v)
		if v >= 3 {
			member := txnCommit(p, group, topic, id, 0, 9)
			member.Generation, member.MemberID = 4, "stranger"
			s.ask("TxnOffsetCommit of a stranger", member, v)
		}
		s.describes("offsets", topic)
		fetches("pending")
		end := int16(4)
		if v >= 5 {
			end = 5
		}
		s.quiet(endRequest(p, true), end)
		s.settle(topic)
		fetches("committed")
		if end == 5 {
			p.epoch++
		} else {
			s.ask("TxnOffsetCommit after the end", txnCommit(p, group, topic, id, 1, 1), v)
			add.ProducerEpoch = p.epoch
			s.ask("AddOffsetsToTxn second", add, min(v, 4))
		}
		s.ask("TxnOffsetCommit second", txnCommit(p, group, topic, id, 1, 70), v)
		fetches("second pending")
		s.quiet(endRequest(p, false), end)
		s.settle(topic)
		fetches("aborted")
	})
}

func transactionMarkers(s *session) {
	for _, v := range []int16{1, 2} {
		topic := name("txn-markers", v)
		id := s.create(topic, 1)
		ask := func(label string, pid int64, epoch int16, coordinator int32, commit bool, topic string, partitions ...int32) {
			req := kmsg.NewPtrWriteTxnMarkersRequest()
			m := kmsg.NewWriteTxnMarkersRequestMarker()
			m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch, m.Committed = pid, epoch, coordinator, commit
			t := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
			t.Topic, t.Partitions = topic, partitions
			m.Topics = append(m.Topics, t)
			req.Markers = append(req.Markers, m)
			s.ask("WriteTxnMarkers "+label, req, v)
		}
		ask("unknown partition", 4711, 3, 0, true, topic, 5)
		ask("unknown topic", 4711, 3, 0, true, "nowhere", 0)
		ask("unknown producer", 4711, 3, 0, true, topic, 0)
		ask("older epoch", 4711, 2, 0, true, topic, 0)
		ask("newer coordinator", 4711, 3, 7, true, topic, 0)
		ask("older coordinator", 4711, 3, 5, true, topic, 0)
		s.stable(topic, id, 2)
		p := s.begin(topic)
		s.quiet(addRequest(p, topic, 0), 3)
		s.ask("Produce", s.txnProduce(p, topic, id, 0), 9)
		ask("abort of a hanging transaction", p.pid, p.epoch, 0, false, topic, 0)
		s.stable(topic, id, 4)
		s.reads("after the marker", topic, id, false)
		s.ask("Produce after the marker", s.txnProduce(p, topic, id, 1), 9)
		none := kmsg.NewPtrWriteTxnMarkersRequest()
		s.ask("WriteTxnMarkers none", none, v)
	}
}

func transactionLists(s *session) {
	s.create("txn-lists", 1)
	for _, id := range []string{"list-a", "list-b", "list-c"} {
		s.begin(id)
	}
	p := s.begin("list-b")
	s.quiet(addRequest(p, "txn-lists", 0), 3)
	versions(0, 2, func(v int16) {
		ask := func(label string, change func(*kmsg.ListTransactionsRequest)) {
			req := kmsg.NewPtrListTransactionsRequest()
			change(req)
			resp := s.quiet(req, v).(*kmsg.ListTransactionsResponse)
			found := Fields{"error": fmt.Sprint(resp.ErrorCode), "unknown": fmt.Sprint(resp.UnknownStateFilters)}
			for _, t := range resp.TransactionStates {
				if len(t.TransactionalID) > 5 && t.TransactionalID[:5] == "list-" {
					found[t.TransactionalID] = t.TransactionState
				}
			}
			s.log = append(s.log, exchange{fmt.Sprintf("ListTransactions %s v%d", label, v), found})
		}
		ask("all", func(*kmsg.ListTransactionsRequest) {})
		ask("ongoing", func(q *kmsg.ListTransactionsRequest) { q.StateFilters = []string{"Ongoing"} })
		ask("two states", func(q *kmsg.ListTransactionsRequest) { q.StateFilters = []string{"Ongoing", "Empty"} })
		ask("unknown state", func(q *kmsg.ListTransactionsRequest) { q.StateFilters = []string{"Lazy"} })
		ask("one unknown state", func(q *kmsg.ListTransactionsRequest) { q.StateFilters = []string{"Lazy", "Ongoing"} })
		ask("dead", func(q *kmsg.ListTransactionsRequest) { q.StateFilters = []string{"Dead"} })
		ask("producer", func(q *kmsg.ListTransactionsRequest) { q.ProducerIDFilters = []int64{p.pid} })
		ask("no such producer", func(q *kmsg.ListTransactionsRequest) { q.ProducerIDFilters = []int64{p.pid + 100000} })
		if v >= 1 {
			ask("long", func(q *kmsg.ListTransactionsRequest) { q.DurationFilterMillis = 3_600_000 })
			ask("any length", func(q *kmsg.ListTransactionsRequest) { q.DurationFilterMillis = 0 })
		}
		if v >= 2 {
			ask("pattern", func(q *kmsg.ListTransactionsRequest) { q.TransactionalIDPattern = kmsg.StringPtr("list-[ab]") })
			ask("part of a pattern", func(q *kmsg.ListTransactionsRequest) { q.TransactionalIDPattern = kmsg.StringPtr("ist-") })
			ask("empty pattern", func(q *kmsg.ListTransactionsRequest) { q.TransactionalIDPattern = kmsg.StringPtr("") })
			ask("bad pattern", func(q *kmsg.ListTransactionsRequest) { q.TransactionalIDPattern = kmsg.StringPtr("(") })
		}
	})
	s.describes("several", "list-a", "nobody", "list-b", "")
}

func transactionTimeout(s *session) {
	var ps []txnProducer
	for _, end := range []int16{4, 5} {
		topic := name("txn-timeout", end)
		id := s.create(topic, 1)
		s.awaitTxnCoordinator(topic)
		resp := s.quiet(initRequest(topic, 100), 4).(*kmsg.InitProducerIDResponse)
		p := txnProducer{topic, resp.ProducerID, resp.ProducerEpoch}
		s.quiet(addRequest(p, topic, 0), 3)
		s.ask("Produce", s.txnProduce(p, topic, id, 0), 9)
		ps = append(ps, p)
	}
	for i, end := range []int16{4, 5} {
		p := ps[i]
		s.until("timeout of "+p.id, func() bool { return s.describeTxn(p.id).State == "CompleteAbort" })
		s.describes("timed out", p.id)
		s.ask("Produce too late", s.txnProduce(p, p.id, [16]byte{}, 1), 9)
		s.ask("AddPartitionsToTxn too late", addRequest(p, p.id, 0), 3)
		s.ask("EndTxn commit too late", endRequest(p, true), end)
		s.ask("EndTxn abort too late", endRequest(p, false), end)
		req := initRequest(p.id, 1000)
		req.ProducerID, req.ProducerEpoch = p.pid, p.epoch
		s.ask("InitProducerId itself", req, 4)
	}
}
