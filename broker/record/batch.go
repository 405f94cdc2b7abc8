package record

import (
	"encoding/binary"
	"hash/crc32"
)

// The v2 batch header, KIP-98. All integers are big endian.
const (
	// HeaderLen is the length of the header of a v2 batch; its records follow.
	HeaderLen = 61
	// PrefixLen is the length of base offset and batch length, which the batch length does not count.
	PrefixLen = 12
	// MinLen is how many bytes Peek needs to see: up to and including the magic.
	MinLen = 17
	// Magic is the one message format that batches are stored in.
	Magic = 2

	offBaseOffset    = 0
	offLength        = 8
	offLeaderEpoch   = 12
	offMagic         = 16
	offCRC           = 17
	offAttributes    = 21
	offLastDelta     = 23
	offBaseTimestamp = 27
	offMaxTimestamp  = 35
	offProducerID    = 43
	offProducerEpoch = 51
	offBaseSequence  = 53
	offCount         = 57
)

// The bits of the attributes.
const (
	attrCodec         = 0x07
	attrTimestampType = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40
)

// Values that stand for absence.
const (
	NoTimestamp     int64 = -1 // a record or batch without a timestamp
	NoProducerID    int64 = -1 // a batch of a producer that is not idempotent
	NoProducerEpoch int16 = -1 // with NoProducerID
	NoSequence      int32 = -1 // with NoProducerID
	NoLeaderEpoch   int32 = -1 // a batch that has not been appended yet
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// TimestampType tells who set the timestamps of a batch.
type TimestampType int8

// The timestamp types, numbered as in the attributes.
const (
	CreateTime    TimestampType = 0 // the producer, record by record
	LogAppendTime TimestampType = 1 // the broker: MaxTimestamp holds for all records
)

// String is Kafka's name: the value of message.timestamp.type.
func (t TimestampType) String() string {
	if t == LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Batch is exactly one whole v2 batch. It is a view: it aliases the bytes it was cut from. Get one from Next or a Builder; the
// accessors are undefined on bytes that did not come from there.
type Batch []byte

// BaseOffset is the offset of the first record the batch was built with.
func (b Batch) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(b[offBaseOffset:])) }

// LastOffset is the offset of the last record the batch was built with; compaction may have removed that record.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// NextOffset is the offset after the batch.
func (b Batch) NextOffset() int64 { return b.LastOffset() + 1 }

// Len is the size of the whole batch in bytes, as stored.
func (b Batch) Len() int { return len(b) }

// PartitionLeaderEpoch is the epoch of the leader that appended the batch.
func (b Batch) PartitionLeaderEpoch() int32 { return b.int32(offLeaderEpoch) }

// Magic is the message format: 2.
func (b Batch) Magic() int8 { return int8(b[offMagic]) }

// CRC is the stored CRC-32C of everything from the attributes on.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[offCRC:]) }

// Attributes are the flags that the methods below spell out.
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[offAttributes:])) }

// Codec is the compression of the payload.
func (b Batch) Codec() Codec { return Codec(b.Attributes() & attrCodec) }

// TimestampType tells who set the timestamps.
func (b Batch) TimestampType() TimestampType {
	if b.Attributes()&attrTimestampType != 0 {
		return LogAppendTime
	}
	return CreateTime
}

// IsTransactional tells whether the batch is part of a transaction.
func (b Batch) IsTransactional() bool { return b.Attributes()&attrTransactional != 0 }

// IsControl tells whether the batch holds a control record (a transaction marker, for instance), which consumers never see.
func (b Batch) IsControl() bool { return b.Attributes()&attrControl != 0 }

// HasDeleteHorizon tells whether BaseTimestamp is the time after which compaction drops the batch's tombstones (KIP-534).
func (b Batch) HasDeleteHorizon() bool { return b.Attributes()&attrDeleteHorizon != 0 }

// LastOffsetDelta is the distance from the base offset to the last offset.
func (b Batch) LastOffsetDelta() int32 { return b.int32(offLastDelta) }

// BaseTimestamp is what the timestamp deltas of the records count from: the first record's timestamp, or the delete horizon.
func (b Batch) BaseTimestamp() int64 { return b.int64(offBaseTimestamp) }

// MaxTimestamp is the greatest timestamp of the records, NoTimestamp if none has one.
func (b Batch) MaxTimestamp() int64 { return b.int64(offMaxTimestamp) }

// ProducerID identifies an idempotent producer, or is NoProducerID.
func (b Batch) ProducerID() int64 { return b.int64(offProducerID) }

// HasProducerID tells whether an idempotent producer wrote the batch.
func (b Batch) HasProducerID() bool { return b.ProducerID() > NoProducerID }

// ProducerEpoch is the epoch of the producer id.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[offProducerEpoch:])) }

// BaseSequence is the producer's sequence number of the first record, or NoSequence.
func (b Batch) BaseSequence() int32 { return b.int32(offBaseSequence) }

// LastSequence is the producer's sequence number of the last record. Sequence numbers wrap to 0 after 2^31-1.
func (b Batch) LastSequence() int32 {
	if b.BaseSequence() == NoSequence {
		return NoSequence
	}
	return IncrementSequence(b.BaseSequence(), b.LastOffsetDelta())
}

// Count is how many records the batch says it holds.
func (b Batch) Count() int32 { return b.int32(offCount) }

// Payload is the records, compressed by Codec. It aliases the batch.
func (b Batch) Payload() []byte { return b[HeaderLen:] }

// SetBaseOffset moves the batch to an offset. The CRC does not cover it.
func (b Batch) SetBaseOffset(offset int64) {
	binary.BigEndian.PutUint64(b[offBaseOffset:], uint64(offset))
}

// SetPartitionLeaderEpoch stamps the epoch of the appending leader. The CRC does not cover it.
func (b Batch) SetPartitionLeaderEpoch(epoch int32) {
	binary.BigEndian.PutUint32(b[offLeaderEpoch:], uint32(epoch))
}

// SetMaxTimestamp sets timestamp type, maximum timestamp and then the CRC. It changes nothing where both are so already.
func (b Batch) SetMaxTimestamp(t TimestampType, ts int64) {
	if b.TimestampType() == t && b.MaxTimestamp() == ts {
		return
	}
	attributes := b.Attributes() &^ attrTimestampType
	if t == LogAppendTime {
		attributes |= attrTimestampType
	}
	binary.BigEndian.PutUint16(b[offAttributes:], uint16(attributes))
	binary.BigEndian.PutUint64(b[offMaxTimestamp:], uint64(ts))
	b.seal()
}

// SetMaxTimestampAppend gives all records of the batch the broker's time: LogAppendTime.
func (b Batch) SetMaxTimestampAppend(now int64) { b.SetMaxTimestamp(LogAppendTime, now) }

// ComputeCRC is what CRC must be.
func (b Batch) ComputeCRC() uint32 { return crc32.Checksum(b[offAttributes:], castagnoli) }

func (b Batch) seal() { binary.BigEndian.PutUint32(b[offCRC:], b.ComputeCRC()) }

func (b Batch) int32(off int) int32 { return int32(binary.BigEndian.Uint32(b[off:])) }

func (b Batch) int64(off int) int64 { return int64(binary.BigEndian.Uint64(b[off:])) }

// IncrementSequence adds n records to a producer's sequence number; numbers wrap from 2^31-1 to 0.
func IncrementSequence(sequence, n int32) int32 {
	return int32((int64(sequence) + int64(n)) & 0x7fffffff)
}
