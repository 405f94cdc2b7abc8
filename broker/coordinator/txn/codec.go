package txn

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Records are Apache Kafka's, big-endian. The key:
//
//	version int16 = 0 | transactional id: int16 length and bytes
//
// The value, in version 0 or, written since KIP-890, in version 1:
//
//	version int16 | producer id int64 | producer epoch int16 | timeout ms int32 | state int8 | partitions | last update ms int64 |
//	start ms int64 | tagged fields (version 1)
//
// Partitions are an array of topics, null when Empty; a topic is its name and an array of int32. Version 1 has compact lengths
// (a varint of length + 1, 0 for null) and tagged fields after each topic. The tags of the value: 0 previous producer id int64,
// 1 next producer id int64, 2 client transaction version int16. Tag 3 belongs to two-phase commit (KIP-939), which is not
// spoken here. The tag lastEpochTag is ours: LastEpoch int16. Kafka keeps it in memory only, so that it fences a producer that
// asks again after the coordinator moved; readers skip tags that they do not know.
const (
	keyVersion    = 0
	valueVersion0 = 0
	valueVersion1 = 1

	prevProducerTag  = 0
	nextProducerTag  = 1
	clientVersionTag = 2
	lastEpochTag     = 19791
)

var (
	errUnknownVersion = errors.New("the record has a version that this program does not know")
	errBroken         = errors.New("the record is broken")
)

// encodeKey returns the key of a transactional id's records.
func encodeKey(id string) []byte {
	b := binary.BigEndian.AppendUint16(make([]byte, 0, 4+len(id)), keyVersion)
	b = binary.BigEndian.AppendUint16(b, uint16(len(id))) //nolint:gosec // the protocol has no longer ids
	return append(b, id...)
}

// decodeKey returns the transactional id of a key.
func decodeKey(b []byte) (string, error) {
	r := reader{b: b}
	if v := r.uint16(); v != keyVersion || r.bad {
		return "", fmt.Errorf("key version %d: %w", v, errUnknownVersion)
	}
	id := string(r.span(int(r.uint16())))
	if r.bad {
		return "", fmt.Errorf("key of %d bytes: %w", len(b), errBroken)
	}
	return id, nil
}

// encodeValue returns the value of a transactional id's record, in version 1.
func encodeValue(tx *Transaction) []byte {
	be := binary.BigEndian
	b := be.AppendUint16(make([]byte, 0, 64+16*len(tx.Partitions)), valueVersion1)
	b = be.AppendUint64(b, uint64(tx.ProducerID))    //nolint:gosec // two's complement on disk
	b = be.AppendUint16(b, uint16(tx.ProducerEpoch)) //nolint:gosec // as above
	b = be.AppendUint32(b, uint32(tx.TimeoutMs))     //nolint:gosec // as above
	b = append(b, byte(tx.State))                    //nolint:gosec // as above
	b = appendPartitions(b, tx)
	b = be.AppendUint64(b, uint64(tx.UpdateMs)) //nolint:gosec // as above
	b = be.AppendUint64(b, uint64(tx.StartMs))  //nolint:gosec // as above
	return appendTags(b, tx)
}

func appendPartitions(b []byte, tx *Transaction) []byte {
	if tx.State == Empty {
		return append(b, 0)
	}
	topics := uint64(0)
	for i, p := range tx.Partitions {
		if i == 0 || p.Topic != tx.Partitions[i-1].Topic {
			topics++
		}
	}
	b = binary.AppendUvarint(b, topics+1)
	for rest := tx.Partitions; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Topic == rest[0].Topic {
			n++
		}
		b = binary.AppendUvarint(b, uint64(len(rest[0].Topic))+1)
		b = append(b, rest[0].Topic...)
		b = binary.AppendUvarint(b, uint64(n)+1) //nolint:gosec // not negative
		for _, p := range rest[:n] {
			b = binary.BigEndian.AppendUint32(b, uint32(p.Partition)) //nolint:gosec // two's complement on disk
		}
		b = append(b, 0)
		rest = rest[n:]
	}
	return b
}

func appendTags(b []byte, tx *Transaction) []byte {
	n, at := byte(0), len(b)
	b = append(b, 0)
	tag := func(key uint64, size byte) {
		b = append(binary.AppendUvarint(b, key), size)
		n++
	}
	if tx.PrevProducerID != NoProducerID {
		tag(prevProducerTag, 8)
		b = binary.BigEndian.AppendUint64(b, uint64(tx.PrevProducerID)) //nolint:gosec // two's complement on disk
	}
	if tx.NextProducerID != NoProducerID {
		tag(nextProducerTag, 8)
		b = binary.BigEndian.AppendUint64(b, uint64(tx.NextProducerID)) //nolint:gosec // as above
	}
	if tx.ClientVersion != Version0 {
		tag(clientVersionTag, 2)
		b = binary.BigEndian.AppendUint16(b, uint16(tx.ClientVersion)) //nolint:gosec // as above
	}
	if tx.LastEpoch != NoProducerEpoch {
		tag(lastEpochTag, 2)
		b = binary.BigEndian.AppendUint16(b, uint16(tx.LastEpoch)) //nolint:gosec // as above
	}
	b[at] = n
	return b
}

// decodeValue returns the transaction of a value that is not a tombstone.
func decodeValue(id string, b []byte) (Transaction, error) {
	r := reader{b: b}
	version := r.uint16()
	if version != valueVersion0 && version != valueVersion1 && !r.bad {
		return Transaction{}, fmt.Errorf("value version %d: %w", version, errUnknownVersion)
	}
	tx := newTransaction(id, r.int64())
	tx.ProducerEpoch, tx.TimeoutMs, tx.State = r.int16(), r.int32(), State(r.int8())
	compact := version == valueVersion1
	r.partitions(&tx, compact)
	tx.UpdateMs, tx.StartMs = r.int64(), r.int64()
	if compact {
		r.tags(&tx)
	}
	if r.bad || !tx.State.stored() || tx.ProducerID < 0 {
		return Transaction{}, fmt.Errorf("value of %d bytes: %w", len(b), errBroken)
	}
	return tx, nil
}

// partitions reads the array of topics.
func (r *reader) partitions(tx *Transaction, compact bool) {
	for range r.count(compact) {
		topic := string(r.span(r.length(compact)))
		for range r.count(compact) {
			tx.Partitions = append(tx.Partitions, TopicPartition{topic, r.int32()})
		}
		if compact {
			r.skipTags()
		}
		if r.bad {
			return
		}
	}
	tx.Partitions = normalize(tx.Partitions)
}

// tags reads the tagged fields of a value.
func (r *reader) tags(tx *Transaction) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		field := reader{b: r.span(int(r.uvarint()))} //nolint:gosec // span refuses what does not fit
		switch tag {
		case prevProducerTag:
			tx.PrevProducerID = field.int64()
		case nextProducerTag:
			tx.NextProducerID = field.int64()
		case clientVersionTag:
			tx.ClientVersion = field.int16()
		case lastEpochTag:
			tx.LastEpoch = field.int16()
		}
		r.bad = r.bad || field.bad
	}
}
