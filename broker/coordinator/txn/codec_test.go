package txn

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// examples are transactions with every field set, and with none.
func examples() []Transaction {
	full := Transaction{
		ID: "id", ProducerID: 1 << 40, ProducerEpoch: 32767, PrevProducerID: 17, NextProducerID: 18, LastEpoch: 32766, TimeoutMs: math.MaxInt32,
		State: PrepareCommit, StartMs: 1_700_000_000_000, UpdateMs: 1_700_000_000_001, ClientVersion: Version2,
		Partitions: []TopicPartition{{"a", 0}, {"a", 7}, {strings.Repeat("b", 249), math.MaxInt32}, {"č", 1}},
	}
	empty := newTransaction("", 0)
	idle := full
	idle.ID, idle.State, idle.Partitions = strings.Repeat("x", math.MaxInt16), CompleteAbort, nil
	return []Transaction{full, empty, idle}
}

func TestRecordsRoundTrip(t *testing.T) {
	for _, tx := range examples() {
		id, err := decodeKey(encodeKey(tx.ID))
		if err != nil || id != tx.ID {
			t.Fatalf("key of %q reads as %q: %v", tx.ID, id, err)
		}
		got, err := decodeValue(tx.ID, encodeValue(&tx))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, tx) {
			t.Errorf("\n got %+v\nwant %+v", got, tx)
		}
	}
}

// toKmsg is a transaction as an independent implementation of the format has it.
func toKmsg(tx *Transaction, version int16) *kmsg.TxnMetadataValue {
	v := kmsg.NewTxnMetadataValue()
	v.Version = version
	v.ProducerID, v.ProducerEpoch, v.TimeoutMillis, v.State = tx.ProducerID, tx.ProducerEpoch, tx.TimeoutMs, kmsg.TransactionState(tx.State)
	v.LastUpdateTimestamp, v.StartTimestamp = tx.UpdateMs, tx.StartMs
	if tx.State != Empty {
		v.Topics = []kmsg.TxnMetadataValueTopic{}
	}
	for i, p := range tx.Partitions {
		if i == 0 || tx.Partitions[i-1].Topic != p.Topic {
			topic := kmsg.NewTxnMetadataValueTopic()
			topic.Topic = p.Topic
			v.Topics = append(v.Topics, topic)
		}
		last := &v.Topics[len(v.Topics)-1]
		last.Partitions = append(last.Partitions, p.Partition)
	}
	v.PreviousProducerID, v.NextProducerID, v.ClientTransactionVersion = tx.PrevProducerID, tx.NextProducerID, tx.ClientVersion
	return &v
}

func TestRecordsAreKafkas(t *testing.T) {
	for _, tx := range examples() {
		key := kmsg.NewTxnMetadataKey()
		key.TransactionalID = tx.ID
		if got, want := encodeKey(tx.ID), key.AppendTo(nil); !bytes.Equal(got, want) {
			t.Errorf("key %x, want %x", got, want)
		}
		tx.LastEpoch = NoProducerEpoch // has a tag that is ours
		if got, want := encodeValue(&tx), toKmsg(&tx, 1).AppendTo(nil); !bytes.Equal(got, want) {
			t.Errorf("value\n%x, want\n%x", got, want)
		}
	}
}

func TestOldRecordsAreRead(t *testing.T) {
	for _, tx := range examples() {
		old := toKmsg(&tx, 0).AppendTo(nil)
		got, err := decodeValue(tx.ID, old)
		if err != nil {
			t.Fatal(err)
		}
		tx.PrevProducerID, tx.NextProducerID, tx.LastEpoch, tx.ClientVersion = NoProducerID, NoProducerID, NoProducerEpoch, Version0
		if !reflect.DeepEqual(got, tx) {
			t.Errorf("\n got %+v\nwant %+v", got, tx)
		}
	}
}

// TestOurTagIsSkipped shows that a reader that does not know the tag of LastEpoch gets all the rest.
func TestOurTagIsSkipped(t *testing.T) {
	tx := examples()[0]
	var v kmsg.TxnMetadataValue
	if err := v.ReadFrom(encodeValue(&tx)); err != nil {
		t.Fatal(err)
	}
	if v.UnknownTags.Len() != 1 || v.ProducerID != tx.ProducerID || v.NextProducerID != tx.NextProducerID || len(v.Topics) != 3 {
		t.Errorf("read %+v", v)
	}
}

// TestUnknownTagsAreSkipped reads a record of a newer broker: two-phase commit has a tag that we do not use.
func TestUnknownTagsAreSkipped(t *testing.T) {
	tx := examples()[0]
	tx.LastEpoch = NoProducerEpoch
	v := toKmsg(&tx, 1)
	v.NextProducerEpoch = 5
	v.UnknownTags.Set(99, []byte("whatever"))
	got, err := decodeValue(tx.ID, v.AppendTo(nil))
	if err != nil || !reflect.DeepEqual(got, tx) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestBrokenRecords(t *testing.T) {
	whole := encodeValue(&examples()[0])
	for n := range whole {
		if _, err := decodeValue("id", whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(whole))
		}
	}
	for n := range 6 {
		if _, err := decodeKey(encodeKey("id")[:n]); err == nil {
			t.Errorf("the first %d bytes of a key are accepted", n)
		}
	}
	if _, err := decodeValue("id", []byte{0, 2}); !errors.Is(err, errUnknownVersion) {
		t.Errorf("version 2: %v", err)
	}
	if _, err := decodeKey([]byte{0, 1, 0, 0}); !errors.Is(err, errUnknownVersion) {
		t.Errorf("key version 1: %v", err)
	}
	dead := examples()[0]
	dead.State = Dead
	if _, err := decodeValue("id", encodeValue(&dead)); !errors.Is(err, errBroken) {
		t.Errorf("state Dead: %v", err)
	}
}

func FuzzDecodeValue(f *testing.F) {
	for _, tx := range examples() {
		f.Add(encodeValue(&tx))
		f.Add(toKmsg(&tx, 0).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tx, err := decodeValue("id", b)
		if err != nil {
			return
		}
		if tx.State == Empty {
			tx.Partitions = nil
		}
		again, err := decodeValue("id", encodeValue(&tx))
		if err != nil {
			t.Fatalf("%+v cannot be read back: %v", tx, err)
		}
		if len(tx.Partitions) == 0 {
			tx.Partitions, again.Partitions = nil, nil
		}
		if !reflect.DeepEqual(again, tx) {
			t.Errorf("\n got %+v\nwant %+v", again, tx)
		}
	})
}

func FuzzDecodeKey(f *testing.F) {
	f.Add(encodeKey("id"))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := decodeKey(b)
		if err == nil && !bytes.HasPrefix(b, encodeKey(id)) {
			t.Errorf("key %x reads as %q", b, id)
		}
	})
}
